"""howdah audit by the clock, and audits on record.

What was missed, what overlaps, what is ended, what was found last.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from apscheduler.triggers.interval import IntervalTrigger
from command import howdah, refused, start
from support import Db, one, wait_until

from howdah.cli import audit_schedule
from howdah.cli.audit_schedule import AuditSchedule, CronTimes, next_cron, next_every
from howdah.workers.cron import Cron

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

#: Notes each start, then waits for the file "go"; its first argument is the folder of both.
PROGRAM = """
import pathlib, sys, time
folder = pathlib.Path(sys.argv[1])
(folder / "started").open("a").write("x")
while not (folder / "go").exists():
    time.sleep(0.01)
sys.exit(int((folder / "go").read_text() or 0))
"""
HOUR = IntervalTrigger(hours=1, timezone=UTC)


def starts(folder: Path) -> int:
    """How many audits were begun."""
    noted = folder / "started"
    return len(noted.read_text()) if noted.exists() else 0


@contextmanager
def running(dsn: str, folder: Path, trigger: object, first: datetime | None) -> Iterator[AuditSchedule]:
    """A schedule whose audits are PROGRAM, in a thread."""
    schedule = AuditSchedule(dsn, [], program=[sys.executable, "-c", PROGRAM, str(folder)])
    thread = threading.Thread(target=schedule.run, args=(trigger, first))
    thread.start()
    try:
        yield schedule
    finally:
        schedule.stop()
        thread.join(30)
        assert not thread.is_alive()


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the schedule says meanwhile. What other threads write is lost to who reads and empties the captured text."""
    lines: list[str] = []
    monkeypatch.setattr(audit_schedule, "complain", lines.append)
    return lines


@pytest.mark.slow
def test_audits_that_were_missed_are_made_up_for_by_one(dsn: str, tmp_path: Path, said: list[str]) -> None:
    (tmp_path / "go").touch()
    with running(dsn, tmp_path, HOUR, datetime.now(UTC) - timedelta(hours=5, minutes=30)):
        wait_until(lambda: "ended with code 0" in "".join(said))
    assert starts(tmp_path) == 1


@pytest.mark.slow
def test_an_audit_that_would_overlap_is_skipped_and_said_to_be(dsn: str, tmp_path: Path, said: list[str]) -> None:
    with running(dsn, tmp_path, IntervalTrigger(seconds=1, timezone=UTC), datetime.now(UTC)):
        wait_until(lambda: "skipped" in "".join(said))
        assert starts(tmp_path) == 1
        (tmp_path / "go").touch()
        wait_until(lambda: starts(tmp_path) > 1)


def test_stopping_ends_the_audit_under_way(dsn: str, db: Db, tmp_path: Path) -> None:
    with running(dsn, tmp_path, HOUR, datetime.now(UTC)):
        wait_until(lambda: starts(tmp_path) == 1)
    # It was ended by the signal, before it could record anything itself.
    (run,) = db.execute("select severity, exit_code, reason from howdah.list_audits()").fetchall()
    assert run == ("failed", 143, "its process was ended by SIGTERM")


def test_an_audit_that_was_killed_is_recorded_and_hinders_no_other(dsn: str, db: Db, tmp_path: Path) -> None:
    code = "import os, signal, sys; os.kill(os.getpid(), signal.SIGKILL)"
    schedule = AuditSchedule(dsn, [], program=[sys.executable, "-c", code])
    one(
        db, "select lock_epoch from howdah.hold_audit(%s, 60)", [schedule._holder]
    )  # as the audit did before it was killed
    schedule.audit()
    (run,) = db.execute("select severity, exit_code, reason from howdah.list_audits()").fetchall()
    assert run == ("failed", 137, "its process was ended by SIGKILL")
    assert one(db, "select lock_epoch is not null from howdah.hold_audit('another')")


def test_an_audit_that_did_not_begin_is_recorded_too(dsn: str, db: Db) -> None:
    schedule = AuditSchedule(dsn, [], program=[sys.executable, "-c", "import sys; sys.exit(1)"])
    schedule.audit()
    (run,) = db.execute("select severity, exit_code, reason from howdah.list_audits()").fetchall()
    assert run == ("failed", 1, "its process ended with code 1")


