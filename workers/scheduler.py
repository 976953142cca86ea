"""Fires schedules, in every worker process and in ``howdah scheduler``: however many run, each firing takes place once.

Each pass is a call or two. The database decides what is due, locks and fires it; Python evaluates cron expressions.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import psycopg

from ..engine import Call, HowdahError
from ..engine.admin.schedules import Schedules
from ..engine.errors import ConnectionLost
from . import events
from .backoff import Backoff
from .cron import plan
from .own_connection import OwnConnection

LOOK_SECONDS = 1.0
"""Longest time in seconds that schedulers overlook a new schedule or delayed message."""
PLANS = 1000
"""Most cron schedules that one pass plans."""
DECLARE_SECONDS = 10.0
STOP_SECONDS = 5.0
LOCK_TIMEOUT = "5s"
"""Longest wait of a firing for a lock, as of a queue that is being altered; it is tried again later."""


class Scheduler:
    """A thread that fires what is due. It holds one connection, and no lock between two passes."""

    def __init__(self, dsn: str, worker: str, declared: Mapping[str, Call[int]] | None = None) -> None:
        """declared: schedules to create, by name."""
        self._worker = worker
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._own = OwnConnection(dsn, "howdah scheduler", LOCK_TIMEOUT)
        self._schedules = Schedules(self._own.run)
        self._since: datetime | None = None
        self._restart = Backoff(0.1, 30.0)
        self._declared = dict(declared or {})
        self._declare_at = 0.0
        self._unknown: set[str] = set()
        self._left_out = 0

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name="howdah-scheduler", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Finish the running pass and end."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(STOP_SECONDS)
            if self._thread.is_alive():  # it waits for a database that does not answer
                return
        self._own.close()

    def run_once(self) -> float:
        """Make one pass. Returns the seconds until something is due, at most LOOK_SECONDS."""
        fired, unplanned, fire_in = self._schedules.fire()
        plans = self._plans() if unplanned else []
        if plans:
            more, _, fire_in = self._schedules.fire(plans)
            fired += more
        woken, wake_in, self._since = self._schedules.wake_due(self._since)
        if fired or woken:
            events.schedules_fired(self._worker, fired)
        declared = self._declare()  # afterwards: it may have to wait for a lock
        if fired or woken or declared:
            return 0.0
        waits = [LOOK_SECONDS, *(seconds for seconds in (fire_in, wake_in) if seconds is not None)]
        return max(0.0, min(waits))

    def _plans(self) -> list[dict[str, Any]]:
        """Plan what is due. Schedules that this host cannot plan stay due for others and take no room here."""
        made: list[dict[str, Any]] = []
        rows = self._schedules.due(min(PLANS + self._left_out, 100_000))
        for row in rows:
            try:
                made.append(plan(row))
            except LookupError as error:
                if row["time_zone"] not in self._unknown:
                    self._unknown.add(row["time_zone"])
                    events.time_zone_unknown(self._worker, row["time_zone"], error)
        self._left_out = len(rows) - len(made)
        return made

    def _declare(self) -> bool:
        """Create the application's schedules if it is time. Returns whether there is a new one.

        One that is refused, as for a missing queue, is tried again later. After a futile wait for a lock, the others
        wait for the next turn. So firings do not wait for all of them.
        """
        if not self._declared or time.monotonic() < self._declare_at:
            return False
        before = len(self._declared)
        for name, call in list(self._declared.items()):
            try:
                self._own.run(call)
                del self._declared[name]
            except ConnectionLost:
                raise
            except HowdahError as error:
                events.schedule_refused(self._worker, name, error)
            except psycopg.Error as error:
                if self._own.connection is None or self._own.connection.closed:
                    raise
                events.schedule_refused(self._worker, name, error)
                self._declared[name] = self._declared.pop(name)
                break
        self._declare_at = time.monotonic() + DECLARE_SECONDS
        return len(self._declared) < before

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                try:
                    pause = self.run_once()
                    self._restart.reset()
                except (HowdahError, psycopg.Error) as error:
                    events.scheduler_failed(self._worker, error)
                    self._own.close()
                    pause = self._restart.pause()
                # A pause of 0: another scheduler holds a lock, or a large batch is not finished.
                self._stopping.wait(max(pause, 0.001))
        finally:
            self._own.close()
