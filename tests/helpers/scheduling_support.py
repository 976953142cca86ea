"""What tests of schedules import: a schedule, a firing, a plan, and what became of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb
from support import Db, one, receive


def schedule(db: Db, body: str = "x", queue: str = "q", **options: Any) -> int:
    """Call howdah.schedule."""
    options = {key: Jsonb(value) if isinstance(value, dict) else value for key, value in options.items()}
    named = "".join(f", {name} => %s" for name in options)
    number: int = one(db, f"select howdah.schedule(%s, %s{named})", (queue, body, *options.values()))
    return number


def fire(db: Db, *plans: dict[str, Any]) -> int:
    """One pass of a scheduler; how many firings."""
    fired: int = one(db, "select fired from howdah.fire_schedules(%s)", (Jsonb(list(plans)),))
    return fired


def plan(db: Db, number: int, times: list[datetime], next_at: datetime | None) -> dict[str, Any]:
    """What a scheduler computes for a cron schedule."""
    was = one(db, "select next_at from howdah.list_schedules() where schedule_id = %s", (number,))
    return {
        "schedule_id": number,
        "was": was and was.isoformat(),
        "times": [time.isoformat() for time in times],
        "next_at": next_at and next_at.isoformat(),
    }


def state(db: Db, number: int, *columns: str) -> tuple[Any, ...]:
    """Columns of a schedule, whatever its state."""
    query = f"select {', '.join(columns)} from howdah.list_schedules(all_states => true) where schedule_id = %s"
    (row,) = db.execute(query.encode(), (number,)).fetchall()
    return row


def bodies(db: Db, queue: str = "q") -> list[str | None]:
    return [message.body for message in receive(db, queue, 10000)]
