"""Maintenance on APScheduler, by the worker that holds the maintenance lock. Queues work without any worker too.

Each service is one procedure that makes one pass and returns a count or a text; the scheduler knows no more about it.
"""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from datetime import UTC, datetime, timedelta

import psycopg
from apscheduler.jobstores.base import JobLookupError
from apscheduler.schedulers.background import BackgroundScheduler

from ..engine import Admin, HowdahError
from ..engine.admin.transactions import Transactions
from . import events
from .own_connection import OwnConnection

LOCK = "maintenance"
LOCK_SECONDS = 30.0
LOCK_TIMEOUT = "5s"
CLOCK_SECONDS = 1.0
"""A clock that is set back by less makes a service late by less."""
PASSES = 20
"""How many transactions may run in a row before other services have their turn. Each ends 10,000 expired messages or
500 unused destinations."""
TRANSACTIONS = "transactions"
"""A service that also runs at the start, and again in case the server restarts."""
REPORTED = {"workers", "journal", "dropped", "incidents", "topics", "subscriptions", "expired", "autocreated"}
"""Services whose work goes to the log."""
REPEATED = {"expired", "autocreated"}
"""Services that run again at once while they find something."""
SERVICES = {
    "totals": 5.0,
    "backlog": 10.0,
    "workers": 30.0,
    "consumers": 30.0,
    "attempts": 60.0,
    "dropped": 30.0,
    "journal": 3600.0,
    "incidents": 3600.0,
    "deduplications": 60.0,
    "results": 60.0,
    "topics": 10.0,
    "subscriptions": 10.0,
    "schedules": 3600.0,
    "expired": 5.0,
    TRANSACTIONS: 60.0,
    "temporary": 10.0,
    "senders": 4.0,
    "autocreated": 10.0,
    "log": 10.0,
}
"""Seconds between passes of each service. For expired messages: between checks of expiration_interval_seconds."""


class Maintenance:
    """The scheduled services of one worker process."""

    def __init__(
        self, dsn: str, worker: str, *, every: dict[str, float] | None = None, lock_seconds: float = LOCK_SECONDS
    ) -> None:
        self._worker = worker
        # In containers two workers can have the same host name and process id.
        self._holder = f"{worker}:{uuid.uuid4().hex[:8]}"
        self._every = every or SERVICES
        self._lock_seconds = lock_seconds
        self._scheduler = BackgroundScheduler(timezone="UTC")
        self._turn = threading.Lock()
        self._stopped = False
        self._ending = threading.Event()
        self._own = OwnConnection(dsn, "howdah maintenance", LOCK_TIMEOUT)
        self._admin = Admin(self._own.run)
        self._epoch: int | None = None
        #: By how much the time of day is ahead of the monotonic clock.
        self._ahead = time.time() - time.monotonic()

    def start(self) -> None:
        """Start. Each service first runs after its interval."""
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
        self._scheduler.add_job(self.run_once, args=[TRANSACTIONS])
        self._scheduler.start()

    def heed_clock(self) -> None:
        """After this machine's clock was set back, have each service run soon: APScheduler waits for times of day."""
        ahead = time.time() - time.monotonic()
        if ahead < self._ahead - CLOCK_SECONDS:
            for number, job in enumerate(self._scheduler.get_jobs()):
                with contextlib.suppress(JobLookupError):  # it runs only once, and has just run
                    job.modify(next_run_time=datetime.now(UTC) + timedelta(seconds=number / 10))
        self._ahead = ahead

    def run_once(self, service: str) -> int | str | None:
        """Run one pass of a service if this worker has or gets the lock. Returns None if another worker has it."""
        with self._turn:
            if self._stopped:
                return None
            try:
                count = self._pass(service)
            except psycopg.errors.LockNotAvailable:
                return None  # the holder is in the middle of a pass
            except (HowdahError, psycopg.Error) as error:
                events.maintenance_failed(self._worker, service, error)
                return None
        if count and service in REPORTED:
            events.maintained(self._worker, service, count)
        return count

    def _pass(self, service: str) -> int | str | None:
        """Run the service under the lock. Repeats those of REPEATED as long as they find something."""
        if service == TRANSACTIONS:
            return self._roll_back()
        total = 0
        for _ in range(PASSES):
            self._epoch = self._admin.acquire_lock(LOCK, self._holder, self._lock_seconds)
            if self._epoch is None:
                return total or None
            done = self._admin.maintain(service, self._epoch)
            if service not in REPEATED or not isinstance(done, int):
                return done
            total += done
            if not done or self._ending.is_set():
                break
        return total

    def _roll_back(self) -> int | None:
        """Roll back what was prepared before the server's start, if the engine says autorollback."""
        self._epoch = self._admin.acquire_lock(LOCK, self._holder, self._lock_seconds)
        if self._epoch is None:
            return None
        old = Transactions(self._own.run).roll_back_old()
        for row in old:
            events.transaction_rolled_back(self._worker, row["gid"])
        return len(old)

    def stop(self) -> None:
        """Wait for the running pass, release the lock, so that no other worker waits for its expiry, and end."""
        self._ending.set()
        if self._scheduler.running:
            self._scheduler.shutdown(wait=True)
        with self._turn:
            self._stopped = True
            with contextlib.suppress(HowdahError, psycopg.Error):
                if self._epoch is not None:
                    self._admin.release_lock(LOCK, self._epoch, self._holder)
            self._own.close()
