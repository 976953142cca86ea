"""A queue in which a selector that is calculated selects one message in so many."""

from __future__ import annotations

from support import Db, column, one

SELECTOR = "w * 1 = 7"


def fill(db: Db, number: int, every: int = 100) -> None:
    """One message in so many is selected."""
    one(
        db,
        "select cardinality(howdah.send_batch('q', array_agg(i::text order by i), headers => array_agg("
        "jsonb_build_object('w', case when i %% %s = 7 then 7 else 1 end) order by i))) from generate_series(1, %s) i",
        (every, number),
    )


def take(db: Db, n: int = 1, selector: str | None = SELECTOR) -> list[int]:
    """Receive up to so many messages; their numbers."""
    return column(db, "select message_id from howdah.receive('q', %s, selector => %s)", (n, selector))
