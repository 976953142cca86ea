"""Messages go to the consumers of a queue no faster than its rate, and as fast."""

from __future__ import annotations

from datetime import timedelta

import pytest
from handler_limits_support import send, take
from policy_support import Create
from support import Clock, Db, column, one


def drain(db: Db, n: int = 1) -> int:
    """How many messages go now."""
    taken = 0
    while found := len(take(db, n)):
        taken += found
    return taken


@pytest.mark.first_case
@pytest.mark.parametrize("batch", [1, 7, 100])
def test_a_rate_is_kept_in_every_span_and_reached(db: Db, create: Create, clock: Clock, batch: int) -> None:
    create(rate_limit="100/1s")
    db.execute("select howdah.send('q', n::text) from generate_series(1, 1000) n").fetchall()
    given: list[int] = []
    for step in range(400):
        given += [step] * drain(db, batch)
        clock.advance(0.01)
    most = max(sum(begin <= at < begin + 100 for at in given) for begin in range(300))
    assert most <= 100
    assert sum(at >= 100 for at in given) >= 0.95 * 300


def test_a_burst_goes_at_once_and_then_the_rest_evenly(db: Db, create: Create, clock: Clock) -> None:
    create(rate_limit="10/1m burst 5")
    db.execute("select howdah.send('q', n::text) from generate_series(1, 100) n").fetchall()
    assert drain(db) == 5
    clock.advance(9.9)
    assert drain(db) == 0
    clock.advance(0.1)
    assert drain(db) == 1
    clock.advance(3600)
    assert drain(db) == 5, "what is not used is not saved up"


def test_what_a_rolled_back_transaction_was_given_stays_spent(db: Db, create: Create, clock: Clock) -> None:
    create(rate_limit="2/1m")
    send(db, "a1", "a2")
    with db.transaction(force_rollback=True):
        assert take(db) == ["a1"]
    assert take(db) == []
    clock.advance(30)
    assert take(db) == ["a1"]


def test_each_key_has_a_rate_of_its_own(db: Db, create: Create, clock: Clock) -> None:
    create(limit_key="tenant", rate_limit_per_key="1/1s")
    send(db, "a1", "a2", "b1", "b2", "b3")
    assert take(db, 10) == ["a1", "b1"]
    clock.advance(1)
    assert take(db) == ["a2"]
    assert take(db) == ["b2"]
    clock.advance(1)
    assert take(db) == ["b3"]


def test_more_keys_than_cells_wait_and_none_goes_too_fast(db: Db, create: Create, clock: Clock) -> None:
    create(limit_key="tenant", rate_limit_per_key="1/1s", rate_keys=3)
    send(db, "a1", "b1", "c1", "d1", "a2", "e1")
    assert take(db, 10) == ["a1", "b1", "c1"]
    assert take(db, 10) == []
    clock.advance(1)
    assert take(db, 10) == ["d1", "a2", "e1"]


def test_the_rate_of_the_queue_and_of_the_key_hold_together(db: Db, create: Create, clock: Clock) -> None:
    create(limit_key="tenant", rate_limit_per_key="1/1s", rate_limit="3/1s burst 2")
    send(db, "a1", "a2", "b1", "c1")
    assert take(db, 10) == ["a1", "b1"]
    clock.advance(0.5)
    assert take(db, 10) == ["c1"]
    clock.advance(0.5)
    assert take(db, 10) == ["a2"]


def test_a_crash_of_the_server_counts_as_spent(db: Db, create: Create, clock: Clock) -> None:
    create(rate_limit="4/1m burst 2")
    send(db, "a1", "a2", "a3")
    for cell in column(db, "select unnest(array[spent, mark]) from howdah.rate_cells"):
        db.execute(f"alter sequence {cell} restart")  # as a crash leaves an unlogged sequence
    assert take(db) == []
    clock.advance(20)
    assert take(db) == ["a1"]
    assert take(db) == []


def test_a_clock_that_is_set_back_stops_nobody_for_long(db: Db, create: Create, clock: Clock) -> None:
    create(rate_limit="1/1s")
    send(db, "a1", "a2")
    assert take(db) == ["a1"]
    clock.set(clock.now - timedelta(days=1))
    assert take(db) == []
    clock.advance(1)
    assert take(db) == ["a2"]


def test_wait_names_the_first_key_that_has_room_again(db: Db, create: Create, clock: Clock) -> None:
    create(limit_key="tenant", rate_limit_per_key="1/1m")
    send(db, "a1", "b1", "a2")
    assert take(db) == ["a1"]
    clock.advance(10)
    assert take(db) == ["b1"]
    assert one(db, "select limited_for from howdah.wait('q')") == timedelta(seconds=50)
