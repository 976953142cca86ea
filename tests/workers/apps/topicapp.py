"""Applications that subscribe: what they get goes into the table that the tests look at."""

from __future__ import annotations

import os

import psycopg

from howdah.workers import App, Message, Transaction

both = App("both")
failing = App("failing")
ordered = App("ordered")
fleeting = App("fleeting")
typed = App("typed")
listened = App("listened")


def insert(message: Message, transaction: Transaction) -> None:
    """A row by subscription and body."""
    transaction.connection.execute(
        "insert into work.got (subscription, body) values (%s, %s)", (message.queue, message.body)
    )


def note(message: Message, transaction: Transaction) -> None:
    """The same, and then what the body says: wait until the test lets go, or fail."""
    insert(message, transaction)
    if message.body == "gate":
        with psycopg.connect(os.environ["HOWDAH_DSN"], autocommit=True) as outside:
            outside.execute(
                "insert into work.trace (message_id, delivery, pid) values (%s, %s, %s)",
                (message.message_id, message.delivery_count, os.getpid()),
            )
            outside.execute("select pg_advisory_lock_shared(7)")
    if message.body == "fail":
        raise ValueError("cannot be handled")


both.subscribe("events", name="a")(note)
both.subscribe("events", name="b", selector="level > 1")(note)
failing.subscribe("events", name="failing", max_failed_deliveries=2, batch=10)(note)
failing.subscribe("events", name="fine")(insert)
ordered.subscribe("events", name="ordered", shared=False, batch=7)(note)
fleeting.subscribe("events", name="f", durable=False)(note)
listened.subscribe("events", name="l", listener="events-listener", max_sessions=2, max_failed_deliveries=0)(note)
listened.subscribe("events", name="free")(insert)


@typed.subscribe("events", name="t", message_type="order")
def order(message: Message, transaction: Transaction) -> None:
    """Orders."""
    note(message, transaction)


@typed.subscribe("events", name="t")
def others(message: Message, transaction: Transaction) -> None:
    """Everything else: passed over."""
