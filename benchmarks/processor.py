"""CPU that the server and its clients use while something is measured, from /proc.

The server is the postmaster and all its processes, those that ended meanwhile included. Clients are this process and
those it started. A server on another machine shows no CPU.
"""

from __future__ import annotations

import os
import resource
import threading
import time
from bisect import bisect
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psycopg

SAMPLE_SECONDS = 0.1
_TRIES = 50
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """Microseconds of CPU a message. server: None where it cannot be read."""

    server: float | None
    client: float


def postmaster(dsn: str) -> int | None:
    """The process id of the server's postmaster; None if the server is not on this machine, or hides from us."""
    with psycopg.connect(dsn) as connection:
        host = connection.info.host
        if not (host.startswith("/") or host in ("localhost", "127.0.0.1", "::1")):
            return None
        try:
            parent = int(_fields(connection.info.backend_pid)[1])
            server_seconds(parent)
            name = Path(f"/proc/{parent}/comm").read_text().strip()
        except (OSError, ValueError):
            return None
    # A tunnel ends here too, and the number of a process there may be one of another process here.
    return parent if name in ("postgres", "postmaster") else None


def _fields(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the name: state, parent, …"""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _children(pid: int) -> Iterator[int]:
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended since has none
            yield from map(int, path.read_text().split())


def _own(pid: int) -> float:
    user, system = _fields(pid)[11:13]
    return (int(user) + int(system)) / _TICKS


def _ended(pid: int) -> float:
    user, system = _fields(pid)[13:15]
    return (int(user) + int(system)) / _TICKS


def process_seconds(pid: int) -> float:
    """CPU of a process with one thread, to the nanosecond. Raises OSError where it cannot be read."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def server_seconds(pid: int) -> float:
    """CPU of the postmaster, of its processes, and of those that have ended. Raises OSError where it cannot be read."""
    for _ in range(_TRIES):
        processes = set(_children(pid))
        try:
            seconds = sum(map(process_seconds, processes))
        except OSError:
            continue
        seconds += process_seconds(pid) + _ended(pid)
        # A process that ended between the two readings would count twice, or not at all.
        if processes <= set(_children(pid)):
            return seconds
    raise OSError("the server's processes end faster than they can be read")


def client_seconds() -> float:
    """CPU of this process and of all that it started."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.process_time() + ended.ru_utime + ended.ru_stime
    for child in _children(os.getpid()):
        try:
            seconds += _own(child) + _ended(child)
        except OSError:
            continue
    return seconds


class Meter:
    """Notes both several times a second, for the block."""

    def __init__(self, pid: int | None) -> None:
        self._pid = pid
        self._noted: list[tuple[float, float, float]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="CPU", daemon=True)

    def __enter__(self) -> Self:
        self._note()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._note()

    def cost(self, messages: float, begin: float | None = None, end: float | None = None) -> Cost:
        """What each message cost, after the block. It may be of the part between two times of ``time.time``."""
        first, last = (self._at(when, place) for when, place in ((begin, 0), (end, -1)))
        server, client = (1e6 * (b - a) / max(messages, 1) for a, b in zip(first, last, strict=True))
        return Cost(None if self._pid is None else server, client)

    def _run(self) -> None:
        while not self._over.wait(SAMPLE_SECONDS):
            self._note()

    def _note(self) -> None:
        try:
            server = 0.0 if self._pid is None else server_seconds(self._pid)
        except OSError:
            self._pid, server = None, 0.0
        self._noted.append((time.time(), server, client_seconds()))

    def _at(self, when: float | None, place: int) -> tuple[float, float]:
        """Both figures at a time, between the two notes beside it, or as noted at that place."""
        noted = self._noted
        if when is None:
            return noted[place][1:]
        index = min(max(bisect(noted, (when,)), 1), len(noted) - 1)
        (t0, *before), (t1, *after) = noted[index - 1], noted[index]
        part = min(max((when - t0) / ((t1 - t0) or 1), 0), 1)
        server, client = (a + part * (b - a) for a, b in zip(before, after, strict=True))
        return server, client
