"""An application whose queues feed each other: each message sends the next one, until its number is used up."""

from __future__ import annotations

from howdah.engine import Message
from howdah.workers import App, Transaction

app = App("chain")


def _pass_on(message: Message, transaction: Transaction, to: str) -> None:
    number = int(str(message.body))
    transaction.connection.execute("insert into work.once (n) values (%s)", (number,))
    if number > 0:
        transaction.session.send(to, str(number - 1))


@app.handler("work")
def work(message: Message, transaction: Transaction) -> None:
    """To the other queue."""
    _pass_on(message, transaction, "single")


@app.handler("single")
def single(message: Message, transaction: Transaction) -> None:
    """And back."""
    _pass_on(message, transaction, "work")
