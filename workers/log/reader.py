"""Writes what happens in the engine to the log: one thread for each set of workers, in its supervisor."""

from __future__ import annotations

import logging
import socket
import threading
import time

import psycopg

from ...engine import HowdahError
from ...engine.admin.logs import Logs
from .. import events
from ..backoff import Backoff
from ..metrics import Rates
from ..own_connection import OwnConnection

LOOK_SECONDS = 1.0
"""Seconds between looks into the database's log."""
PAGE = 500
STOP_SECONDS = 5.0
_LEVELS = {"ERROR": logging.ERROR, "WARNING": logging.WARNING, "INFO": logging.INFO}


class LogReader:
    """Reads under a name of its own. The database stores its place, so that a restart misses nothing."""

    def __init__(
        self, dsn: str, app: str, *, metrics_seconds: float | None = None, look_seconds: float = LOOK_SECONDS
    ) -> None:
        """app: part of the name. metrics_seconds: how often the metrics are logged; None: never."""
        self.name = f"{socket.gethostname()}:{app}"[:200]
        self._metrics_seconds = metrics_seconds
        self._look_seconds = look_seconds
        self._rates = Rates()
        self._metrics_at = 0.0
        self._stopping = threading.Event()
        self._own = OwnConnection(dsn, "howdah log")
        self._logs = Logs(self._own.run)
        self._retry = Backoff(0.2, 30.0)
        self._lost = False
        self._thread = threading.Thread(target=self._run, name="log reader", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Write what is there now, and end."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join(STOP_SECONDS)

    def run_once(self) -> None:
        """Write the events that are new and, if it is time, the metrics."""
        while self._write_page():
            pass
        if self._metrics_seconds is not None and time.monotonic() >= self._metrics_at:
            self._metrics_at = time.monotonic() + self._metrics_seconds
            fields = self._rates.since(self._logs.metrics(), time.monotonic())
            if fields is not None:
                events.metrics(fields)

    def _write_page(self) -> bool:
        """Write some events. Returns whether there may be more. Killed before the commit, it writes them again."""
        with self._own.open().transaction():
            entries = self._logs.read(self.name, PAGE)
            for entry in entries:
                events.happened(_LEVELS[entry["level"]], entry)
        return len(entries) == PAGE

    def _run(self) -> None:
        try:
            while not self._stopping.wait(self._pause()):
                pass
            self._pause()
        finally:
            self._own.close()

    def _pause(self) -> float:
        """Look once. Returns the seconds until the next look."""
        try:
            self.run_once()
        except (HowdahError, psycopg.Error) as error:
            self._own.close()
            pause = self._retry.pause()
            if not self._lost and not self._stopping.is_set():
                self._lost = True
                events.log_unread(self.name, error, pause)
            return pause
        self._lost = False
        self._retry.reset()
        if self._metrics_seconds is None:
            return self._look_seconds
        return max(min(self._look_seconds, self._metrics_at - time.monotonic()), 0.0)
