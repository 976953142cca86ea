"""How often, and how fast, a client tries to reach its server again."""

from __future__ import annotations

import select
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import psycopg

from ..errors import BadArgument


class SupportsFileno(Protocol):
    """A socket, or a connection."""

    def fileno(self) -> int:
        """Its file descriptor."""


@dataclass(frozen=True)
class Reconnection:
    """Attempts after the first one, and seconds before each. The pauses double up to ``interval_max``.

    - attempts: -1 is without end.
    - interval_max: None: all pauses are ``interval``.

    Raises BadArgument.
    """

    attempts: int = -1
    interval: float = 3.0
    interval_max: float | None = None

    def __post_init__(self) -> None:
        if self.attempts < -1 or self.interval < 0 or (self.interval_max or 0) < 0:
            raise BadArgument("attempts is a number from -1 (no limit), and pauses are seconds from 0")

    def pauses(self) -> Iterator[float]:
        """Yield the seconds to wait before each further attempt."""
        made, pause = 0, self.interval
        while self.attempts < 0 or made < self.attempts:
            yield pause
            made += 1
            if self.interval_max is not None:
                pause = min(pause * 2, max(self.interval_max, self.interval))


def is_readable(source: int | SupportsFileno, seconds: float = 0) -> bool:
    """Wait for something to read. Returns whether there is. Unlike select, it takes descriptors of 1,024 and more."""
    poll = select.poll()
    poll.register(source, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def is_gone(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> bool:
    """Whether the server has ended a connection on which no statement runs.

    It costs no round trip, unless there is something to read: a goodbye, or a notice, which a round trip tells apart.
    """
    if connection.closed:
        return True
    if is_readable(connection.pgconn.socket):
        connection.pgconn.exec_(b"select")
    return connection.pgconn.status != psycopg.pq.ConnStatus.OK
