"""Tell whether an application's queues are empty: nothing is ready or in hand."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import psycopg

from ..engine import Admin, HowdahError, calls, is_innocent
from ..engine.database.runner import run
from ..engine.errors import NoSuchQueue
from . import events
from .app import App
from .own_connection import OwnConnection

NAME = "howdah until empty"


class Emptiness:
    """Looks at all queues of an application in one snapshot.

    A handler's messages are committed together with the consumption of its own. So a look sees work that passes from
    queue to queue in one of them. Messages that wait for their time do not count, nor what a stopped listener leaves.
    """

    def __init__(self, app: App, dsn: str) -> None:
        self._app = app
        self._own = OwnConnection(dsn, NAME)

    def look(self) -> bool:
        """Whether all queues are empty; False without an answer. Raises errors that a retry cannot cure."""
        try:
            connection = self._own.open()
            with connection.transaction():
                connection.execute("set transaction isolation level repeatable read")
                stopped = self._stopped()
                return all(self._is_empty(connection, queue) for queue in self._app.bindings if queue not in stopped)
        except (HowdahError, psycopg.Error) as error:
            if not is_innocent(error):
                raise
            events.retried(NAME, ", ".join(self._app.bindings), error)
            self.close()
            return False

    def close(self) -> None:
        """Close the connection, if there is one."""
        self._own.close()

    def _is_empty(self, connection: psycopg.Connection[Any], queue: str) -> bool:
        if self._app.bindings[queue].subscription is not None:
            with suppress(NoSuchQueue), connection.transaction():
                return not run(connection, calls.browse(queue, 1))
            return False  # the worker is about to subscribe
        return not run(connection, calls.browse(queue, 1))

    def _stopped(self) -> set[str]:
        """Return the queues whose listener is stopped: nobody receives what is left there."""
        admin = Admin(self._own.run)
        return {
            queue
            for queue, listener in self._app.listeners.items()
            if [row["status"] for row in admin.list_listeners(listener)] == ["stopped"]
        }
