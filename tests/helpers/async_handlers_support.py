"""Async handlers that brew what is ordered, and the orders."""

from __future__ import annotations

import asyncio

from support import Db, one

from howdah.workers import Message, Transaction


def send(db: Db, *bodies: str) -> list[int]:
    return [one(db, "select howdah.send('orders', %s::text)", (body,)) for body in bodies]


async def brew(message: Message, transaction: Transaction) -> None:
    """Lets go of the thread in the middle of its transaction."""
    transaction.connection.execute("insert into brewed values (%s)", (message.body,))
    await asyncio.sleep(0)
    transaction.session.send("served", message.body)


class Brewer:
    async def handle(self, message: Message, transaction: Transaction) -> None:
        await brew(message, transaction)

    async def __call__(self, message: Message, transaction: Transaction) -> None:
        await brew(message, transaction)
