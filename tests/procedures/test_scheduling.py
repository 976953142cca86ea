"""Schedules: what is sent by the clock, once for each time, by whoever fires it."""

from __future__ import annotations

from datetime import timedelta

from policy_support import Create
from psycopg.types.json import Jsonb
from scheduling_support import bodies, fire, schedule, state
from support import Clock, Connect, Db, all_refused, column, one, receive, refused


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


def test_a_topic_is_published_to_at_the_firing(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's')")
    schedule(db, queue="t", delay="1 h")
    schedule(db, "again", queue="t", period="1 h", repeat=0)
    assert fire(db) == 0
    clock.advance(3600)
    assert fire(db) == 2
    assert sorted(body or "" for body in bodies(db, "t::s")) == ["again", "x"]


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
