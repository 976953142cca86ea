"""What test files of consumers that receive ahead import: sending, receiving, and what is left and held."""

from __future__ import annotations

from collections.abc import Callable

from support import Db, one

from howdah.engine import AckConsumer, AckSession, Connection, Delivery, Prefetch, connect

READY = "select message_id from howdah.browse('orders', 1000)"
"""What nobody has received or leased, in order."""
OPTIMIZED = Prefetch(optimize_acknowledge=True, optimize_timeout=3600)


def send(connection: Connection, queue: str, number: int) -> list[int]:
    """So many messages in one transaction; their numbers."""
    with connection.session() as session, session.transaction():
        return session.send_many(queue, [str(n) for n in range(number)])


def take(consumer: AckConsumer, number: int) -> list[Delivery]:
    """What so many receives give."""
    found = [consumer.receive(5) for _ in range(number)]
    return [message for message in found if message is not None]


def ids(messages: list[Delivery]) -> list[int]:
    """Their numbers."""
    return [message.message_id for message in messages]


def held(db: Db) -> int:
    """How many messages of the queue are under a lease."""
    found: int = one(db, "select coalesce(sum(messages), 0)::int from howdah.list_leases('orders')")
    return found


def vanish(dsn: str, use: Callable[[AckSession], object], **how: object) -> None:
    """Have a session do something and vanish without a word, as if its process were killed."""
    connection = connect(dsn, prefetch=OPTIMIZED)
    session = connection.jms_session(**how)  # type: ignore[arg-type]
    use(session)
    connection.keeper.stop()
    connection.pool.close()
