"""Under a held snapshot a receive from a topic reads as few pages after thousands of messages as after a hundred."""

from __future__ import annotations

import pytest
from support import Connect, Db, measured, one


def pages(db: Db, call: str) -> int:
    """Buffers that a call reads."""
    db.execute("begin")
    buffers: int = measured(db, call)["Buffers"]
    db.execute("rollback")
    return buffers


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("verb", ["receive", "receive_locked"])
def test_a_held_snapshot_makes_no_receive_slower(connect: Connect, shared: bool, verb: str) -> None:
    db, holder = connect(), connect()
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's', shared => %s)", (shared,))
    one(db, "select howdah.send_batch('t', array_fill('x'::text, array[2100]))")
    holder.execute("begin isolation level repeatable read")
    one(holder, "select pg_current_xact_id()::text")
    counts = []
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
        counts.append(min(pages(db, f"select * from howdah.{verb}('t::s', 1)") for _ in range(3)))
        counts.append(min(pages(db, "select howdah._cursor(id) from howdah.acks") for _ in range(3)))
    print(counts)
    assert counts[2] <= counts[0] + 6
    assert counts[3] <= counts[1] + 3
