"""The loop of one session: deliver, pause when idle, reconnect when the database is lost, stop when asked."""

from __future__ import annotations

import random
import threading
from typing import Any

import psycopg

from ..engine import HowdahError, Incident, calls, is_innocent
from ..engine.errors import ReceivingPaused
from ..engine.runner import run
from . import events
from .app import App
from .delivery import Delivery, Failures
from .hands import Hands

IDLE_SECONDS_MIN = 0.005
IDLE_SECONDS_MAX = 0.25
RETRY_SECONDS_MIN = 0.05
RETRY_SECONDS_MAX = 5.0


class Backoff:
    """Pauses that double from one failure to the next, with jitter, up to a limit."""

    def __init__(self, least: float, most: float) -> None:
        self._least, self._most = least, most
        self._next = least

    def reset(self) -> None:
        """Begin with the shortest pause again."""
        self._next = self._least

    def pause(self) -> float:
        """The next pause in seconds."""
        seconds = self._next
        self._next = min(self._next * 2, self._most)
        return seconds * random.uniform(0.75, 1.25)


class SessionLoop(threading.Thread):
    """One session of a worker process: a thread with a connection to receive on and another to record failures on."""

    def __init__(self, app: App, dsn: str, *, worker: str, hands: Hands, slot: int, stopping: threading.Event) -> None:
        super().__init__(name=f"session-{slot}", daemon=True)
        self.handled = 0
        self.failed = 0
        self._dsn = dsn
        self._worker = f"{worker}/{slot}"
        self._stopping = stopping
        self._receiving: psycopg.Connection[Any] | None = None
        self._recording: psycopg.Connection[Any] | None = None
        self._deliveries = [
            Delivery(binding, index, worker=self._worker, hands=hands, slot=slot, record=self._record)
            for index, binding in enumerate(app.bindings.values())
        ]
        self._queues = list(app.bindings)

    def run(self) -> None:
        """Until ``stopping`` is set: a pass over the queues, then a pause if none had anything."""
        idle = Backoff(IDLE_SECONDS_MIN, IDLE_SECONDS_MAX)
        retry = Backoff(RETRY_SECONDS_MIN, RETRY_SECONDS_MAX)
        while not self._stopping.is_set():
            try:
                busy = self._pass()
            except Exception as error:  # noqa: BLE001 - a session outlives whatever one pass meets
                self._recover(error, retry)
                continue
            retry.reset()
            if busy:
                idle.reset()
            else:
                self._stopping.wait(idle.pause())
        self._close()

    def _pass(self) -> bool:
        """One batch of each queue; whether there was any."""
        if self._receiving is None:
            self._receiving = psycopg.connect(self._dsn, application_name=self._worker[-63:])
        busy = False
        for queue, delivery in zip(self._queues, self._deliveries, strict=True):
            if self._stopping.is_set():
                break
            try:
                done = delivery.run_once(self._receiving)
            except HowdahError as error:
                if is_innocent(error):
                    raise
                events.receive_refused(self._worker, queue, error)
                self._stopping.wait(0.2 if isinstance(error, ReceivingPaused) else 1.0)
                continue
            self.handled += done.handled
            self.failed += done.failed
            busy = busy or done.handled + done.failed > 0
        return busy

    def _recover(self, error: BaseException, retry: Backoff) -> None:
        """Pause after an error that blames no message; a broken connection is replaced by the next pass."""
        pause = retry.pause()
        connection = self._receiving
        if connection is None or connection.closed or connection.broken:
            self._receiving = None
            events.connection_lost(self._worker, error, pause)
        else:
            events.retried(self._worker, ",".join(self._queues), error)
        self._stopping.wait(pause)

    def _record(self, queue: str, failures: Failures) -> None:
        """Record failures in a transaction of their own, however often the database must be asked.

        Each failure has a key, so one that was stored although the answer was lost is not stored twice. While the
        worker is stopping, three attempts are made.
        """
        retry = Backoff(RETRY_SECONDS_MIN, RETRY_SECONDS_MAX)
        attempts_left = 3
        while True:
            try:
                if self._recording is None:
                    self._recording = psycopg.connect(self._dsn, autocommit=True, application_name=self._worker[-63:])
                incidents = run(self._recording, calls.record_failures(queue, failures))
            except (HowdahError, psycopg.Error) as error:
                if self._recording is not None and (self._recording.closed or self._recording.broken):
                    self._recording = None
                elif not is_innocent(error) and self._recording is not None:
                    raise
                attempts_left -= 1 if self._stopping.is_set() else 0
                if attempts_left <= 0:
                    raise
                pause = retry.pause()
                events.connection_lost(self._worker, error, pause)
                self._stopping.wait(pause)
                continue
            self._report(queue, failures, incidents)
            return

    def _report(self, queue: str, failures: Failures, incidents: list[Incident]) -> None:
        errors = {failure["message_id"]: f"{failure['error_class']}: {failure['error_text']}" for failure in failures}
        for incident in incidents:
            error = errors[incident.message_id].splitlines()[0][:200]
            events.failure_recorded(self._worker, queue, incident.message_id, incident.attempt, incident.outcome, error)

    def _close(self) -> None:
        for connection in (self._receiving, self._recording):
            if connection is not None:
                connection.close()
