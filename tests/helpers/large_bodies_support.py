"""What tests of large bodies import: bodies, a send, and how many lie apart."""

from __future__ import annotations

import random
from typing import Any

from support import Db, column, one

BYTES = random.Random(7).randbytes(50_000)

TEXT = "ü" * 5_000


def send(db: Db, body: str | bytes = TEXT, **more: Any) -> int:
    extra = "".join(f", {name} => %s" for name in more)
    number: int = one(db, f"select howdah.send('q', %s{extra})", (body, *more.values()))
    return number


def apart(db: Db) -> int:
    """How many bodies lie apart; each of a message that is there, and whose row has none."""
    owners = column(
        db,
        "select m.message_id from (select message_id, body from howdah.msgs"
        " union all select message_id, body from howdah.leased"
        " union all select message_id, body from howdah.parked) m where m.body is null order by 1",
    )
    assert column(db, "select message_id from howdah.bodies order by 1") == owners
    return len(owners)
