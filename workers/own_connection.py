"""A connection that a service of the workers has for itself, and makes again once it is lost."""

from __future__ import annotations

from typing import Any, TypeVar

import psycopg

from ..engine import Call
from ..engine.database.runner import run

T = TypeVar("T")


class OwnConnection:
    """Connects in autocommit when it is first used, and again once the connection is lost. For one thread at a time."""

    def __init__(self, dsn: str, name: str, lock_timeout: str | None = None) -> None:
        """name: shown by pg_stat_activity. lock_timeout: the longest wait for a lock; None: as the server has it."""
        self._dsn = dsn
        self._name = name
        self._lock_timeout = lock_timeout
        #: None before the first use, and once closed.
        self.connection: psycopg.Connection[Any] | None = None

    def open(self) -> psycopg.Connection[Any]:
        """Return the connection. Raises psycopg's error if the database cannot be reached."""
        connection = self.connection
        if connection is None or connection.closed:
            connection = psycopg.connect(self._dsn, autocommit=True, application_name=self._name)
            self.connection = connection
            if self._lock_timeout is not None:
                connection.execute("select set_config('lock_timeout', %s, false)", (self._lock_timeout,))
        return connection

    def run(self, call: Call[T]) -> T:
        """Run a call. Raises HowdahError, or psycopg's error."""
        return run(self.open(), call)

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None
