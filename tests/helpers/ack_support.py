"""What tests of acknowledge modes import: sending, receiving, and what is ready and consumed."""

from __future__ import annotations

from support import Db, column

from howdah.engine import AckSession, Connection, Delivery

READY = "select message_id from howdah.browse('orders', 1000)"
"""What nobody has received or leased, in order."""


def send(connection: Connection, queue: str, number: int) -> list[int]:
    with connection.session() as session, session.transaction():
        return session.send_many(queue, [str(n) for n in range(number)])


def numbers(messages: list[Delivery]) -> list[int]:
    return [message.message_id for message in messages]


def take(session: AckSession, queue: str, number: int, prefetch: int = 100) -> list[Delivery]:
    """So many messages by a new consumer."""
    consumer = session.consumer(queue, prefetch=prefetch)
    found = [consumer.receive(5) for _ in range(number)]
    return [message for message in found if message is not None]


def consumed(db: Db) -> list[int]:
    return column(
        db, "select i.id from howdah.journal j, unnest(j.message_ids) i(id) where j.event = 'consumed' order by 1"
    )
