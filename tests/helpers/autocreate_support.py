"""What tests of queues that create themselves share: the engine's options, and passes that end them."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb
from support import Clock, Db, one

ON = {"autocreate_queue": True, "autocreate_topic": True}

NAMES = "select name from howdah.destinations where dropped_at is null and auto_created order by 1"


def alter(db: Db, **options: Any) -> None:
    """Change options of the engine."""
    one(db, "select howdah.alter_engine(%s)", (Jsonb(options),))


def reap(db: Db) -> int:
    """Run a pass that looks, whatever the clock."""
    return int(one(db, "select howdah.maintain_autocreated()"))


def unused_for(clock: Clock, db: Db, seconds: float = 121) -> int:
    """Let maintenance look now and after some time; the number of destinations that ended."""
    ended = reap(db)
    clock.advance(seconds)
    return ended + reap(db)
