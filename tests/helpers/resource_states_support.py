"""What tests of the engine's limits share: sends, the limit, the state, and filling the engine."""

from __future__ import annotations

import psycopg
from support import Db, one

SEND = "select howdah.send('q', %s)"

FILL = "select cardinality(howdah.send_batch('q', array_fill('x'::text, array[%s])))"


def limit(db: Db, options: str) -> None:
    one(db, "select howdah.alter_engine(%s::jsonb)", (options,))


def state(db: Db) -> str:
    found: str = one(db, "select state from howdah.resource_state()")
    return found


def until_full(db: Db, body: str = "x") -> int:
    """Send until the engine is full; how many were accepted."""
    for accepted in range(100_000):
        try:
            one(db, SEND, (body,))
        except psycopg.Error as error:
            if error.sqlstate != "HD027":
                raise
            return accepted
    raise AssertionError("it never was full")
