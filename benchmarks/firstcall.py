"""The first call of a fresh connection: the price of connecting for each request or each short job."""

from __future__ import annotations

import time

from . import floor
from .bench import QUEUE, Bench, fill, opened, settle
from .processor import process_seconds
from .record import OURS

ROW = "first-call"
BARE = "bare statements"
CPU, TIME = "CPU of the server's process, connecting included", "time of the call"
CALLS: dict[str, dict[str, str]] = {
    "send": {OURS: floor.PAIRS[0].ways[0].statement, BARE: floor.PAIRS[0].ways[1].statement},
    "receive": {OURS: floor.PAIRS[1].ways[0].statement, BARE: floor.PAIRS[1].ways[1].statement},
}


def measure(bench: Bench) -> None:
    """Connect, make one call and leave, so many times; ours and the bare statements in turn."""
    times = bench.size.firsts
    with bench.database() as dsn, opened(dsn) as connection:
        connection.execute(floor.SETUP.encode())
        floor.refill(connection, times + bench.size.warm)
        fill(connection, QUEUE, times)
        settle(connection)
        for turn in range(-2, times):
            for call, ways in CALLS.items():
                for who, statement in list(ways.items())[:: 1 if turn % 2 == 0 else -1]:
                    milliseconds, cpu = _first(dsn, statement)
                    if turn < 0:
                        continue  # the first connections of all load what later ones share
                    bench.record.add(ROW, f"{call}, {TIME}", who, "ms", milliseconds)
                    if cpu is not None and bench.postmaster is not None:
                        bench.record.add(ROW, f"{call}, {CPU}", who, "ms", cpu)


def _first(dsn: str, statement: str) -> tuple[float, float | None]:
    """Milliseconds of the call by the clock, and of the process that served the connection."""
    with opened(dsn) as connection:
        started = time.perf_counter()
        connection.execute(statement.encode())
        taken = 1000 * (time.perf_counter() - started)
        try:
            return taken, 1000 * process_seconds(connection.info.backend_pid)
        except OSError:
            return taken, None
