"""Rates hold although the clock is set back or a queue gets another number of rate keys."""

from __future__ import annotations

from datetime import timedelta

from handler_limits_support import send, take
from policy_support import Create
from support import Clock, Db, column, one


def test_another_number_of_rate_keys_gives_no_key_a_second_burst(db: Db, create: Create, clock: Clock) -> None:
    create(limit_key="tenant", rate_limit_per_key="2/1m burst 2", rate_keys=100)
    send(db, *(f"{key}{number}" for key in "abcdefgh" for number in range(4)))
    assert len(take(db, 50)) == 16
    one(db, "select howdah.alter_queue('q', '{\"rate_keys\": 37}')")
    assert take(db, 50) == []
    clock.advance(60)
    assert len(take(db, 50)) == 8


def test_a_clock_that_is_set_back_after_a_crash_stops_nobody_for_long(db: Db, create: Create, clock: Clock) -> None:
    create(rate_limit="1/1s")
    send(db, "a1", "a2")
    for cell in column(db, "select unnest(array[spent, mark]) from howdah.rate_cells"):
        db.execute(f"alter sequence {cell} restart")  # as a crash leaves an unlogged sequence
    assert take(db) == []
    clock.set(clock.now - timedelta(days=1))
    assert one(db, "select limited_for <= '1 second' from howdah.wait('q')")
    assert take(db) == []
    clock.advance(1)
    assert take(db) == ["a1"]


def test_keys_from_before_the_clock_was_set_back_leave_their_cells_to_others(
    db: Db, create: Create, clock: Clock
) -> None:
    create(limit_key="tenant", rate_limit_per_key="1/1s", rate_keys=2)
    send(db, "a1", "b1", "c1", "d1")
    assert take(db, 10) == ["a1", "b1"]
    clock.set(clock.now - timedelta(days=1))
    assert one(db, "select limited_for <= '1 second' from howdah.wait('q')")
    assert take(db, 10) == []
    clock.advance(1)
    assert take(db, 10) == ["c1", "d1"]
