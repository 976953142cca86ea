"""Messages of several priorities in the queue q: sent, taken and looked for."""

from __future__ import annotations

from support import Db, column, one


def send(db: Db, *priorities: int, mode: str = "persistent") -> list[int]:
    ids: list[int] = one(
        db,
        "select howdah.send_batch('q', array_fill('x'::text, array[cardinality(p)]), priorities => p,"
        " delivery_mode => %s) from (values (%s::integer[])) v(p)",
        (mode, list(priorities)),
    )
    return ids


def take(db: Db) -> list[int]:
    """The number of the next message, or nothing."""
    return column(db, "select message_id from howdah.receive('q')")


def looked_by_lane(db: Db) -> int:
    """How many of the calls in the open transaction had to look by lanes."""
    calls: int = one(
        db,
        "select coalesce(sum(calls), 0)::integer from pg_stat_xact_user_functions"
        " where schemaname = 'howdah' and funcname = '_receive_by_lane'",
    )
    return calls
