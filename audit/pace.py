"""The pace of an audit. It rests while others work on the server, so that it costs them little.

The numbers of transactions show whether they do. An audit beside busy workers therefore takes longer.
"""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg

from .database import opened

BUSY = 50.0
"""Above this many writing transactions a second, workers are at work."""

REST = 3.0
"""Seconds that an audit beside workers rests after a second of work."""

_NUMBER = "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint"


class Pace:
    """Rests in proportion to the work since the last rest, if the server was busy meanwhile.

    connection: to the server, in autocommit; None: never rest. shared: Spark works on the server's own machine.
    """

    def __init__(self, connection: psycopg.Connection[Any] | None, *, shared: bool) -> None:
        self._connection = connection
        self._shared = shared
        self._since = time.monotonic()
        self._number = self._last_number()

    def is_busy(self) -> bool:
        """Whether others have written since the last rest."""
        seconds = max(time.monotonic() - self._since, 0.001)
        return (self._last_number() - self._number) / seconds > BUSY

    def rest(self) -> None:
        """Rest in proportion to the work since the last rest."""
        if self._shared and self.is_busy():
            time.sleep(REST * (time.monotonic() - self._since))
        self._since, self._number = time.monotonic(), self._last_number()

    def _last_number(self) -> int:
        """The next transaction's number. It is 0 once the connection is lost: the pace decides nothing."""
        if self._connection is not None:
            try:
                row = self._connection.execute(_NUMBER).fetchone()
                return int(row[0]) if row else 0
            except psycopg.Error:
                self._connection = None
        return 0


@contextmanager
def paced(dsn: str, *, local: bool) -> Iterator[Pace]:
    """A pace for an audit of the database at ``dsn``. local: Spark works on this machine."""
    with opened(dsn, "howdah audit pace") as connection:
        yield Pace(connection, shared=local and _is_here(connection.info))


def _is_here(info: psycopg.ConnectionInfo) -> bool:
    """Whether the server is on this machine."""
    if info.host.startswith(("/", "@")) or info.host in ("localhost", socket.gethostname()):
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(info.hostaddr or info.host).is_loopback
    return False
