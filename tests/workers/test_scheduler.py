"""The scheduler of workers and of `howdah scheduler`: each schedule fires at its times."""

from __future__ import annotations

import subprocess
import sys
import time
import zoneinfo
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from psycopg.conninfo import make_conninfo
from rare_looks import look_rarely
from support import Clock, Db, column, one, receive, wait_until

from howdah.engine import connect as connect_howdah
from howdah.workers.scheduler import Scheduler

VIENNA = ZoneInfo("Europe/Vienna")


def local(*fields: int, fold: int = 0) -> datetime:
    return datetime(*fields, tzinfo=VIENNA, fold=fold).astimezone(UTC)  # type: ignore[misc,arg-type]


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
