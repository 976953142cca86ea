"""A plan of a cron schedule is carried out once, and each firing may begin a series."""

from __future__ import annotations

from datetime import timedelta

import pytest
from policy_support import Create
from psycopg.types.json import Jsonb
from scheduling_support import bodies, fire, plan, schedule, state
from support import Clock, Db, column, one, refused


def test_a_plan_that_another_scheduler_has_carried_out_is_void(db: Db, clock: Clock, create: Create) -> None:
    create()
    number = schedule(db, cron="0 * * * *")
    assert one(db, "select unplanned from howdah.fire_schedules()") == 1
    hour = clock.now.replace(minute=0, second=0) + timedelta(hours=1)
    assert fire(db, plan(db, number, [], hour)) == 0
    assert one(db, "select unplanned from howdah.fire_schedules()") == 0
    clock.set(hour)
    made = plan(db, number, [hour], hour + timedelta(hours=1))
    assert [fire(db, made), fire(db, made)] == [1, 0]
    assert bodies(db) == ["x"]
    assert state(db, number, "next_at") == (hour + timedelta(hours=1),)
    # Nor can anybody fire before the time.
    early = plan(db, number, [hour + timedelta(hours=1)], hour + timedelta(hours=2))
    assert fire(db, early) == 0


def test_a_plan_says_how_many_more_times_were_missed(db: Db, clock: Clock, create: Create) -> None:
    create()
    number = schedule(db, cron="* * * * *")
    made = plan(db, number, [clock.now], clock.now + timedelta(minutes=1))
    for wrong in (-1, 10**12 + 1, 10**30, "many"):
        refused(db, "HD005", "select howdah.fire_schedules(%s)", (Jsonb([made | {"missed": wrong}]),))
    assert fire(db, made | {"missed": 7}) == 1
    assert state(db, number, "fired", "missed") == (1, 7)


def test_each_firing_of_cron_begins_a_series_where_there_is_a_period_with_repeat(
    db: Db, clock: Clock, create: Create
) -> None:
    create()
    number = schedule(db, cron="0 * * * *", period="1 s", repeat=9, delay="5 s")
    hour = clock.now.replace(minute=0, second=0) + timedelta(hours=1)
    clock.set(hour)
    assert fire(db, plan(db, number, [hour], hour + timedelta(hours=1))) == 1
    assert bodies(db) == []
    (series,) = column(db, "select schedule_id from howdah.list_schedules() where parent_id is not null")
    clock.advance(5)
    assert fire(db) == 1
    clock.advance(100)
    assert fire(db) == 9
    assert bodies(db) == ["x"] * 10
    assert state(db, series, "state", "fired") == ("ended", 10)
    assert state(db, number, "state", "fired") == ("active", 1)
    one(db, "select howdah.cancel_schedule(%s)", (number,))
    assert state(db, series, "state") == ("cancelled",)


@pytest.mark.parametrize(
    "cron", ["0 0 29 2 *", "0 0 31 2 mon", "0 0 30,1 2 *", "0 0 31 */4 *", "0 0 */31 2 *", "0 0 31 jan-feb *"]
)
def test_a_cron_that_comes_at_all_is_taken_however_seldom(db: Db, create: Create, cron: str) -> None:
    create()
    assert state(db, schedule(db, cron=cron), "state") == ("active",)
