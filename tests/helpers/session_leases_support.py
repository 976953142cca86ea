"""Leases of a session: messages sent, leased and delivered again."""

from __future__ import annotations

from typing import Any

from support import Db, one


def send(db: Db, number: int, queue: str = "q", **options: Any) -> list[int]:
    names = "".join(f", {name} => %s" for name in options)
    return [one(db, f"select howdah.send(%s, %s{names})", (queue, str(n), *options.values())) for n in range(number)]


def lease(db: Db, n: int, queue: str = "q", seconds: float = 60) -> tuple[int, list[int]]:
    rows = db.execute(
        "select lease, message_id from howdah.lease(%s, %s, %s * interval '1 second')", (queue, n, seconds)
    ).fetchall()
    return rows[0][0], [row[1] for row in rows]


def redeliver(db: Db, leases: list[int], ids: list[int], queue: str = "q") -> list[tuple[int, int, int]]:
    """Lease, message and delivery count of what came again."""
    return db.execute(
        "select lease, message_id, delivery_count from howdah.redeliver(%s, %s, %s, error_class => 'Rollback')",
        (queue, leases, ids),
    ).fetchall()
