"""Record failures on a separate connection, however often the database must be asked."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import psycopg

from ..engine import HowdahError, Incident, calls, is_innocent
from ..engine.database.runner import run
from ..engine.errors import InstanceRefused, NoSuchAttempt, NoSuchListener
from . import events
from .backoff import Backoff
from .guard import HandlerConnection
from .home import Home

Failures = list[dict[str, Any]]
Record = Callable[[str, Failures, bool], list[Incident]]
"""Records a queue's failures on another connection. Last argument: whether this session still holds the messages."""

RETRY_SECONDS_MIN = 0.05
RETRY_SECONDS_MAX = 5.0
PATIENCE_STOPPING = 10.0
"""Seconds to wait for a lost database once the worker must stop."""
LOCK_TIMEOUT = "2s"


class Recorder:
    """A recording connection. Each failure has a key, so a repetition after a lost answer does not count it twice."""

    def __init__(
        self,
        dsn: str,
        worker: str,
        stopping: threading.Event,
        listeners: Mapping[str, str] | None = None,
        home: Home | None = None,
    ) -> None:
        """listeners: the listeners that also count failures, by queue. home: the instance whose exclusive lease must
        hold."""
        self._home = home
        self._dsn = dsn
        self._listeners = dict(listeners or {})
        self._worker = worker
        self._stopping = stopping
        self._connection: HandlerConnection | None = None

    def record(self, queue: str, failures: Failures, in_hand: bool = False) -> list[Incident]:
        """Record failures in their own transaction. Raises errors that a retry cannot cure.

        Returns [] if the queue was made hardened meanwhile: these messages have no recorded attempts.

        in_hand: the session still holds the messages, and applies the queue's policy itself. LockNotAvailable is then
        raised at once: what recording waits for is probably that session's own transaction.
        """
        retry = Backoff(RETRY_SECONDS_MIN, RETRY_SECONDS_MAX)
        patience = PATIENCE_STOPPING
        listener = self._listeners.get(queue)
        while True:
            try:
                connection = self._connect()
                with connection.transaction():
                    incidents = run(
                        connection, calls.record_failures(queue, failures, in_hand=in_hand, listener=listener)
                    )
                break
            except NoSuchListener:  # dropped: until it is created again, only the queue counts failures
                listener = None
            except NoSuchAttempt as error:
                events.failures_lost(self._worker, queue, [failure["message_id"] for failure in failures], error)
                return []
            except (HowdahError, psycopg.Error) as error:
                if in_hand and isinstance(error, psycopg.errors.LockNotAvailable):
                    raise
                if getattr(error, "sqlstate", None) == InstanceRefused.sqlstate:
                    events.failures_lost(self._worker, queue, [failure["message_id"] for failure in failures], error)
                    return []  # another instance has the messages
                if not is_innocent(error) or patience <= 0:
                    events.failures_lost(self._worker, queue, [failure["message_id"] for failure in failures], error)
                    raise
                pause = retry.pause()
                events.connection_lost(self._worker, error, pause)
                if self._stopping.is_set():
                    pause = min(pause, 0.5)
                    patience -= pause
                    time.sleep(pause)
                else:
                    self._stopping.wait(pause)
        self._report(queue, failures, incidents)
        return incidents

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            self._connection.close()

    def _connect(self) -> HandlerConnection:
        if self._connection is None or self._connection.closed:
            self._connection = HandlerConnection.connect(
                self._dsn, autocommit=True, application_name="howdah recording"
            )
            self._connection.home = self._home
            self._connection.execute("select set_config('lock_timeout', %s, false)", (LOCK_TIMEOUT,))
        return self._connection

    def _report(self, queue: str, failures: Failures, incidents: list[Incident]) -> None:
        errors = {failure["message_id"]: f"{failure['error_class']}: {failure['error_text']}" for failure in failures}
        for incident in incidents:
            error = errors[incident.message_id].splitlines()[0][:200]
            events.failure_recorded(self._worker, queue, incident.message_id, incident.attempt, incident.outcome, error)
