"""What tests of the engine's limits share: the limit, the state, and filling the engine."""

from __future__ import annotations

import full_queue_support
from support import Db, one

FILL = "select cardinality(howdah.send_batch('q', array_fill('x'::text, array[%s])))"


def limit(db: Db, options: str) -> None:
    one(db, "select howdah.alter_engine(%s::jsonb)", (options,))


def state(db: Db) -> str:
    found: str = one(db, "select state from howdah.resource_state()")
    return found


def until_full(db: Db) -> int:
    """Send until the engine is full; how many were accepted."""
    return full_queue_support.until_full(db, code="HD027")
