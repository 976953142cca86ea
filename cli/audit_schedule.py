"""Scheduled audits in the foreground, each in its own process, whose memory and Java end with it."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import psycopg
import typer
from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_MAX_INSTANCES, JobExecutionEvent
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.interval import IntervalTrigger

from ..engine.errors import HowdahError
from ..workers.cron import Cron
from .common import BUSY, connected
from .output import complain

STOP_SECONDS = 20.0
"""Seconds that a stopped audit has to release what it holds before it is killed."""
SHORTEST_SECONDS = 1.0
PROGRAM = (sys.executable, "-m", "howdah.cli.main", "audit")


class CronTimes(BaseTrigger):  # type: ignore[misc]
    """A trigger of APScheduler for a cron expression, which means what it means in schedules."""

    def __init__(self, cron: Cron) -> None:
        self._cron = cron

    def get_next_fire_time(self, previous: datetime | None, now: datetime) -> datetime | None:
        """The first time after the previous one."""
        return self._cron.first(now) if previous is None else self._cron.after(previous)


class AuditSchedule:
    """Runs ``howdah audit`` by a trigger, one at a time, until stopped."""

    def __init__(
        self, dsn: str, words: Sequence[str], keep: Path | None = None, program: Sequence[str] = PROGRAM
    ) -> None:
        """words: options of each run. keep: parent folder of each run's Parquet. program: command to run."""
        self._program = list(program)
        self._dsn = dsn
        self._words = list(words)
        self._keep = keep
        self._holder = f"{socket.gethostname()}:{os.getpid()}"
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._scheduler = BackgroundScheduler(timezone=UTC)
        self._scheduler.add_listener(self._skipped, EVENT_JOB_MAX_INSTANCES)
        self._scheduler.add_listener(self._failed, EVENT_JOB_ERROR)
        logging.getLogger("apscheduler").addHandler(logging.NullHandler())  # what matters of it is said by these two

    def run(self, trigger: BaseTrigger, first: datetime) -> None:
        """Audit by the trigger, first at ``first``. Returns when ``stop`` is called."""
        # coalesce without a grace time: one run makes up for all runs that a sleep missed.
        self._scheduler.add_job(
            self.audit, trigger, next_run_time=first, coalesce=True, max_instances=1, misfire_grace_time=None
        )
        self._scheduler.start()
        complain(f"audits begin at {first.isoformat(' ', 'seconds')}")
        while not self._stopping.wait(0.5):
            pass
        self._scheduler.shutdown(wait=True)
        complain("no more audits")

    def stop(self) -> None:
        """Start no more audits and end the running one."""
        self._stopping.set()

    def audit(self) -> None:
        """Run one audit in its own process group, so that Java ends with it."""
        with self._lock:
            if self._stopping.is_set():
                return
            started = datetime.now(UTC)
            command = [*self._program, "--holder", self._holder, *self._words]
            if self._keep is not None:
                command += ["--output", str(self._keep / f"{started:%Y%m%dT%H%M%SZ}")]
            child = subprocess.Popen(
                command,
                # Java is killed before it could write its class data.
                env={"HOWDAH_CLASS_DATA": "read"} | os.environ | {"HOWDAH_DSN": self._dsn},
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        code = self._wait(child)
        if code == BUSY:
            return  # it has said who audits
        if code != 0:
            self._record(started, code)
        complain(f"audit ended with code {code} after {(datetime.now(UTC) - started).total_seconds():.0f} s")

    def _wait(self, child: subprocess.Popen[bytes]) -> int:
        """Wait for the child's exit code. A stop terminates the child, then kills it if it does not end."""
        try:
            while not self._stopping.is_set():
                with suppress(subprocess.TimeoutExpired):
                    return child.wait(0.2)
            complain("ending the audit under way")
            child.terminate()
            with suppress(subprocess.TimeoutExpired):
                return child.wait(STOP_SECONDS)
            return -signal.SIGKILL
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)  # Java, if it outlives what it worked for
            child.wait()

    def _record(self, started: datetime, code: int) -> None:
        """Record a failure that the audit could not record: it was killed or never started."""
        try:
            with connected(self._dsn, None) as connection:
                runs = connection.audits.list(1)
                if runs and runs[0]["started_at"] >= started:
                    return
                hold = connection.audits.hold(self._holder)
                if hold.epoch is not None:
                    ended = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
                    code = 128 - code if code < 0 else code
                    connection.audits.record(started, code, "failed", reason=f"its process {ended}", epoch=hold.epoch)
        except (HowdahError, psycopg.Error) as error:
            complain(f"the audit's end is not recorded: {error}")

    def _skipped(self, event: JobExecutionEvent) -> None:
        complain("an audit is skipped: the one before is still under way")

    def _failed(self, event: JobExecutionEvent) -> None:
        complain(f"an audit could not be begun: {event.exception}")


def audit_by_the_clock(
    dsn: str, words: Sequence[str], *, every: float | None, cron: str | None, time_zone: str, keep: Path | None
) -> None:
    """Audit until SIGTERM or Ctrl-C. If times were missed since the last recorded audit, audit once at once."""
    if (every is None) == (cron is None):
        raise typer.BadParameter("name one of --every and --cron", param_hint="--every")
    with connected(dsn, None) as connection:
        runs = connection.audits.list(1)
    last = cast(datetime, runs[0]["started_at"]) if runs else None
    now = datetime.now(UTC)
    trigger: Any
    first: datetime | None
    if every is not None:
        period = _period(every)
        trigger = IntervalTrigger(seconds=period.total_seconds(), timezone=UTC)
        first = next_every(period, last, now)
    else:
        assert cron is not None
        try:
            times = Cron(cron, time_zone)
        except (LookupError, ValueError) as error:
            raise typer.BadParameter(f"{cron!r} in {time_zone}: {error}", param_hint="--cron") from error
        trigger = CronTimes(times)
        first = next_cron(times, last, now)
    if first is None:
        raise typer.BadParameter(f"{cron!r} never comes", param_hint="--cron")
    schedule = AuditSchedule(dsn, words, keep)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: schedule.stop())
    schedule.run(trigger, first)


def next_every(period: timedelta, last: datetime | None, now: datetime) -> datetime:
    """Return when to begin: one period after the last recorded audit; now if that has passed or there is none."""
    return now if last is None else max(now, last + period)


def next_cron(times: Cron, last: datetime | None, now: datetime) -> datetime | None:
    """Return when to begin: now if a time has passed since the last recorded audit, else at the next time."""
    missed = None if last is None else times.after(last)
    return now if missed is not None and missed <= now else times.first(now)


def _period(seconds: float) -> timedelta:
    if seconds < SHORTEST_SECONDS:
        raise typer.BadParameter(f"{seconds:g} s is less than a second", param_hint="--every")
    return timedelta(seconds=seconds)
