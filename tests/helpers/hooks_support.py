"""What tests of hooks import: an event, configuration files, and advisories handled in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from howdah.engine import Connection, Reject, Retry
from howdah.workers import Transaction
from howdah.workers.hooks.config import Configuration, load_hooks
from howdah.workers.hooks.handler import Hooks

QUEUE = "advisories"

EVENT = {
    "event": "MESSAGE_DEAD",
    "queue": "orders",
    "message_id": 4000017,
    "reason": 'failed "deliveries"\nreached the limit: {event} é',
    "at": "2026-11-21T08:00:00+00:00",
}

ENVIRONMENT = {"TOKEN": "secret-token", "PASSWORD": "secret-password"}


class File:
    """A configuration file of the test."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, text: str, queue: str = QUEUE) -> Configuration:
        self.path.write_text(f'queue = "{queue}"\n{text}')
        return load_hooks(self.path, ENVIRONMENT)


class Handled:
    """Advisories handled in this process, as a worker would."""

    def __init__(self, connection: Connection, hooks: Hooks) -> None:
        self._connection = connection
        self._hooks = hooks

    def __call__(self, event: Any = None) -> str:
        """Send an advisory, if one is given, and handle the next; what became of it."""
        if event is not None:
            self._connection.send(QUEUE, event)
        with self._connection.session() as session:
            (message,) = session.receive(QUEUE)
            try:
                self._hooks.handle(message, Transaction(session.connection, "test"))
                session.commit()
                return "handled"
            except (Reject, Retry) as outcome:
                session.rollback()
                incident = self._connection.record_failure(message, outcome)
        assert incident is not None
        return incident.outcome
