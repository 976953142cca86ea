"""What tests of kept messages share: a time to keep them, sends and receives, and what was kept of q."""

from __future__ import annotations

from typing import Any

from support import (
    Db,
    one,
    receive,
)

HOUR = 3_600_000

IDS = "select message_id from howdah.browse_kept('q')"


def send(db: Db, queue: str = "q", **more: Any) -> int:
    given = {"body": "x", **more}
    arguments = ", ".join(f"{name} => %({name})s" for name in given)
    number: int = one(db, f"select howdah.send('{queue}', {arguments})", given)
    return number


def rows(db: Db, query: str, params: Any = None) -> list[tuple[Any, ...]]:
    return db.execute(query.encode(), params).fetchall()


def by_receive(db: Db) -> None:
    assert receive(db, n=100)


def by_one(db: Db) -> None:
    assert receive(db)
