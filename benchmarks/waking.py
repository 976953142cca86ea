"""How long a message takes from the call of send to an idle receiver, against a bare commit with NOTIFY to a waiting listener.

Receivers are processes of their own; the kinds take turns, with pauses in between that make every receiver idle. The clock is
the machine's monotonic one, read before the sender's call and as the first thing in the handler.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import shutil
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from statistics import quantiles

import floor
import psycopg
from rich.console import Console
from rich.table import Table

from howdah.engine import Message, connect
from howdah.engine.embedded import EmbeddedServer
from howdah.engine.waking import Waking
from howdah.migrations import migrate
from howdah.workers import App, Transaction
from howdah.workers.hands import Hands
from howdah.workers.loop import SessionLoop

SETUP = """
create schema bench;
create table bench.floor (id bigserial primary key, body text);
select howdah.create_queue('listener'), howdah.create_queue('worker');
"""
SENDS = {
    "Howdah, a session's listener": ("listener", f"select howdah.send('listener', '{floor.BODY}'::text)"),
    "Howdah, a worker's handler": ("worker", f"select howdah.send('worker', '{floor.BODY}'::text)"),
    "INSERT with NOTIFY, LISTEN": (
        "bare",
        f"with i as (insert into bench.floor (body) values ('{floor.BODY}') returning id) select pg_notify('bare', id::text) from i",
    ),
    "NOTIFY alone (its commit is not flushed), LISTEN": ("bare", "select pg_notify('bare', 'x')"),
}


def listener(dsn: str, out: Pipe) -> None:
    """A session with a listener."""
    with connect(dsn) as connection:
        connection.session().consumer("listener").listener = lambda message: out.send(time.monotonic())
        threading.Event().wait()


def worker(dsn: str, out: Pipe) -> None:
    """A worker's session."""
    app = App("bench")

    @app.handler("worker")
    def handle(message: Message, transaction: Transaction) -> None:
        out.send(time.monotonic())

    path = Path(f"{floor.scratch()}/hands")
    stopping = threading.Event()
    hands = Hands.create(path, 1)
    SessionLoop(app, dsn, worker="bench", hands=hands, slot=0, stopping=stopping, waking=Waking.of(dsn)).run()


def bare(dsn: str, out: Pipe) -> None:
    """Nothing but LISTEN."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("listen bare")
        for _ in connection.notifies():
            out.send(time.monotonic())


def main() -> None:
    """Start a server and the receivers, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=500, help="messages of each kind")
    options = parser.parse_args()
    folder = floor.scratch()
    server = EmbeddedServer(folder)
    dsn = server.start().dsn
    receivers: dict[str, Pipe] = {}
    processes = []
    context = multiprocessing.get_context("spawn")
    functions: dict[str, Callable[[str, Pipe], None]] = {"listener": listener, "worker": worker, "bare": bare}
    try:
        migrate(dsn)
        with psycopg.connect(dsn, autocommit=True) as sender:
            sender.execute(SETUP.encode())
            for name, function in functions.items():
                receivers[name], out = context.Pipe(duplex=False)
                processes.append(context.Process(target=function, args=(dsn, out), daemon=True))
                processes[-1].start()
            time.sleep(5)
            took: dict[str, list[float]] = {name: [] for name in SENDS}
            for _ in range(options.rounds):
                for name, (receiver, statement) in SENDS.items():
                    time.sleep(random.uniform(0.02, 0.04))
                    begun = time.monotonic()
                    sender.execute(statement.encode(), prepare=True)
                    took[name].append((receivers[receiver].recv() - begun) * 1000)
        table = Table("from send to receiver", "p50 ms", "p90 ms", "p99 ms", "longest ms")
        for name, times in took.items():
            cuts = quantiles(times, n=100)
            table.add_row(name, *(f"{value:.2f}" for value in (cuts[49], cuts[89], cuts[98], max(times))))
        Console().print(table)
    finally:
        for process in processes:
            process.kill()
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