def test_an_audit_that_another_one_hinders_is_not_recorded(dsn: str, db: Db, tmp_path: Path) -> None:
    (tmp_path / "go").write_text("5")
    AuditSchedule(dsn, [], program=[sys.executable, "-c", PROGRAM, str(tmp_path)]).audit()
    assert starts(tmp_path) == 1
    assert one(db, "select count(*) from howdah.list_audits()") == 0


def test_a_program_that_is_not_there_is_said_and_ends_nothing(dsn: str, tmp_path: Path, said: list[str]) -> None:
    schedule = AuditSchedule(dsn, [], program=[str(tmp_path / "nothing")])
    thread = threading.Thread(target=schedule.run, args=(HOUR, datetime.now(UTC)))
    thread.start()
    wait_until(lambda: "could not be begun" in "".join(said))
    assert thread.is_alive()
    schedule.stop()
    thread.join(30)


def test_cron_times_are_those_of_schedules() -> None:
    times = CronTimes(Cron("0 3 * * mon"))
    saturday = datetime(2026, 5, 2, 12, tzinfo=UTC)
    first = times.get_next_fire_time(None, saturday)
    assert first == datetime(2026, 5, 4, 3, tzinfo=UTC)
    assert times.get_next_fire_time(first, saturday) == datetime(2026, 5, 11, 3, tzinfo=UTC)


def test_a_restart_makes_up_for_what_was_missed_since_the_last_audit_on_record() -> None:
    now = datetime(2026, 5, 2, 12, tzinfo=UTC)
    hour = timedelta(hours=1)
    assert next_every(hour, None, now) == now
    assert next_every(hour, now - 5 * hour, now) == now
    assert next_every(hour, now - hour / 4, now) == now + hour * 3 / 4
    nightly = Cron("0 3 * * *")
    tonight = datetime(2026, 5, 3, 3, tzinfo=UTC)
    assert next_cron(nightly, None, now) == tonight
    assert next_cron(nightly, now - timedelta(days=3), now) == now
    assert next_cron(nightly, now - hour, now) == tonight
    assert next_cron(Cron("0 3 30 2 *"), None, now) is None


def test_what_cannot_be_a_schedule_is_refused(dsn: str) -> None:
    refused(howdah(dsn, "audit", "--every", "soon"), "'soon' is not a duration", 2)
    refused(howdah(dsn, "audit", "--every", "0.5s"), "less than a second", 2)
    refused(howdah(dsn, "audit", "--cron", "61 * * * *"), "'61 * * * *' in UTC", 2)
    refused(howdah(dsn, "audit", "--cron", "0 3 * * *", "--time-zone", "Moon"), "Moon", 2)
    refused(howdah(dsn, "audit", "--cron", "0 3 30 2 *"), "'0 3 30 2 *' never comes", 2)
    refused(howdah(dsn, "audit", "--cron", "0 3 * * *", "--every", "1h"), "one of --every and --cron", 2)
    refused(howdah(dsn, "audit", "--every", "1h", "--no-record"), "recorded", 2)


def test_an_audit_beside_another_is_refused_at_once(dsn: str, db: Db) -> None:
    db.execute("select howdah.hold_audit('nightly', 60)")
    refused(howdah(dsn, "audit"), "another audit is under way, by nightly", 5)
    assert one(db, "select count(*) from howdah.list_audits()") == 0


def test_an_audit_that_cannot_be_made_is_recorded_as_failed(dsn: str, db: Db, tmp_path: Path) -> None:
    (tmp_path / "something").touch()
    refused(howdah(dsn, "audit", "--output", tmp_path), "is not empty", 3)
    assert "failed" in howdah(dsn, "audit", "--last").out
    run = howdah(dsn, "audit", "--last", "--json").json
    assert (run["severity"], run["exit_code"]) == ("failed", 3)
    assert "is not empty" in run["reason"]
    assert one(db, "select lock_epoch from howdah.hold_audit('next')") == 2, "the right to audit was given up"
    assert "is not empty" in howdah(dsn, "check").out
    refused(howdah(dsn, "audit", "--no-record", "--output", tmp_path), "is not empty", 3)
    assert one(db, "select count(*) from howdah.list_audits()") == 1


