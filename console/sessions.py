"""Database sessions between two requests of a person: kept for a while, because their plans make the next page fast."""

from __future__ import annotations

import threading
import time
import weakref
from typing import Any

import psycopg

from .people import Person

#: Seconds after which the server ends a session that waits for a request.
IDLE_SECONDS = 60
#: Seconds for which a session is used again: a password or a log-in that was taken away counts after that.
LASTS_SECONDS = 600.0

# All that DISCARD ALL does, except for plans and prepared statements.
RENEW = (
    "close all; unlisten *; reset session authorization; reset role; discard temp; discard sequences; reset all;"
    f" set idle_session_timeout = '{IDLE_SECONDS}s'; select pg_advisory_unlock_all()"
)

PgConnection = psycopg.Connection[Any]
Key = tuple[str | None, ...]
Waiting = tuple[Key, float, PgConnection]
"""Whose session it is, and since when there is one."""


class Sessions:
    """Sessions that wait for a request. None is ever used for another user, password or role."""

    def __init__(self, most: int) -> None:
        """most: how many wait at once; the one that has waited longest goes."""
        self._most = most
        self._lock = threading.Lock()
        self._waiting: list[Waiting] = []
        self._begun: dict[PgConnection, float] = {}
        # An application that mounts the console does not tell it when it ends.
        weakref.finalize(self, _close, self._waiting)

    def take(self, person: Person) -> PgConnection | None:
        """A session of that person that lives; None: there is none."""
        connection = self._taken(_key(person))
        if connection is None:
            return None
        try:
            connection.execute("")
        except psycopg.Error:  # the server has ended it
            self.drop(connection)
            self._drop_all(_key(person))
            return None
        return connection

    def _drop_all(self, key: Key) -> None:
        """Close all waiting sessions of a person: each one that the network lost would cost its timeout."""
        with self._lock:
            lost = [connection for owner, _, connection in self._waiting if owner == key]
            self._waiting[:] = [waiting for waiting in self._waiting if waiting[0] != key]
        for connection in lost:
            connection.close()

    def _taken(self, key: Key) -> PgConnection | None:
        with self._lock:
            for index in reversed(range(len(self._waiting))):
                if self._waiting[index][0] == key:
                    _, began, connection = self._waiting.pop(index)
                    self._begun[connection] = began
                    return connection
        return None

    def give(self, person: Person, connection: PgConnection) -> None:
        """Keep a session for the person's next request, as clean as a new one, or close it."""
        now = time.monotonic()
        with self._lock:
            began = self._begun.pop(connection, now)
        if now - began > LASTS_SECONDS or not _renewed(connection):
            connection.close()
            return
        with self._lock:
            self._waiting.append((_key(person), began, connection))
            over = self._waiting.pop(0)[2] if len(self._waiting) > self._most else None
        if over is not None:
            over.close()

    def drop(self, connection: PgConnection) -> None:
        """Close a session whose request failed."""
        with self._lock:
            self._begun.pop(connection, None)
        connection.close()

    def close(self) -> None:
        """Close those that wait."""
        with self._lock:
            _close(self._waiting)


def _key(person: Person) -> Key:
    return person.user, person.password, person.role


def _renewed(connection: PgConnection) -> bool:
    """Make a session as new. False: that is impossible with a pooler, whose backends others use too."""
    try:
        row = connection.execute("select pg_backend_pid()").fetchone()
        if row is None or row[0] != connection.info.backend_pid:
            return False
        connection.execute(RENEW)
    except psycopg.Error:
        return False
    return True


def _close(waiting: list[Waiting]) -> None:
    while waiting:
        waiting.pop()[2].close()
