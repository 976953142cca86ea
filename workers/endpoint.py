"""Queues with a listener. While it runs, ``receive_as`` takes one message a transaction.

The server decides what stops a listener and what it may receive. This module only knows what a process has seen of it,
for the log. A stopped listener is polled like an idle queue; whoever resumes it wakes the sessions that wait.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import psycopg

from ..engine import Admin, HowdahError, Message, calls
from ..engine.database.runner import run
from . import events
from .app import App, Listener
from .batch_mode import Done
from .delivery import Delivery
from .guard import HandlerConnection
from .transaction import Transaction

LOOK_SECONDS = 1.0
"""Seconds between a process's looks at the status of a listener that gives it nothing."""


class Endpoint:
    """One listener, as the sessions of one process know it."""

    def __init__(self, listener: Listener, queue: str, worker: str) -> None:
        self.name = listener.name
        self._listener = listener
        self._queue = queue
        self._worker = worker
        self._lock = threading.Lock()
        self._ensured = False
        self._stopped_at: datetime | None = None
        self._look_at = 0.0

    def ready(self, connection: psycopg.Connection[Any]) -> None:
        """Create the listener once, unless it exists. Raises HowdahError if that fails."""
        with self._lock:
            if self._ensured:
                return
            with connection.transaction():
                warning = _admin(connection).ensure_listener(self.name, self._queue, **self._listener.options)
            self._ensured = True
        if warning:
            events.listener_contradicts(self._worker, self.name, warning)

    def gone(self) -> None:
        """Note that the listener is gone and must be created again."""
        self._ensured = False

    def look(self, connection: psycopg.Connection[Any], *, at_once: bool) -> None:
        """Log whether the listener was stopped or resumed since the last look; at the latter's own pace or at once."""
        with self._lock:
            if connection.closed or (not at_once and time.monotonic() < self._look_at):
                return
            self._look_at = time.monotonic() + LOOK_SECONDS
            try:
                with connection.transaction():
                    rows = _admin(connection).list_listeners(self.name)
            except (HowdahError, psycopg.Error):
                return  # a lost connection, which the next receive finds
            row: dict[str, Any] = rows[0] if rows else {"stopped_at": None}
            before, self._stopped_at = self._stopped_at, row["stopped_at"]
        if before not in (None, row["stopped_at"]):
            events.listener_resumed(self._worker, self.name, self._queue)
        if row["stopped_at"] not in (None, before):
            events.listener_stopped(
                self._worker, self.name, self._queue, row["stopped_message_id"], row["failures"], row["stop_reason"]
            )


def _admin(connection: psycopg.Connection[Any]) -> Admin:
    return Admin(lambda call: run(connection, call))


def endpoints_of(app: App, worker: str) -> dict[str, Endpoint]:
    """The endpoint of each queue that has a listener, for all sessions of a process."""
    return {
        binding.queue: Endpoint(binding.listener, binding.queue, worker)
        for binding in app.bindings.values()
        if binding.listener is not None
    }


class EndpointDelivery(Delivery):
    """Delivers the messages of a queue that has a listener."""

    def __init__(self, endpoint: Endpoint, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._endpoint = endpoint
        self._listener = endpoint.name
        self._handled_as = calls.handled_as(endpoint.name)

    @property
    def _handle(self) -> Callable[[Message, Transaction], None]:
        return self._call

    def run_once(self, connection: HandlerConnection) -> Done:
        """As Delivery's. Raises HowdahError while there is no listener."""
        self._endpoint.ready(connection)
        done = super().run_once(connection)
        if done.failed or not done.handled:
            self._endpoint.look(connection, at_once=done.failed > 0)
        return done

    def _call(self, message: Message, transaction: Transaction) -> None:
        self._calling.call(message, transaction)
        run(transaction.connection, self._handled_as)
