"""Messages that expire: sent, reclaimed, stored and counted."""

from __future__ import annotations

from typing import Any

from support import Db, column, one


def send(db: Db, body: str = "x", queue: str = "q", **options: Any) -> int:
    named = "".join(f", {name} => %s" for name in options)
    number: int = one(db, f"select howdah.send(%s, %s{named})", (queue, body, *options.values()))
    return number


def reclaim(db: Db, max_messages: int = 10000) -> int:
    reclaimed: int = one(db, "select howdah.maintain_expired(null, %s)", (max_messages,))
    return reclaimed


def stored(db: Db) -> list[int]:
    """Numbers of the messages that lie in any table."""
    tables = ("msgs", "msgs_nonpersistent", "parked")
    return column(db, " union all ".join(f"select message_id from howdah.{table}" for table in tables) + " order by 1")


def expired(db: Db, queue: str = "q") -> int:
    count: int = one(db, "select expired from howdah.queue_stats(%s)", (queue,))
    return count
