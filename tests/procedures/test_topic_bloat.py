"""Under a held snapshot a receive from a topic reads as few pages after thousands of messages as after a hundred."""

from __future__ import annotations

from typing import Any

import pytest
from support import Connect, Db, one


def pages(db: Db, call: str) -> int:
    """Buffers that a call reads."""
    db.execute("begin")
    plan: Any = one(db, f"explain (analyze, buffers, format json) {call}")
    db.execute("rollback")
    return int(plan[0]["Plan"]["Shared Hit Blocks"]) + int(plan[0]["Plan"]["Shared Read Blocks"])


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("verb", ["receive", "receive_locked"])
def test_a_held_snapshot_makes_no_receive_slower(connect: Connect, shared: bool, verb: str) -> None:
    db, holder = connect(), connect()
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's', shared => %s)", (shared,))
    one(db, "select howdah.send_batch('t', array_fill('x'::text, array[2100]))")
    holder.execute("begin isolation level repeatable read")
    one(holder, "select pg_current_xact_id()::text")
    measured = []
    for number in (600, 1400):
        db.execute("set synchronous_commit = off")
        for _ in range(number // 10):
            with db.transaction():
                rows = db.execute(f"select message_id, priority, position from howdah.{verb}('t::s', 10)").fetchall()
                if verb == "receive_locked":
                    db.execute(
                        "select howdah.consume_locked('t::s', %s::bigint[], %s::integer[], %s::bigint[])",
                        tuple([row[n] for row in rows] for n in range(3)),
                    )
            if number == 600:
                one(db, "select howdah.maintain_subscriptions()")
        one(db, "select howdah.maintain_subscriptions()")
        measured.append([pages(db, f"select * from howdah.{verb}('t::s', 1)") for _ in range(3)][-1])
        measured.append([pages(db, "select howdah._cursor(id) from howdah.acks") for _ in range(3)][-1])
    print(measured)
    assert measured[2] <= measured[0] + 6
    assert measured[3] <= measured[1] + 3
