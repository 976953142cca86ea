"""Who may change a schedule pauses, resumes, fires or cancels it by hand."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
import pytest
from policy_support import Create
from scheduling_support import bodies, fire, schedule, state
from support import Clock, Connect, Db, column, one, receive, refused, wait_until_blocked


def test_cancelling_waits_for_a_firing_under_way_and_what_it_sent_stays_sent(
    db: Db, clock: Clock, connect: Connect, create: Create
) -> None:
    create()
    number = schedule(db, period="10 s")
    clock.advance(10)
    firing, cancelling = connect(), connect()
    with ThreadPoolExecutor(1) as pool:
        with firing.transaction():
            assert fire(firing) == 1
            cancelled = pool.submit(one, cancelling, "select howdah.cancel_schedule(%s)", (number,))
            wait_until_blocked(db, cancelling)
        cancelled.result()
    clock.advance(10)
    assert fire(db) == 0
    assert bodies(db) == ["x"]


def test_paused_a_schedule_does_not_fire_and_resumed_from_its_next_time_on(
    db: Db, clock: Clock, create: Create
) -> None:
    create()
    number = schedule(db, period="10 s", repeat=1)
    assert one(db, "select howdah.pause_schedule(%s)", (number,))
    assert not one(db, "select howdah.pause_schedule(%s)", (number,))
    clock.advance(35)
    assert fire(db) == 0
    assert one(db, "select howdah.resume_schedule(%s)", (number,))
    assert not one(db, "select howdah.resume_schedule(%s)", (number,))
    assert fire(db) == 0
    assert state(db, number, "next_at") == (clock.now + timedelta(seconds=5),)
    for _ in range(3):
        clock.advance(10)
        fire(db)
    assert len(bodies(db)) == 2


@pytest.mark.parametrize("paused", [False, True])
def test_fired_by_hand_a_schedule_sends_at_once_and_goes_on_as_it_was(
    db: Db, clock: Clock, create: Create, paused: bool
) -> None:
    create()
    number = schedule(db, period="10 s", repeat=1)
    if paused:
        one(db, "select howdah.pause_schedule(%s)", (number,))
    before = state(db, number, "state", "next_at", "remaining")
    sent = [one(db, "select howdah.fire_schedule(%s, 'now')", (number,)) for _ in range(2)]
    assert [message.message_id for message in receive(db, "q", 10)] == sent
    assert state(db, number, "state", "next_at", "remaining") == before
    assert state(db, number, "fired", "last_fired_at") == (2, clock.now)
    listed = "select act, queue_name, reason, message_ids from howdah.list_acts() where act = 'fired' order by act_id"
    acts = db.execute(listed).fetchall()
    assert acts == [("fired", "q", f"schedule {number}: now", [message]) for message in sent]
    if not paused:
        clock.advance(10)
        assert fire(db) == 1, "the planned firing has its own time"


def test_fired_by_hand_a_cron_schedule_with_a_period_begins_a_series_though_it_is_paused(
    db: Db, clock: Clock, create: Create
) -> None:
    create()
    number = schedule(db, cron="0 8 * * *", period="10 s", repeat=1, name="two")
    one(db, "select howdah.pause_schedule(%s)", (number,))
    assert one(db, "select howdah.fire_schedule(%s)", (number,)) is None
    for _ in range(2):
        clock.advance(10)
        assert fire(db) == 1
    assert one(db, "select reason from howdah.list_acts() where act = 'fired'") == "schedule two"


def test_who_may_not_change_a_schedule_does_not_fire_it(db: Db, connect: Connect, create: Create) -> None:
    create()
    number = schedule(db, period="1 min")
    refused(connect("howdah_producer"), "HD029", "select howdah.fire_schedule(%s)", (number,))
    for role in ("howdah_consumer", "howdah_browser"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            one(connect(role), "select howdah.fire_schedule(%s)", (number,))
    one(db, "select howdah.pause('q')")
    refused(db, "HD008", "select howdah.fire_schedule(%s)", (number,))
    one(db, "select howdah.cancel_schedule(%s)", (number,))
    refused(db, "HD029", "select howdah.fire_schedule(%s)", (number,))
    refused(db, "HD029", "select howdah.fire_schedule(null)")
    assert "fired" not in column(db, "select act from howdah.list_acts()")


def test_cancelled_by_range_of_time_are_those_that_the_caller_may_change(
    db: Db, clock: Clock, connect: Connect, create: Create
) -> None:
    create()
    producer = connect("howdah_producer")
    theirs = schedule(producer, period="1 min")
    mine = [schedule(db, period=f"{minutes} min") for minutes in (1, 2, 3)]
    until = clock.now + timedelta(minutes=2)
    assert one(producer, "select howdah.cancel_schedules('q')") == 1
    assert state(db, theirs, "state") == ("cancelled",)
    assert one(db, "select howdah.cancel_schedules('q', next_until => %s)", (until,)) == 2
    assert column(db, "select schedule_id from howdah.list_schedules('q')") == mine[2:]
    refused(producer, "HD029", f"select howdah.cancel_schedule({mine[2]})")
    refused(producer, "HD029", f"select howdah.pause_schedule({theirs})")
    for role in ("howdah_consumer", "howdah_browser"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            one(connect(role), "select howdah.cancel_schedule(1)")
