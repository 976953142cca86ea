"""The scheduler of workers and of `howdah scheduler`: what cron means, and that each firing takes place once."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import zoneinfo
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from rare_looks import look_rarely
from support import Clock, Connect, Db, column, one, receive, wait_until

from howdah.engine import connect as connect_howdah
from howdah.engine.embedded import EmbeddedServer
from howdah.workers.app import App, AppError
from howdah.workers.cron import Cron, plan
from howdah.workers.scheduler import Scheduler

VIENNA = ZoneInfo("Europe/Vienna")


def local(*fields: int, fold: int = 0) -> datetime:
    return datetime(*fields, tzinfo=VIENNA, fold=fold).astimezone(UTC)  # type: ignore[misc,arg-type]


def following(cron: str, moment: datetime, count: int, zone: str = "UTC") -> list[str]:
    """The next times, as local ones."""
    found = []
    for _ in range(count):
        after = Cron(cron, zone).after(moment)
        assert after is not None
        moment = after
        found.append(moment.astimezone(ZoneInfo(zone)).strftime("%a %d %b %H:%M"))
    return found


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("0 * * * *", ["Sun 01 Nov 01:00", "Sun 01 Nov 02:00"]),
        ("*/20 * * * *", ["Sun 01 Nov 00:20", "Sun 01 Nov 00:40"]),
        ("15,45 8-9 * * *", ["Sun 01 Nov 08:15", "Sun 01 Nov 08:45", "Sun 01 Nov 09:15"]),
        ("0 0 * * 0", ["Sun 08 Nov 00:00", "Sun 15 Nov 00:00"]),
        ("0 0 * * 7", ["Sun 08 Nov 00:00"]),
        ("0 0 * * 1-5", ["Mon 02 Nov 00:00", "Tue 03 Nov 00:00"]),
        ("0 0 * * fri-sat", ["Fri 06 Nov 00:00", "Sat 07 Nov 00:00", "Fri 13 Nov 00:00"]),
        ("0 0 * * 5-7", ["Fri 06 Nov 00:00", "Sat 07 Nov 00:00", "Sun 08 Nov 00:00"]),
        ("0 0 13 * 5", ["Fri 06 Nov 00:00", "Fri 13 Nov 00:00", "Fri 20 Nov 00:00"]),
        ("0 0 14 * 5", ["Fri 06 Nov 00:00", "Fri 13 Nov 00:00", "Sat 14 Nov 00:00"]),
        ("0 12 31 * *", ["Thu 31 Dec 12:00", "Sun 31 Jan 12:00", "Wed 31 Mar 12:00"]),
        ("30 6 1 JAN,jul *", ["Fri 01 Jan 06:30", "Thu 01 Jul 06:30"]),
    ],
)
def test_the_five_fields_mean_what_they_mean_in_cron(cron: str, expected: list[str]) -> None:
    assert following(cron, datetime(2026, 11, 1, tzinfo=UTC), len(expected)) == expected


def test_a_named_hour_comes_once_a_day_when_clocks_are_changed_and_each_hour_each_hour() -> None:
    night = local(2026, 3, 28, 12)
    assert following("30 2 * * *", night, 2, "Europe/Vienna") == ["Sun 29 Mar 03:30", "Mon 30 Mar 02:30"]
    night = local(2026, 10, 24, 12)
    assert following("30 2 * * *", night, 2, "Europe/Vienna") == ["Sun 25 Oct 02:30", "Mon 26 Oct 02:30"]
    begin = local(2026, 10, 25, 1)
    hourly = following("0 * * * *", begin, 3, "Europe/Vienna")
    assert hourly == ["Sun 25 Oct 02:00", "Sun 25 Oct 02:00", "Sun 25 Oct 03:00"]


def due(**fields: Any) -> dict[str, Any]:
    moment = datetime(2026, 11, 1, tzinfo=UTC)
    row = {"schedule_id": 1, "cron": "* * * * *", "time_zone": "UTC", "next_at": moment, "from_at": moment}
    return row | {"catch_up": False, "now": moment} | fields


def test_a_plan_has_the_times_that_have_come_and_the_next_one() -> None:
    moment = datetime(2026, 11, 1, tzinfo=UTC)
    made = plan(due(now=moment + timedelta(minutes=2, seconds=1)))
    assert made["times"] == [f"2026-11-01T00:0{minute}:00+00:00" for minute in range(3)]
    assert made["next_at"] == "2026-11-01T00:03:00+00:00"
    assert plan(due(next_at=None, from_at=moment + timedelta(seconds=1)))["next_at"] == "2026-11-01T00:01:00+00:00"
    year = timedelta(days=365)
    once = plan(due(now=moment + year))
    assert len(once["times"]) == 1000
    assert (once["times"][-1], once["missed"]) == ("2027-11-01T00:00:00+00:00", 365 * 24 * 60 + 1 - 1000)
    assert once["next_at"] == "2027-11-01T00:01:00+00:00"
    every = plan(due(now=moment + year, catch_up=True))
    assert (len(every["times"]), every["missed"], every["next_at"]) == (1000, 0, "2026-11-01T16:40:00+00:00")
    assert plan(due(cron="0 0 30 2 *", next_at=None))["next_at"] is None
    assert "0 0 x * *" in plan(due(cron="0 0 x * *"))["error"]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Vienna", "Australia/Lord_Howe", "America/Havana"])
@pytest.mark.parametrize("cron", ["30 23 * * *", "15 0-2 * * *", "50 * * * *", "0 12 1 * *", "0 0 30 4 2"])
def test_what_was_missed_is_counted_as_if_each_time_were_gone_through(cron: str, zone: str) -> None:
    times = Cron(cron, zone)
    begun = times.first(datetime(2026, 1, 3, 5, tzinfo=UTC))
    assert begun is not None
    gone_through = [begun]
    for days, hours in ((0, 0), (0, 1), (1, 0), (80, 7), (90, 0), (300, 3), (400, 0)):
        until = begun + timedelta(days=days, hours=hours)
        while (following := times.after(gone_through[-1])) is not None and following <= until:
            gone_through.append(following)
        for most in (1, 100):
            assert times.last(begun, until, most) == (max(0, len(gone_through) - most), gone_through[-most:])


def test_a_long_outage_of_a_cron_schedule_is_made_up_for_by_its_last_time_alone(dsn: str, db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_queue('q')")
    begun = datetime(2026, 11, 1, 12, tzinfo=UTC)
    clock.set(begun + timedelta(seconds=30))
    call = "select howdah.schedule('q', %s, cron => '* * * * *', misfire_grace => %s, ends_at => %s)"
    one(db, call, ("grace", "2 min", None))
    one(db, call, ("ends", None, begun + timedelta(minutes=1500)))
    scheduler = Scheduler(dsn, "s")
    scheduler.run_once()
    clock.advance(3000 * 60)
    scheduler.run_once()
    scheduler.run_once()
    scheduler.stop()
    planned = {message.body: message.headers["scheduledTime"] / 1000 for message in receive(db, n=10) if message.body}
    last, end = begun + timedelta(minutes=3000), begun + timedelta(minutes=1500)
    assert planned == {"grace": last.timestamp(), "ends": end.timestamp()}
    listed = "select state, fired, missed, next_at from howdah.list_schedules(all_states => true) order by schedule_id"
    assert db.execute(listed).fetchall() == [("active", 1, 2999, last + timedelta(minutes=1)), ("ended", 1, 1499, None)]


@pytest.fixture
def no_zone_files(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A host without time zones: neither the system's nor the package's."""
    for module in ["tzdata", *(name for name in sys.modules if name.startswith("tzdata."))]:
        monkeypatch.setitem(sys.modules, module, None)
    zoneinfo.reset_tzpath(to=())
    ZoneInfo.clear_cache()
    yield
    zoneinfo.reset_tzpath()
    ZoneInfo.clear_cache()


