"""Messages of groups in the queue q: sent, and taken by consumers."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb
from support import Db, column, one


def send(db: Db, *names: str, **options: Any) -> list[int]:
    """Messages a1, a2, b1 of the groups a, a, b."""
    more = "".join(f", {name} => %s" for name in options)
    return [
        one(
            db,
            f"select howdah.send('q', %s, headers => %s{more})",
            (name, Jsonb({"JMSXGroupID": name[0]}), *options.values()),
        )
        for name in names
    ]


def take(db: Db, n: int = 10, consumer: int | None = None) -> list[str]:
    return column(db, "select body from howdah.receive('q', %s, consumer => %s)", (n, consumer))
