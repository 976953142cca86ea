"""What tests of waking import: receivers that wait, and whether somebody asked to be woken."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

from support import Db, one, wait_until

from howdah.engine import Connection, Message

AWAITED = (
    "select howdah._pace(clock_timestamp()) - (pg_sequence_last_value(waiting) >> 20) < 1500"
    " from howdah.destinations where name = %s"
)


def wait_until_awaited(db: Db, queue: str = "orders") -> None:
    """Return once somebody asked to be woken."""
    wait_until(lambda: one(db, AWAITED, (queue,)))


def receiving(threads: ThreadPoolExecutor, connection: Connection) -> Future[list[Message]]:
    """Receive on a thread, in a session of its own; who looks rarely looks again when its 20 seconds are over."""

    def receive() -> list[Message]:
        with connection.session() as session, session.transaction():
            return session.receive("orders", wait=20)

    return threads.submit(receive)
