"""Messages of q that are sent and leased, and what is looked at of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from support import Db, one


class Leased(NamedTuple):
    """What a test looks at of a leased message."""

    lease: int
    message_id: int
    body: str
    delivery_count: int


def lease(db: Db, n: int = 1, seconds: float = 30, queue: str = "q") -> list[Leased]:
    rows = db.execute(
        "select lease, message_id, body, delivery_count from howdah.lease(%s, %s, %s * interval '1 second')",
        (queue, n, seconds),
    ).fetchall()
    return [Leased(*row) for row in rows]


def send(db: Db, *bodies: str, **options: Any) -> list[int]:
    names = "".join(f", {name} => %s" for name in options)
    return [one(db, f"select howdah.send('q', %s{names})", (body, *options.values())) for body in bodies]
