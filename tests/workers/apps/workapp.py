"""What the tests run in worker processes. Each message's body says what is to be done with it."""

from __future__ import annotations

import asyncio
import os

import psycopg
from workactions import ACTIONS, CURRENT  # type: ignore[import-not-found]  # found by the worker only

from howdah.engine import Message
from howdah.workers import App, Transaction

app = App("test")
typed = App("typed")
several = App("several")
limited = App("limited")
mixed = App("mixed")
listening = App("listening")
astray = App("astray")
awaiting = App("awaiting")
empty = App("empty")
not_an_app = object()


def effect(message: Message, transaction: Transaction) -> None:
    """The business change: a row for each time that a message was handled and committed."""
    transaction.connection.execute(
        "insert into work.effects (message_id, delivery, worker) values (%s, %s, %s)",
        (message.message_id, message.delivery_count, transaction.worker),
    )


def say(message: Message, transaction: Transaction) -> None:
    """Note outside the transaction, as rolled back work leaves nothing inside, that a handler got a message."""
    with psycopg.connect(os.environ["HOWDAH_DSN"], autocommit=True) as outside:
        outside.execute(
            "insert into work.trace (message_id, body, delivery, redelivered, pid) values (%s, %s, %s, %s, %s)",
            (message.message_id, str(message.body), message.delivery_count, message.redelivered, os.getpid()),
        )


@app.handler("work", batch=100)
def work(message: Message, transaction: Transaction) -> None:
    """Do what the body says."""
    effect(message, transaction)
    CURRENT.queue, CURRENT.message_id = message.queue, message.message_id
    if message.body != "plain":
        say(message, transaction)
        ACTIONS[str(message.body)](transaction)


@mixed.handler("work", time_limit=0.3)
@limited.handler("work", time_limit=0.3)
def within_limit(message: Message, transaction: Transaction) -> None:
    """The same within a time limit."""
    work(message, transaction)


@app.handler("single", batch=1)
def single(message: Message, transaction: Transaction) -> None:
    """The same, one message a transaction."""
    work(message, transaction)


mixed.handler("single", batch=1)(single)


@typed.handler("work", message_type="order")
def order(message: Message, transaction: Transaction) -> None:
    """Orders."""
    transaction.connection.execute(
        "insert into work.effects (message_id, worker) values (%s, 'order')", (message.message_id,)
    )


@typed.handler("work", message_type="bill")
def bill(message: Message, transaction: Transaction) -> None:
    """Bills."""
    transaction.connection.execute(
        "insert into work.effects (message_id, worker) values (%s, 'bill')", (message.message_id,)
    )


several.handler("missing")(work)
several.handler("work")(work)
listening.handler("work", listener="l")(work)
astray.handler("single", listener="l")(work)


@awaiting.handler("work", batch=100)
async def wait_for_ever_in_the_loop(message: Message, transaction: Transaction) -> None:
    """The same, and then an await without an end for what is not plain."""
    work(message, transaction)
    if message.body != "plain":
        await asyncio.sleep(3600)
