"""Delayed messages of the queue q: sent and received."""

from __future__ import annotations

from support import Db, column, one


def send(db: Db, number: int = 1, delay: str = "1 min", **more: object) -> list[int]:
    """Send delayed messages; their numbers."""
    extra = "".join(f', "{name}" => %s' for name in more)
    ids: list[int] = one(
        db,
        f"select howdah.send_batch('q', array_fill('x'::text, array[%s]), delay => %s{extra})",
        (number, delay, *more.values()),
    )
    return ids


def take(db: Db, n: int = 1) -> list[int]:
    """The numbers of the next messages."""
    return column(db, "select message_id from howdah.receive('q', %s)", (n,))
