"""Applications that subscribe: what they get goes into the table that the tests look at."""

from __future__ import annotations

from howdah.workers import App, Message, Transaction
from workapp import ACTIONS, say

both = App("both")
failing = App("failing")
ordered = App("ordered")
fleeting = App("fleeting")
typed = App("typed")


def note(message: Message, transaction: Transaction) -> None:
    """A row by subscription and body, and then what the body says."""
    transaction.connection.execute(
        "insert into work.got (subscription, body, worker) values (%s, %s, %s)",
        (message.queue, message.body, transaction.worker),
    )
    if str(message.body) in ACTIONS:
        say(message, transaction)
        ACTIONS[str(message.body)](transaction)


both.subscribe("events", name="a")(note)
both.subscribe("events", name="b", selector="level > 1")(note)
failing.subscribe("events", name="failing", max_failed_deliveries=2, batch=10)(note)
failing.subscribe("events", name="fine")(lambda message, transaction: _insert(message, transaction))
ordered.subscribe("events", name="ordered", shared=False, batch=7)(note)
fleeting.subscribe("events", name="f", durable=False)(note)


@typed.subscribe("events", name="t", message_type="order")
def order(message: Message, transaction: Transaction) -> None:
    """Orders."""
    note(message, transaction)


@typed.subscribe("events", name="t")
def others(message: Message, transaction: Transaction) -> None:
    """Everything else: passed over."""


def _insert(message: Message, transaction: Transaction) -> None:
    transaction.connection.execute(
        "insert into work.got (subscription, body) values (%s, %s)", (message.queue, message.body)
    )