@pytest.mark.slow
def test_the_last_audit_is_shown_by_audit_and_queue_stats(dsn: str, db: Db) -> None:
    assert howdah(dsn, "audit", "--last").out == "no audit is on record\n"
    assert howdah(dsn, "audit", "--last", "--json").json is None
    howdah(dsn, "queue", "create", "q")
    db.execute(
        "select howdah.record_audit(now(), 1, 'error', taken_at => now(), errors => 2,"
        ' queues => \'[{"queue": "q", "verdict": "not balanced"}]\','
        ' rules => \'[{"name": "missing", "count": 2, "queues": ["q"]}]\')'
    )
    shown = howdah(dsn, "audit", "--last").out
    assert "1 not balanced" in shown
    assert "missing (2 in q)" in shown
    assert "not balanced" in howdah(dsn, "queue", "stats", "q", "--wide").out
    assert howdah(dsn, "queue", "stats", "q", "--json").json[0]["audit_verdict"] == "not balanced"
    assert howdah(dsn, "check").code == 1


@pytest.mark.slow
@pytest.mark.parametrize("clock", [("--every", "1h"), ("--cron", "0 3 * * *", "--time-zone", "Europe/Vienna")])
def test_each_audit_by_the_clock_is_a_process_with_the_options_and_a_folder_of_its_own(
    dsn: str, db: Db, tmp_path: Path, clock: tuple[str, ...]
) -> None:
    # So long ago that one was missed.
    db.execute("select howdah.record_audit(now() - interval '3 days', 1, 'failed', reason => 'before')")
    jar = tmp_path / "no.jar"
    process = start(dsn, "audit", *clock, "--output", tmp_path / "kept", "--jdbc-jar", jar)
    wait_until(lambda: one(db, "select count(*) from howdah.list_audits()") == 2, 60)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    rows = db.execute("select severity, exit_code, reason from howdah.list_audits(1)").fetchall()
    assert rows == [("failed", 3, f"there is no JDBC driver at {jar}")]
    (kept,) = (tmp_path / "kept").iterdir()
    assert datetime.strptime(kept.name, "%Y%m%dT%H%M%S%z") <= datetime.now(UTC)


@pytest.mark.slow
def test_the_command_audits_by_the_clock_until_sigterm_ends_it_and_the_audit_under_way(dsn: str, db: Db) -> None:
    pytest.importorskip("pyspark")
    howdah(dsn, "queue", "create", "q", "-o", "journal_level=full")
    howdah(dsn, "send", "q", "hello")
    hourly = start(dsn, "audit", "--every", "1h", "--master", "local[1]", "--partitions", "1")
    wait_until(lambda: one(db, "select count(*) from howdah.list_audits()") == 1, 300)
    hourly.send_signal(signal.SIGTERM)
    _, said = hourly.communicate(timeout=60)
    assert hourly.returncode == 0
    assert said.decode().splitlines()[-1] == "howdah: no more audits"
    assert db.execute("select severity, exit_code from howdah.list_audits()").fetchall() == [("none", 0)]
    assert one(db, "select audit_verdict from howdah.queue_stats('q')") == "proved"

    # The last one is over a second old: the next is due at once.
    often = start(dsn, "audit", "--every", "1s", "--master", "local[1]", "--partitions", "1")
    held = "select exists (select from howdah.lock where name = 'audit' and holder is not null)"
    wait_until(lambda: one(db, held), 120)
    often.send_signal(signal.SIGTERM)
    _, said = often.communicate(timeout=60)
    assert often.returncode == 0
    assert "ending the audit under way" in said.decode()
    rows = db.execute("select severity, exit_code, reason from howdah.list_audits(1)").fetchall()
    assert rows == [("failed", 143, "interrupted")]
    assert not one(db, held)
    with psycopg.connect(dsn, autocommit=True) as mine:
        left = (
            "select count(*) from pg_stat_activity where application_name like 'howdah audit%'"
            " and datname = current_database()"
        )
        wait_until(lambda: one(mine, left) == 0)  # a session whose client is gone takes a moment to end
