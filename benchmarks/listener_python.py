"""The Python client at its work: listeners with a handler that does nothing, a batch of 1,000, a load of 1,000,000.

``python -m howdah.benchmarks.listener_python``; medians of repetitions on one durable server of its own.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from ..engine import Session
from ..engine.embedded import EmbeddedServer
from ..migrations import migrate
from ..workers import App
from ..workers.hands import Hands
from ..workers.loop import SessionLoop

QUEUE = "listener"
BODY = "x" * 64
#: Name, sessions a process, batch: what ``howdah worker`` does if nothing is said, and two other settings.
SETTINGS: tuple[tuple[str, int, int | None], ...] = (
    ("defaults (4 sessions)", 4, None),
    ("1 session", 1, None),
    ("1 session, batch=1000", 1, 1000),
)


def work(dsn: str, sessions: int, batch: int | None, ready: Any, go: Any) -> None:
    """A worker process's sessions, as ``howdah worker`` runs it, until it is terminated."""
    app = App("bench")
    app.handler(QUEUE, batch=batch)(lambda message, transaction: None)
    with tempfile.NamedTemporaryFile() as file:
        hands, stopping = Hands.create(Path(file.name), sessions), threading.Event()
        name = f"bench:{os.getpid()}"
        loops = [
            SessionLoop(app, dsn, worker=name, hands=hands, slot=slot, stopping=stopping) for slot in range(sessions)
        ]
        for loop in loops:
            loop._connect()
        ready.release()
        go.wait()
        for loop in loops:
            loop.start()
        stopping.wait()


def drain(dsn: str, processes: int, sessions: int, batch: int | None, messages: int) -> float:
    """Messages a second from the word go until the queue is empty."""
    context = get_context("spawn")
    ready, go = context.Semaphore(0), context.Event()
    with psycopg.connect(dsn) as connection:
        Session(connection).send_stream(QUEUE, (BODY for _ in range(messages)))
    workers = [
        context.Process(target=work, args=(dsn, sessions, batch, ready, go), daemon=True) for _ in range(processes)
    ]
    with psycopg.connect(dsn, autocommit=True) as connection:
        for worker in workers:
            worker.start()
        for _ in workers:
            ready.acquire()
        go.set()
        started = time.perf_counter()
        # Rows in hand are still seen here: the queue is empty once the last batch is committed.
        while connection.execute("select exists (select from ..msgs)").fetchone() != (False,):
            time.sleep(0.01)
        rate = messages / (time.perf_counter() - started)
    for worker in workers:
        worker.terminate()
        worker.join()
    return rate


def send_batch(dsn: str, repetitions: int) -> float:
    """Messages a second in transactions of 1,000, one after another."""
    bodies, seconds = [BODY] * 1000, []
    with psycopg.connect(dsn) as connection:
        for _ in range(repetitions):
            started = time.perf_counter()
            Session(connection).send_many(QUEUE, bodies)
            connection.commit()
            seconds.append(time.perf_counter() - started)
    return 1000 / median(seconds)


def load(dsn: str, messages: int) -> float:
    """Messages a second in one transaction."""
    with psycopg.connect(dsn) as connection:
        started = time.perf_counter()
        Session(connection).send_stream(QUEUE, (BODY for _ in range(messages)))
        connection.commit()
        return messages / (time.perf_counter() - started)


def emptied(dsn: str, measure: Callable[[], float]) -> float:
    """What was measured; the queue is empty again afterwards."""
    rate = measure()
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("truncate howdah.msgs")
    return rate


def main() -> None:
    """Start a server, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--messages", type=int, default=300_000, help="messages a listener's run")
    parser.add_argument("--load", type=int, default=1_000_000)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="howdah-bench-"))
    server = EmbeddedServer(folder)
    dsn = server.start().dsn
    try:
        migrate(dsn)
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("select howdah.create_queue(%s)", (QUEUE,))
        rows: list[tuple[str, Callable[[], float]]] = [
            ("send_many of 1,000", lambda: send_batch(dsn, 100)),
            (f"send_stream of {options.load:,}", lambda: load(dsn, options.load)),
        ]
        for processes in (1, 2):
            for name, sessions, batch in SETTINGS:
                rows.append(
                    (
                        f"listener, {processes} processes, {name}",
                        lambda p=processes, s=sessions, b=batch: drain(dsn, p, s, b, options.messages),  # type: ignore[misc]
                    )
                )
        for name, measure in rows:
            rate = median(emptied(dsn, measure) for _ in range(options.rounds))
            print(f"{name:40} {rate:>10,.0f}/s", flush=True)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