@pytest.mark.usefixtures("no_zone_files")
def test_a_scheduler_leaves_a_time_zone_that_its_host_does_not_have_to_others_and_fires_the_rest(
    dsn: str, db: Db, clock: Clock, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("howdah.workers.scheduler.PLANS", 1)
    one(db, "select howdah.create_queue('q')")
    clock.set(datetime(2026, 11, 1, 12, tzinfo=UTC))
    call = "select howdah.schedule('q', %s, cron => '7 * * * *', time_zone => %s)"
    for zone in ("Europe/Vienna", "America/Lima", "UTC"):
        one(db, call, (zone, zone))
        clock.advance(1)  # those of before are due before it
    scheduler = Scheduler(dsn, "s")
    for _ in range(4):
        scheduler.run_once()
    clock.advance(600)
    for _ in range(4):
        scheduler.run_once()
    scheduler.stop()
    assert [message.body for message in receive(db, n=10)] == ["UTC"]
    assert column(db, "select state from howdah.schedules") == ["active"] * 3
    logged = [record.getMessage() for record in caplog.records if record.name == "howdah.worker"]
    assert logged == ["time zone unknown"] * 2


@pytest.mark.parametrize("zone", ["UTC", "Europe/Vienna", "Europe/Berlin"])
@pytest.mark.parametrize("session", ["UTC", "Europe/Vienna"])
def test_when_the_clock_is_put_back_each_hour_fires_once_whatever_zone_the_session_has(
    dsn: str, db: Db, clock: Clock, session: str, zone: str
) -> None:
    one(db, "select howdah.create_queue('q')")
    evening = datetime(2026, 10, 24, 22, 30, tzinfo=UTC)  # the clock is put back at 01:00
    clock.set(evening)
    for catch_up in (False, True):
        call = "select howdah.schedule('q', 'x', cron => '0 * * * *', time_zone => %s, catch_up => %s)"
        one(db, call, (zone, catch_up))
    scheduler = Scheduler(make_conninfo(dsn, options=f"-c TimeZone={session}"), "s")
    scheduler.run_once()
    for minutes in (30, 60, 60, 60, 120):
        clock.advance(minutes * 60)
        scheduler.run_once()
    scheduler.stop()
    hours = [evening.replace(hour=23, minute=0) + timedelta(hours=number) for number in range(6)]
    planned = "select r.planned_at from howdah.schedule_runs r join howdah.schedules s on s.id = r.schedule_id"
    assert column(db, planned + " where s.catch_up order by r.planned_at") == hours
    assert column(db, planned + " where not s.catch_up order by r.planned_at") == hours[:4] + hours[5:]
    assert column(db, "select missed from howdah.schedules order by catch_up") == [1, 0]


def test_a_cron_schedule_fires_at_its_times_and_what_was_missed_once(dsn: str, db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_queue('q')")
    clock.set(datetime(2026, 10, 24, 23, 50, tzinfo=UTC))
    one(db, "select howdah.schedule('q', 'x', cron => '30 2 * * *', time_zone => 'Europe/Vienna')")
    one(db, "select howdah.schedule('q', 'never', cron => '0 0 29 2 *', ends_at => '2027-01-01')")
    scheduler = Scheduler(dsn, "s")
    scheduler.run_once()
    assert one(db, "select state from howdah.list_schedules(all_states => true) where cron like '0 0%%'") == "ended"
    assert one(db, "select next_at from howdah.list_schedules()") == local(2026, 10, 25, 2, 30)
    clock.set(local(2026, 10, 25, 2, 30))
    assert scheduler.run_once() == 0.0
    assert scheduler.run_once() == 1.0
    clock.set(local(2026, 10, 30, 12))
    scheduler.run_once()
    scheduler.run_once()
    scheduler.stop()
    assert [m.headers["scheduledTime"] for m in receive(db, n=10)] == [
        local(2026, 10, day, 2, 30).timestamp() * 1000 for day in (25, 30)
    ]
    assert one(db, "select missed from howdah.list_schedules()") == 4


PROGRAM = """
import sys, time
from howdah.workers.scheduler import Scheduler
scheduler = Scheduler(sys.argv[1], "s")
scheduler.start()
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.slow
def test_many_schedulers_fire_each_time_once_though_some_are_killed(dsn: str, db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    processes = [subprocess.Popen([sys.executable, "-c", PROGRAM, dsn], stdout=subprocess.PIPE) for _ in range(3)]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        numbers = [one(db, "select howdah.schedule('q', 'x', period => '20 ms', repeat => 49)") for _ in range(4)]
        for process in processes[:2]:
            wait_until(lambda: one(db, "select sum(fired) from howdah.schedules") > 40)
            process.send_signal(signal.SIGKILL)
        query = "select count(*) from howdah.list_schedules(all_states => true) where state = 'ended'"
        wait_until(lambda: one(db, query) == 4)
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    messages = receive(db, n=1000)
    assert len(messages) == 200
    times = {(message.headers["scheduledJobId"], message.headers["scheduledTime"]) for message in messages}
    assert len(times) == 200
    assert (
        one(db, "select count(distinct message_id) from howdah.schedule_runs where schedule_id = any (%s)", (numbers,))
        == 200
    )


def test_a_scheduler_reconnects_and_says_why(dsn: str, db: Db, caplog: pytest.LogCaptureFixture) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.schedule('q', 'x', period => '10 ms')")
    scheduler = Scheduler(dsn, "s")
    scheduler.start()
    killed = "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'howdah scheduler'"
    wait_until(lambda: one(db, killed + " and datname = current_database()"))
    wait_until(lambda: [r for r in caplog.records if r.getMessage() == "scheduler failed"])
    before = one(db, "select sum(fired) from howdah.schedules")
    wait_until(lambda: one(db, "select sum(fired) from howdah.schedules") > before)
    scheduler.stop()


@pytest.mark.slow
def test_a_server_that_crashes_while_schedulers_fire_leaves_each_firing_made_once(
    private_server: EmbeddedServer,
) -> None:
    dsn = private_server.start().dsn
    with psycopg.connect(dsn, autocommit=True) as db:
        one(db, "select howdah.create_queue('q')")
        number = one(db, "select howdah.schedule('q', 'x', period => '5 ms', repeat => 299)")
        schedulers = [Scheduler(dsn, name) for name in ("a", "b")]
        for scheduler in schedulers:
            scheduler.start()
        wait_until(lambda: one(db, "select fired from howdah.schedules") > 50)
    private_server.stop("immediate")
    private_server.start()
    with psycopg.connect(dsn, autocommit=True) as db:
        wait_until(lambda: one(db, "select state from howdah.schedules") == "ended")
        for scheduler in schedulers:
            scheduler.stop()
        times = [message.headers["scheduledTime"] for message in receive(db, n=1000)]
        assert len(times) == len(set(times)) == 300
        assert one(db, "select count(*) from howdah.schedule_runs where schedule_id = %s", (number,)) == 300


def test_schedules_and_delays_outlive_a_crash_of_the_server(private_server: EmbeddedServer) -> None:
    with psycopg.connect(private_server.start().dsn, autocommit=True) as db:
        one(db, "select howdah.create_queue('q')")
        one(db, "select howdah.schedule('q', 'x', period => '1 ms', repeat => 2)")
        one(db, "select howdah.schedule('q', 'c', cron => '* * * * *')")
        one(db, "select howdah.send('q', 'd', delay => '1 ms')")
    private_server.stop("immediate")
    dsn = private_server.start().dsn
    with psycopg.connect(dsn, autocommit=True) as db:
        scheduler = Scheduler(dsn, "s")
        scheduler.start()
        wait_until(lambda: one(db, "select count(*) from howdah.schedule_runs") >= 3)
        scheduler.stop()
        assert sorted(m.body or "" for m in receive(db, n=10) if m.body != "c") == ["d", "x", "x", "x"]
        assert len(column(db, "select 1 from howdah.list_schedules()")) == 1


@pytest.mark.slow
def test_an_idle_consumer_gets_a_delayed_message_within_milliseconds_where_a_scheduler_runs(
    dsn: str, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_rarely(monkeypatch)
    one(db, "select howdah.create_queue('q')")
    scheduler = Scheduler(dsn, "s")
    scheduler.start()
    late: list[float] = []
    try:
        with connect_howdah(dsn) as connection, connection.session() as session:
            # What else the machine does can only make it later: the best of a few tells.
            while len(late) < 5 and min(late, default=1) >= 0.1:
                connection.send("q", "x", delay=1.2)
                with session.transaction():
                    (message,) = session.receive("q", wait=20)
                late.append(time.time() - message.sent_at.timestamp() - 1.2)
    finally:
        scheduler.stop()
    assert 0 <= min(late) < 0.1, late


@pytest.mark.slow
def test_the_command_fires_until_it_is_told_to_stop(dsn: str, db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.schedule('q', 'x', period => '10 ms', repeat => 0)")
    command = [sys.executable, "-m", "howdah.cli.main", "scheduler", "--dsn", dsn]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: one(db, "select count(*) from howdah.schedule_runs") == 1)
        process.terminate()
        assert process.wait(60) == 0


def test_what_an_application_declares_is_made_once_its_queue_is_there_and_not_anew_by_the_next_worker(
    dsn: str, db: Db, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("howdah.workers.scheduler.DECLARE_SECONDS", 0.0)
    app = App()
    app.schedule("q", {"a": 1}, name="nightly", cron="0 3 * * *", time_zone="Europe/Vienna")
    app.schedule("other", "x", name="often", period=60)
    with pytest.raises(AppError):
        app.schedule("q", "x", name="often", period=60)
    with pytest.raises(AppError):
        app.schedule("q", "x", name="wrong", period="often")  # type: ignore[arg-type]
    one(db, "select howdah.create_queue('q')")
    listed = "select schedule_id from howdah.list_schedules() order by name"
    first = Scheduler(dsn, "first", app.schedules)
    first.run_once()
    assert len(column(db, listed)) == 1
    assert [record.getMessage() for record in caplog.records] == ["schedule refused"]
    one(db, "select howdah.create_queue('other')")
    first.run_once()
    made = column(db, listed)
    assert len(made) == 2
    second = Scheduler(dsn, "second", app.schedules)
    second.run_once()
    assert column(db, listed) == made
    first.stop()
    second.stop()


def test_what_cannot_be_declared_because_its_name_is_locked_stops_no_firing_and_no_other_declaration(
    dsn: str, db: Db, connect: Connect, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("howdah.workers.scheduler.DECLARE_SECONDS", 0.0)
    monkeypatch.setattr("howdah.workers.scheduler.LOCK_TIMEOUT", "50ms")
    app = App()
    for name in ("locked", "free"):
        app.schedule("q", name, name=name, period=3600)
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.schedule('q', 'due', starts_at => now() - interval '1 s', name => 'due')")
    scheduler = Scheduler(dsn, "s", app.schedules)
    listed = "select name from howdah.list_schedules() order by name"
    other = connect()
    with other.transaction(force_rollback=True):
        one(other, "select howdah.schedule('q', 'x', period => '1 h', name => 'locked')")
        scheduler.run_once()
        assert [message.body for message in receive(db, n=10)] == ["due"]
        scheduler.run_once()
        assert column(db, listed) == ["free"]
    scheduler.run_once()
    assert column(db, listed) == ["free", "locked"]
    assert {record.getMessage() for record in caplog.records} == {"schedule refused"}
    scheduler.stop()


def test_a_new_declaration_is_looked_at_without_a_pause(dsn: str, db: Db) -> None:
    app = App()
    app.schedule("q", "x", name="often", period=3600)
    one(db, "select howdah.create_queue('q')")
    scheduler = Scheduler(dsn, "s", app.schedules)
    assert [scheduler.run_once() for _ in range(2)] == [0.0, 1.0]
    scheduler.stop()
