"""Python workers with a handler that does nothing: best and default settings, one process and two."""

from __future__ import annotations

import itertools
import mmap
import os
import struct
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from ..engine import Message
from ..workers import App, Supervisor, Transaction
from .bench import QUEUE, Bench, fill, opened, settle
from .record import OURS

FOLDER = "HOWDAH_BENCH_TALLY"
BEST = {"sessions": 1, "batch": 2000}
DEFAULT_SESSIONS = 4
CASES = {"best settings, 1 process": (1, True), "best settings, 2 processes": (2, True), "default settings": (1, False)}
#: Count of handled messages, time of the first and of the last one.
TALLY = struct.Struct("qdd")
LIMIT = 120.0


def settings() -> str:
    """The settings as printed."""
    return (
        f"best: {BEST['sessions']} sessions a process, batch {BEST['batch']}; default: {DEFAULT_SESSIONS}"
        f" sessions, as many messages as a tenth of a second holds, 1000 at most"
    )


class Tally:
    """What the handlers of one process were called for, in a file that the bench reads while they work."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(TALLY.size))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), TALLY.size)
        self._numbers = itertools.count(1)  # whose next is one step, also with several threads
        self._first = 0.0

    def add(self) -> None:
        """A handler was called."""
        now = time.time()
        self._first = self._first or now
        TALLY.pack_into(self._map, 0, next(self._numbers), self._first, now)


def application(batch: int | None) -> App:
    """The application that worker processes load."""
    app = App("bench")
    folder = os.environ.get(FOLDER)
    tally = Tally(Path(folder) / str(os.getpid())) if folder and os.environ.get("HOWDAH_DSN") else None

    @app.handler(QUEUE, batch=batch)
    def handle(message: Message, transaction: Transaction) -> None:
        if tally is not None:
            tally.add()

    return app


best = application(BEST["batch"])
default = application(None)


def drained(dsn: str, messages: int, processes: int, at_best: bool, module: str = __name__) -> tuple[float, float]:
    """When the first handler was called, and when the last. module: where the applications are."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="howdah-bench-")))
        os.environ[FOLDER] = str(folder)
        stack.callback(os.environ.pop, FOLDER)
        # A supervisor looks for the application in the working directory, too: in a copy of Howdah kombu/ is ours.
        stack.callback(sys.path.__setitem__, slice(None), sys.path[:])
        supervisor = Supervisor(
            f"{module}:{'best' if at_best else 'default'}",
            dsn,
            processes=processes,
            sessions=BEST["sessions"] if at_best else DEFAULT_SESSIONS,
            log_level="WARNING",
        )
        stack.callback(supervisor.close)
        supervisor.start()
        deadline = time.monotonic() + LIMIT
        while sum(count for count, _, _ in _tallies(folder)) < messages:
            if time.monotonic() > deadline:
                raise RuntimeError(f"the workers did not handle {messages:,} messages in {LIMIT:.0f} seconds")
            supervisor.check_once()
            time.sleep(0.05)
        supervisor.stop()
        while supervisor.check_once():
            time.sleep(0.05)
        tallies = [tally for tally in _tallies(folder) if tally[0]]
    return min(first for _, first, _ in tallies), max(last for _, _, last in tallies)


def _tallies(folder: Path) -> list[tuple[int, float, float]]:
    contents = (path.read_bytes() for path in folder.iterdir())
    return [TALLY.unpack(content) for content in contents if len(content) == TALLY.size]


def run(bench: Bench, case: str) -> None:
    """Fill the queue and drain it, once."""
    processes, at_best = CASES[case]
    number = messages(bench, case)
    with bench.database() as dsn:
        with opened(dsn) as connection:
            fill(connection, QUEUE, number)
            settle(connection)
        with bench.meter() as meter:
            begin, end = drained(dsn, number, processes, at_best)
        cost = meter.cost(number, begin, end)
        bench.record.add("listener", case, OURS, "/s", number / (end - begin), cost=cost)


def messages(bench: Bench, case: str) -> int:
    """How many are drained."""
    return bench.size.listened if CASES[case][1] else bench.size.listened_by_default
