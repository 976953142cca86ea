"""What tests of limits on handlers share: messages of keys, and what a session is given of them."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb
from support import Db, column, one


def send(db: Db, *names: str, queue: str = "q") -> None:
    """Messages a1, a2, b1 of the keys a, a, b."""
    for name in names:
        one(db, "select howdah.send(%s, %s, headers => %s)", (queue, name, Jsonb({"tenant": name[0]})))


def take(db: Db, n: int = 1, **options: Any) -> list[str]:
    named = "".join(f", {name} => %s" for name in options)
    return column(db, f"select body from howdah.receive('q', %s{named})", (n, *options.values()))


def lease(db: Db, n: int = 1, duration: str = "1 minute") -> list[tuple[int, str]]:
    return db.execute("select lease, body from howdah.lease('q', %s, %s::interval)", (n, duration)).fetchall()


def lease_of_one(db: Db, selector: str | None = None) -> int:
    """Lease one message; the number of the lease."""
    found: int = one(db, "select lease from howdah.lease('q', 1, '1 minute', %s)", (selector,))
    return found


def bodies(found: list[tuple[int, str]]) -> list[str]:
    return [body for _, body in found]
