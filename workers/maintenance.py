"""Housekeeping on APScheduler: whichever worker holds the maintenance lock does it; without any worker queues still work.

Each service is one procedure that makes one pass and returns a count; the scheduler knows nothing else about it.
"""

from __future__ import annotations

import threading

import psycopg
from apscheduler.schedulers.background import BackgroundScheduler

from ..engine import Admin, HowdahError
from ..engine.runner import run
from . import events

LOCK_SECONDS = 30
SERVICES = {"totals": 5, "backlog": 10, "workers": 30, "dropped": 30, "journal": 3600}
"""Seconds between two passes of each service."""


class Maintenance:
    """The scheduled services of one worker process."""

    def __init__(self, dsn: str, worker: str, *, every: dict[str, float] | None = None) -> None:
        self._dsn = dsn
        self._worker = worker
        self._every = every or dict(SERVICES)
        self._scheduler = BackgroundScheduler(timezone="UTC")
        self._turn = threading.Lock()
        self._connection: psycopg.Connection[tuple[object, ...]] | None = None

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

    def run_once(self, service: str) -> int | None:
        """One pass of a service if this worker holds the lock, or can take it; None if another one does."""
        with self._turn:
            try:
                connection = self._connect()
                admin = Admin(lambda call: run(connection, call))
                epoch = admin.acquire_lock("maintenance", self._worker, LOCK_SECONDS)
                if epoch is None:
                    return None
                count = admin.maintain(service, epoch)
            except (HowdahError, psycopg.Error) as error:
                events.maintenance_failed(self._worker, service, error)
                return None
        if count and service in {"workers", "journal", "dropped"}:
            events.maintained(self._worker, service, count)
        return count

    def _connect(self) -> psycopg.Connection[tuple[object, ...]]:
        if self._connection is None or self._connection.closed or self._connection.broken:
            self._connection = psycopg.connect(self._dsn, autocommit=True, application_name="howdah maintenance")
        return self._connection

    def stop(self) -> None:
        """Wait for a pass under way and end; the lock is given up by its expiry or by the next holder's turn."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=True)
        if self._connection is not None:
            self._connection.close()
