"""Housekeeping on APScheduler: whichever worker holds the maintenance lock does it; without any worker queues still work.

Each service is one procedure that makes one pass and returns a count or says what it did; the scheduler knows nothing else about it.
"""

from __future__ import annotations

import contextlib
import threading
import uuid
from typing import Any

import psycopg
from apscheduler.schedulers.background import BackgroundScheduler

from ..engine import Admin, HowdahError
from ..engine.runner import run
from . import events

LOCK = "maintenance"
LOCK_SECONDS = 30.0
LOCK_TIMEOUT = "5s"
SERVICES = {
    "totals": 5.0,
    "backlog": 10.0,
    "workers": 30.0,
    "attempts": 60.0,
    "dropped": 30.0,
    "journal": 3600.0,
    "incidents": 3600.0,
    "topics": 10.0,
    "subscriptions": 10.0,
}
"""Seconds between two passes of each service."""


class Maintenance:
    """The scheduled services of one worker process."""

    def __init__(
        self, dsn: str, worker: str, *, every: dict[str, float] | None = None, lock_seconds: float = LOCK_SECONDS
    ) -> None:
        self._dsn = dsn
        self._worker = worker
        # In containers two workers can have the same host name and process id.
        self._holder = f"{worker}:{uuid.uuid4().hex[:8]}"
        self._every = every or SERVICES
        self._lock_seconds = lock_seconds
        self._scheduler = BackgroundScheduler(timezone="UTC")
        self._turn = threading.Lock()
        self._stopped = False
        self._connection: psycopg.Connection[Any] | None = None
        self._epoch: int | None = None

    def start(self) -> None:
        """Begin; each service runs first after its own interval."""
        for service, seconds in self._every.items():
            self._scheduler.add_job(
                self.run_once,
                "interval",
                args=[service],
                seconds=seconds,
                max_instances=1,
                coalesce=True,
                misfire_grace_time=None,
                id=service,
                jitter=seconds / 10,
            )
        self._scheduler.start()

    def run_once(self, service: str) -> int | str | None:
        """One pass of a service if this worker holds the lock, or can take it; None if another one does."""
        with self._turn:
            if self._stopped:
                return None
            try:
                admin = self._admin()
                self._epoch = admin.acquire_lock(LOCK, self._holder, self._lock_seconds)
                count = None if self._epoch is None else admin.maintain(service, self._epoch)
            except psycopg.errors.LockNotAvailable:
                return None  # the holder is in the middle of a pass
            except (HowdahError, psycopg.Error) as error:
                events.maintenance_failed(self._worker, service, error)
                return None
        if count and service in {"workers", "journal", "dropped", "incidents", "topics", "subscriptions"}:
            events.maintained(self._worker, service, count)
        return count

    def stop(self) -> None:
        """Wait for a pass under way, give the lock up, so that another worker need not wait for its expiry, and end."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=True)
        with self._turn:
            self._stopped = True
            if self._connection is None:
                return
            with contextlib.suppress(HowdahError, psycopg.Error):
                if self._epoch is not None:
                    self._admin().release_lock(LOCK, self._epoch)
            self._connection.close()

    def _admin(self) -> Admin:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self._dsn, autocommit=True, application_name="howdah maintenance")
            self._connection.execute("select set_config('lock_timeout', %s, false)", (LOCK_TIMEOUT,))
        connection = self._connection
        return Admin(lambda call: run(connection, call))
