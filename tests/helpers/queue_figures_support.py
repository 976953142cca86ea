"""What tests of a queue's figures import: the figures, and queues of many messages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from support import Db, one

STATS = "select live, parked, dead, exact, figures_age from howdah.queue_stats('q')"

NOW = timedelta(0)


def stats(db: Db) -> tuple[Any, ...]:
    return db.execute(STATS.encode()).fetchall()[0]


def fill(db: Db, number: int, extra: str = "") -> None:
    one(
        db,
        f"select cardinality(howdah.send_batch('q', array(select 'x' from generate_series(1, %s)){extra}))",
        (number,),
    )


def skip(db: Db, positions: int) -> None:
    """As if so many messages had been sent and consumed."""
    one(
        db,
        "select max(nextval(positions)) from howdah.destinations, generate_series(1, %s) where name = 'q'",
        (positions,),
    )


def close(figure: int, to: int, within: float = 0.05) -> bool:
    return abs(figure - to) < to * within
