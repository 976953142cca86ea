"""Schedules: what is sent by the clock, once for each time, by whoever fires it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from policy_support import Create
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, all_refused, column, one, receive, refused, wait_until_blocked


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


def test_a_period_with_repeat_sends_one_message_more_than_it_repeats(db: Db, clock: Clock, create: Create) -> None:
    create()
    begun = clock.now
    number = schedule(db, period="10 s", repeat=2)
    assert fire(db) == 0
    for expected in (1, 1, 1, 0):
        clock.advance(10)
        assert fire(db) == expected
        assert fire(db) == 0
    messages = receive(db, n=10)
    assert [message.headers["scheduledTime"] for message in messages] == [
        round((begun + timedelta(seconds=seconds)).timestamp() * 1000) for seconds in (10, 20, 30)
    ]
    assert {message.headers["scheduledJobId"] for message in messages} == {str(number)}
    assert state(db, number, "state", "fired", "remaining", "next_at") == ("ended", 3, 0, None)
    assert column(db, "select name from howdah.list_schedules()") == []


def test_a_schedule_begins_after_its_delay_at_its_start_or_after_a_period(db: Db, clock: Clock, create: Create) -> None:
    create()
    start = clock.now + timedelta(hours=1)
    numbers = [
        schedule(db, period="1 min"),
        schedule(db, period="1 min", delay="5 s"),
        schedule(db, period="1 min", starts_at=start),
        schedule(db, period="1 min", starts_at=start, delay="5 s"),
    ]
    first = [state(db, number, "next_at")[0] - clock.now for number in numbers]
    assert first == [timedelta(minutes=1), timedelta(seconds=5), timedelta(hours=1), timedelta(hours=1, seconds=5)]


def test_what_was_missed_is_made_up_for_all_or_once_or_not_at_all(db: Db, clock: Clock, create: Create) -> None:
    create()
    once = schedule(db, "once", period="10 s")
    every = schedule(db, "every", period="10 s", catch_up=True)
    counted = schedule(db, "counted", period="10 s", repeat=4)
    grace = schedule(db, "grace", period="10 s", catch_up=True, misfire_grace="25 s")
    late = schedule(db, "late", period="1 h", misfire_grace="1 s", delay="10 s")
    clock.advance(65)
    assert fire(db) == 1 + 6 + 5 + 3
    assert sorted(body or "" for body in bodies(db)) == ["counted"] * 5 + ["every"] * 6 + ["grace"] * 3 + ["once"]
    assert [state(db, number, "fired", "missed") for number in (once, every, counted, grace, late)] == [
        (1, 5), (6, 0), (5, 0), (3, 3), (0, 1),
    ]  # fmt: skip
    assert state(db, once, "next_at") == (clock.now + timedelta(seconds=5),)


def test_a_long_row_of_missed_firings_is_made_up_for_in_passes(db: Db, clock: Clock, create: Create) -> None:
    create()
    schedule(db, "all", period="1 ms", catch_up=True)
    short = schedule(db, "one", period="1 ms", catch_up=False)
    clock.advance(2.5)
    assert [fire(db) for _ in range(4)] == [1001, 1000, 500, 0]
    assert state(db, short, "fired", "missed") == (1, 2499)
    assert bodies(db).count("all") == 2500


def test_catching_up_sends_what_a_bounded_queue_has_room_for_and_goes_on_from_there(
    db: Db, clock: Clock, create: Create
) -> None:
    create(message_limit=5)
    begun = clock.now
    number = schedule(db, period="1 s", repeat=11)
    clock.advance(60)
    assert fire(db) == 5
    expected = ("active", 5, 0, 7, begun + timedelta(seconds=6))
    assert state(db, number, "state", "fired", "missed", "remaining", "next_at") == expected
    assert "full" in state(db, number, "last_error")[0]
    clock.advance(10)
    assert fire(db) == 0
    assert state(db, number, "state", "fired", "missed", "remaining", "next_at") == expected
    times = []
    for room, sent in ((3, 3), (5, 4)):
        times += [message.headers["scheduledTime"] for message in receive(db, n=room)]
        clock.advance(10)
        assert fire(db) == sent
    assert state(db, number, "state", "fired", "missed", "last_error") == ("ended", 12, 0, None)
    times += [message.headers["scheduledTime"] for message in receive(db, n=10)]
    assert times == [(begun + timedelta(seconds=second)).timestamp() * 1000 for second in range(1, 13)]


def test_what_comes_too_late_while_a_queue_is_full_counts_as_missed(db: Db, clock: Clock, create: Create) -> None:
    create(message_limit=5)
    number = schedule(db, period="1 s", repeat=11, misfire_grace="8 s")
    clock.advance(12)
    assert fire(db) == 5  # those of the seconds 4 to 8
    assert state(db, number, "fired", "missed", "remaining") == (5, 3, 4)
    clock.advance(10)
    assert fire(db) == 0
    assert state(db, number, "state", "fired", "missed") == ("ended", 5, 7)


def test_catching_up_by_cron_sends_what_a_bounded_queue_has_room_for(db: Db, clock: Clock, create: Create) -> None:
    create(message_limit=2)
    number = schedule(db, cron="* * * * *", catch_up=True)
    times = [clock.now + timedelta(minutes=minute) for minute in range(4)]
    clock.advance(180)
    assert fire(db, plan(db, number, times, times[3] + timedelta(minutes=1))) == 2
    assert state(db, number, "next_at", "missed") == (times[2], 0)
    assert len(bodies(db)) == 2
    clock.advance(10)
    assert fire(db, plan(db, number, times[2:], times[3] + timedelta(minutes=1))) == 2
    assert state(db, number, "fired", "missed") == (4, 0)


def test_a_firing_rolled_back_takes_place_later_and_one_under_way_is_passed_by(
    db: Db, clock: Clock, connect: Connect, create: Create
) -> None:
    create()
    schedule(db, period="10 s", repeat=0)
    clock.advance(10)
    other = connect("howdah_consumer")
    with other.transaction(force_rollback=True):
        assert fire(other) == 1
        assert fire(db) == 0
        assert bodies(db) == []
    assert fire(other) == 1
    assert fire(db) == 0
    assert bodies(db) == ["x"]


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


def test_a_schedule_is_made_with_its_transaction_or_not_at_all(
    db: Db, clock: Clock, connect: Connect, create: Create
) -> None:
    create()
    other = connect()
    with other.transaction(force_rollback=True):
        schedule(other, period="1 s", name="n")
    with other.transaction():
        number = schedule(other, period="1 s", name="n")
        clock.advance(1)
        assert fire(db) == 0
    assert fire(db) == 1
    assert column(db, "select schedule_id from howdah.list_schedules()") == [number]


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


def test_the_headers_of_activemq_schedule_what_is_sent_with_them(db: Db, clock: Clock, create: Create) -> None:
    create()

    def send(**headers: object) -> int:
        number: int = one(db, "select howdah.send('q', 'x', headers => %s)", (Jsonb(headers),))
        return number

    delayed = send(AMQ_SCHEDULED_DELAY=5000, kept=1)
    repeated = send(AMQ_SCHEDULED_DELAY=5000, AMQ_SCHEDULED_PERIOD="1000", AMQ_SCHEDULED_REPEAT=2)
    cron = send(AMQ_SCHEDULED_CRON="0 * * * *", AMQ_SCHEDULED_DELAY=5000)
    series = send(
        AMQ_SCHEDULED_CRON="0 * * * *", AMQ_SCHEDULED_DELAY=1000, AMQ_SCHEDULED_PERIOD=1000, AMQ_SCHEDULED_REPEAT=9
    )
    assert state(db, cron, "period", "remaining") == (None, None)
    assert state(db, series, "period", "remaining") == (timedelta(seconds=1), 10)
    assert receive(db, verb="browse", n=10) == []
    at_once = send(AMQ_SCHEDULED_DELAY=5000, scheduledJobId="7")
    assert [message.message_id for message in receive(db, n=10)] == [at_once]
    clock.advance(5)
    fire(db)
    first, second = sorted(receive(db, n=10), key=lambda message: message.message_id)
    assert (first.message_id, first.headers.keys()) == (delayed, {"kept", "scheduledJobId"})
    assert second.headers["scheduledJobId"] == str(repeated)
    clock.advance(60)
    assert fire(db) == 2
    refused(db, "HD005", "select howdah.send('q', 'x', headers => '{\"AMQ_SCHEDULED_DELAY\": \"soon\"}')")


def test_one_delivery_to_a_queue_is_a_delayed_message_for_which_nothing_has_to_run(
    db: Db, clock: Clock, create: Create
) -> None:
    create()
    number = schedule(db, starts_at=clock.now + timedelta(hours=1))
    assert column(db, "select schedule_id from howdah.list_schedules(all_states => true)") == []
    assert column(db, "select message_id from howdah.list_delayed('q')") == [number]
    clock.advance(3599)
    assert bodies(db) == []
    clock.advance(1)
    assert bodies(db) == ["x"]


def test_a_topic_is_published_to_at_the_firing(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's')")
    schedule(db, queue="t", delay="1 h")
    schedule(db, "again", queue="t", period="1 h", repeat=0)
    assert fire(db) == 0
    clock.advance(3600)
    assert fire(db) == 2
    assert sorted(body or "" for body in bodies(db, "t::s")) == ["again", "x"]


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


def test_a_refusal_for_a_time_is_tried_again_and_one_for_good_ends_in_failed(
    db: Db, clock: Clock, create: Create
) -> None:
    create()
    create("gone")
    create("full", message_limit=1)
    held, dropped = schedule(db, period="1 min"), schedule(db, queue="gone", period="1 min")
    full = schedule(db, queue="full", period="1 min", catch_up=True)
    one(db, "select howdah.send('full', 'first')")
    one(db, "select howdah.pause('q')")
    one(db, "select howdah.drop_queue('gone')")
    clock.advance(60)
    assert fire(db) == 0
    assert state(db, held, "state", "fired") == ("active", 0)
    assert "paused" in state(db, held, "last_error")[0]
    assert one(db, "select state from howdah.schedules where id = %s", (dropped,)) == "failed"
    one(db, "select howdah.resume('q')")
    assert bodies(db, "full") == ["first"]
    assert fire(db) == 0
    clock.advance(10)
    assert fire(db) == 2
    assert (bodies(db), bodies(db, "full")) == (["x"], ["x"])
    assert state(db, full, "last_error") == (None,)


def test_a_maker_who_may_not_send_any_more_sends_nothing_by_the_clock(
    db: Db, clock: Clock, connect: Connect, create: Create
) -> None:
    create()
    producer = connect("howdah_producer")
    number = schedule(producer, period="1 min")
    one(db, "select howdah.revoke_queue('q', 'send', 'howdah_producer')")
    clock.advance(60)
    assert fire(db) == 0
    assert state(db, number, "state") == ("failed",)
    one(db, "select howdah.grant_queue('q', 'send', 'howdah_producer')")
    one(producer, "select howdah.resume_schedule(%s)", (number,))
    clock.advance(60)
    assert fire(db) == 1


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


def test_wrong_schedules_are_refused_before_anything_is_written(db: Db, create: Create) -> None:
    create()
    wrong = [
        ("HD001", "'none', 'x', period => '1 s'"),
        ("HD005", "'q', null::text, period => '1 s'"),
        ("HD006", "'q', 'x', period => '1 s', priority => 10"),
        ("HD007", "'q', repeat('x', 73400321), period => '1 s'"),
        *(
            ("HD005", f"'q', 'x', {arguments}")
            for arguments in (
                "name => 'n'",
                "period => '0 s'",
                "period => '1 month'",
                "period => '1 s', repeat => -2",
                "starts_at => 'infinity'",
                "period => '1 s', ends_at => '2000-01-01'",
                "delay => '1 s', repeat => 1",
                "cron => '* * * * *', repeat => 1",
                "cron => '* * * * *', period => '1 s'",
                "cron => '* * * *'",
                "cron => '60 * * * *'",
                "cron => '* 24 * * *'",
                "cron => '* * 0 * *'",
                "cron => '* * * 13 *'",
                "cron => '* * * * 8'",
                "cron => '* * * * mon-sun'",
                "cron => '*/0 * * * *'",
                "cron => '5-1 * * * *'",
                "cron => '* * * foo *'",
                "cron => '0 0 31 2 *'",
                "cron => '0 0 30,31 feb *'",
                "cron => '0 0 31 4-6/2,nov */2'",
                "cron => '* * * * *', time_zone => 'Vienna'",
                "cron => '* * * * *', time_zone => null",
                "period => '1 s', misfire_grace => '-1 s'",
                "period => '1 s', name => ''",
            )
        ),
    ]
    all_refused(db, [(code, f"select howdah.schedule({arguments})") for code, arguments in wrong])
    all_refused(
        db, [("HD005", "select howdah.fire_schedules('{}')"), ("HD001", "select howdah.list_schedules('none')")]
    )


@pytest.mark.parametrize(
    "cron", ["0 0 29 2 *", "0 0 31 2 mon", "0 0 30,1 2 *", "0 0 31 */4 *", "0 0 */31 2 *", "0 0 31 jan-feb *"]
)
def test_a_cron_that_comes_at_all_is_taken_however_seldom(db: Db, create: Create, cron: str) -> None:
    create()
    assert state(db, schedule(db, cron=cron), "state") == ("active",)


def test_ended_schedules_and_firings_are_forgotten_after_the_journals_retention(
    db: Db, clock: Clock, create: Create
) -> None:
    create()
    schedule(db, period="1 s", repeat=0)
    living = schedule(db, period="100 d")
    clock.advance(1)
    fire(db)
    assert one(db, "select howdah.maintain_schedules()") == 0
    clock.advance(91 * 86400)
    assert one(db, "select howdah.maintain_schedules()") == 1
    assert one(db, "select howdah.maintain_schedules()") == 1
    assert column(db, "select id from howdah.schedules") == [living]


def test_delayed_messages_are_listed_in_order_and_cancelled_by_number_all_or_none(
    db: Db, clock: Clock, connect: Connect, create: Create
) -> None:
    create()
    late = one(db, "select howdah.send('q', 'late', delay => '2 h', priority => 9)")
    soon = one(db, "select howdah.send('q', 'soon', delay => '1 h')")
    volatile = one(db, "select howdah.send('q', 'xy', delay => '3 h', delivery_mode => 'non-persistent')")
    ready = one(db, "select howdah.send('q', 'now')")
    listed = db.execute("select message_id, due_at - sent_at, bytes from howdah.list_delayed('q')").fetchall()
    assert listed == [(soon, timedelta(hours=1), 4), (late, timedelta(hours=2), 4), (volatile, timedelta(hours=3), 2)]
    assert column(db, "select message_id from howdah.list_delayed('q', 1)") == [soon]
    producer = connect("howdah_producer")
    for ids in ([soon, ready], [soon, 1], [soon, None]):
        with pytest.raises(psycopg.Error) as raised:
            one(producer, "select howdah.cancel_delayed('q', %s::bigint[])", (ids,))
        assert raised.value.sqlstate == "HD013"
    assert one(producer, "select howdah.cancel_delayed('q', %s::bigint[])", ([late, volatile],)) == 2
    assert one(db, "select discarded from howdah.queue_stats('q')") == 2
    clock.advance(3600)
    refused(producer, "HD013", f"select howdah.cancel_delayed('q', array[{soon}])")
    assert [m.message_id for m in receive(db, n=10)] == [soon, ready]


def test_delayed_messages_of_a_range_of_time_are_cancelled_by_the_queues_administrator(
    db: Db, clock: Clock, connect: Connect, create: Create
) -> None:
    create()
    for hours in (1, 2, 3):
        one(db, "select howdah.send('q', %s, delay => %s)", (str(hours), timedelta(hours=hours)))
    refused(connect("howdah_producer"), "HD010", "select howdah.cancel_delayed_range('q')")
    window = (clock.now + timedelta(hours=2), clock.now + timedelta(hours=2))
    assert one(db, "select howdah.cancel_delayed_range('q', %s, %s)", window) == 1
    clock.advance(4 * 3600)
    assert bodies(db) == ["1", "3"]


def test_a_message_is_due_at_the_time_that_delay_until_names_and_not_before(
    db: Db, clock: Clock, create: Create
) -> None:
    create()
    at = clock.now + timedelta(days=40, microseconds=1)
    one(db, "select howdah.send('q', 'x', delay => howdah.delay_until(%s))", (at,))
    clock.set(at - timedelta(microseconds=1))
    assert receive(db, n=1) == receive(db, n=1, verb="browse") == []
    clock.set(at)
    assert bodies(db) == ["x"]
    assert one(db, "select howdah.delay_until('2000-01-01')") == timedelta(0)
    refused(db, "HD005", "select howdah.delay_until('infinity')")


def test_who_waits_is_woken_once_when_a_message_becomes_due(
    db: Db, clock: Clock, connect: Connect, create: Create
) -> None:
    create()
    one(db, "select howdah.send('q', 'x', delay => '10 s')")
    listening = connect()
    listening.execute("listen howdah")
    woken, next_in, since = db.execute("select woken, next_in, now from howdah.wake_due(null)").fetchall()[0]
    assert (woken, next_in) == (0, None)
    payload = one(db, "select payload from howdah.wait('q')")
    assert db.execute("select woken, next_in from howdah.wake_due(%s)", (since,)).fetchall() == [(0, 10.0)]
    clock.advance(10)
    woken, _, since = db.execute("select woken, next_in, now from howdah.wake_due(%s)", (since,)).fetchall()[0]
    assert woken == 1
    assert [n.payload for n in listening.notifies(timeout=20, stop_after=1)] == [payload]
    assert db.execute("select woken, next_in from howdah.wake_due(%s)", (since,)).fetchall() == [(0, None)]


def test_a_schedule_whose_level_became_too_high_has_failed(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_queue('lowered')")
    number = one(
        db, "select howdah.schedule('lowered', 'x', period => '1 minute', reliability => 'ASSURED_PERSISTENT')"
    )
    lowered = '{"default_reliability": "RELIABLE_PERSISTENT", "max_reliability": "RELIABLE_PERSISTENT"}'
    one(db, "select howdah.alter_queue('lowered', %s)", (lowered,))
    clock.advance(61)
    one(db, "select howdah.fire_schedules()")
    assert one(db, "select state from howdah.schedules where id = %s", (number,)) == "failed"
