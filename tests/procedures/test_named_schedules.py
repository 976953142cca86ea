"""A name is of one schedule, which does not begin anew by the same definition."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from policy_support import Create
from scheduling_support import bodies, fire, schedule, state
from support import Clock, Connect, Db, column, one, refused


def test_a_name_is_of_one_schedule_which_another_call_replaces(
    db: Db, clock: Clock, connect: Connect, create: Create
) -> None:
    create()
    first = schedule(db, "old", period="10 s", name="n")
    second = schedule(db, "new", period="10 s", name="n")
    assert column(db, "select schedule_id from howdah.list_schedules()") == [second]
    clock.advance(10)
    fire(db)
    assert bodies(db) == ["new"]
    assert state(db, first, "state") == ("cancelled",)
    assert schedule(db, "new", period="10 s", name="n") == second
    assert state(db, second, "state", "fired") == ("active", 1)
    assert schedule(db, "new", period="10 s", name="n", priority=9) != second
    refused(connect("howdah_producer"), "HD029", "select howdah.schedule('q', 'x', period => '1 s', name => 'n')")


@pytest.mark.parametrize(
    "finite",
    [{"period": "10 s", "repeat": 1}, {"starts_at": "2026-01-01 00:00+00"}, {"delay": "10 s", "ends_at": "2100-01-01"}],
)
def test_a_named_schedule_that_has_ended_does_not_begin_anew_by_the_same_definition(
    db: Db, clock: Clock, create: Create, finite: dict[str, Any]
) -> None:
    create()
    clock.set(datetime(2025, 12, 31, 23, 59, 50, tzinfo=UTC))
    number = schedule(db, name="launch", **finite)
    clock.advance(20)
    fire(db)
    fired = state(db, number, "state", "fired")
    assert fired == ("ended", 2 if "period" in finite else 1)
    for days in (0, 200):
        clock.advance(days * 86400)
        one(db, "select howdah.maintain_schedules()")
        assert schedule(db, name="launch", **finite) == number
        fire(db)
        assert state(db, number, "state", "fired") == fired
    one(db, "select howdah.cancel_schedule(%s)", (number,))
    again = schedule(db, name="launch", **finite)
    assert state(db, again, "state") == ("active",)
    assert schedule(db, "other", name="launch", **finite) != again
    clock.advance(200 * 86400)
    one(db, "select howdah.maintain_schedules()")
    one(db, "select howdah.maintain_schedules()")
    assert column(db, "select state from howdah.schedules") == ["active"]


def test_a_named_schedule_that_was_only_delayed_counts_from_each_call_and_is_forgotten(
    db: Db, clock: Clock, create: Create
) -> None:
    create()
    first = schedule(db, name="debounce", delay="10 s")
    assert schedule(db, name="debounce", delay="10 s") == first
    clock.advance(10)
    assert fire(db) == 1
    assert schedule(db, name="debounce", delay="10 s") != first
    clock.advance(10)
    assert fire(db) == 1
    for _ in range(2):
        clock.advance(200 * 86400)
        one(db, "select howdah.maintain_schedules()")
    assert column(db, "select id from howdah.schedules") == []


def test_a_named_schedule_that_has_ended_is_forgotten_after_its_queue(db: Db, clock: Clock, create: Create) -> None:
    create()
    schedule(db, name="launch", delay="10 s", ends_at="2100-01-01")
    clock.advance(10)
    assert fire(db) == 1
    one(db, "select howdah.drop_queue('q', true)")
    clock.advance(200 * 86400)
    one(db, "select howdah.maintain_schedules()")
    one(db, "select howdah.maintain_schedules()")
    assert column(db, "select id from howdah.schedules") == []
