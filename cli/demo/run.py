"""The demo's course: send, handle, kill a worker on the way, and show how far it is."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Self

import psycopg
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from ...engine import Session, connect
from ...engine.calls.topics import subscription_name
from ...workers import Supervisor
from . import stage
from .flights import QUEUE, SUBSCRIPTIONS, TELL, TOPIC, Expected, read

BATCH = 1000
SUBSCRIBER_BATCH = 5000
SUBSCRIBER_PAUSE = 2.0
"""Seconds between two reads. Subscribers read in batches and leave the processors to the workers."""
KILL_AT = 0.4
"""Fraction of the flights after which one worker process is killed."""
NEARLY_ALL = 0.9
"""Fraction of the flights after which the audit's Java may start: the last retries leave the processors idle."""
LINE_SECONDS = 5.0
"""Seconds between two lines of progress where there is no terminal."""


@dataclass
class Run:
    """What happened, for the report."""

    expected: Expected
    outcome: stage.Outcome
    #: From the first send to the last commit.
    seconds: float
    killed_pid: int | None


class Sender(threading.Thread):
    """Sends every flight, a thousand a transaction, and records what the file says."""

    def __init__(self, dsn: str, flights: int, year: bool) -> None:
        super().__init__(name="sender", daemon=True)
        self.expected = Expected()
        self.sent = 0
        self.error: BaseException | None = None
        self._dsn = dsn
        self._flights = flights
        self._year = year

    def run(self) -> None:
        """Read and send. Keeps an error for the main thread."""
        try:
            with connect(self._dsn, max_size=2) as connection, connection.session() as session:
                rows: list[str] = []
                bodies: list[dict[str, str]] = []
                for row, flight in islice(read(self._year), self._flights):
                    self.expected.add(row, flight)
                    rows.append(str(row))
                    bodies.append(flight)
                    if len(bodies) == BATCH:
                        self._send(session, rows, bodies)
                        rows, bodies = [], []
                self._send(session, rows, bodies)
        except BaseException as error:  # noqa: BLE001 - reported by the main thread
            self.error = error

    def _send(self, session: Session, rows: list[str], bodies: list[dict[str, str]]) -> None:
        with session.transaction():
            session.send_many(QUEUE, bodies, correlation_ids=rows, message_types=["flight"] * len(bodies))
        self.sent += len(bodies)


class Subscriber(threading.Thread):
    """Reads one subscription in batches and records each in the transaction that receives it."""

    def __init__(self, dsn: str, name: str) -> None:
        super().__init__(name=f"subscriber {name}", daemon=True)
        self.last = threading.Event()
        self.error: BaseException | None = None
        self._dsn = dsn
        self._name = name

    def run(self) -> None:
        """Read until nothing more is published (``last``) and all is read. Keeps an error for the main thread."""
        subscription = subscription_name(TOPIC, self._name)
        try:
            with connect(self._dsn, max_size=1) as connection, connection.session() as session:
                last = False
                while not last:
                    last = self.last.is_set()
                    while messages := session.receive(subscription, SUBSCRIBER_BATCH):
                        delays = sum(message.headers["delay"] for message in messages)
                        row = (self._name, [int(str(message.body)) for message in messages], delays)
                        session.connection.execute(TELL, row)
                        session.commit()
                    if not last:
                        self.last.wait(SUBSCRIBER_PAUSE)
        except BaseException as error:  # noqa: BLE001 - reported by the main thread
            self.error = error


class Shown:
    """How far the run is: two bars at a terminal, else a line every few seconds."""

    def __init__(self, console: Console, total: int) -> None:
        columns = (
            TextColumn("   {task.description:8}"),
            BarColumn(),
            MofNCompleteColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
        )
        self._console = console
        self._total = total
        self._started = self._next = time.monotonic()
        self._bars = Progress(*columns, console=console, refresh_per_second=4, disable=not console.is_terminal)
        self._sending = self._bars.add_task("sent", total=total)
        self._handling = self._bars.add_task("handled", total=total)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def update(self, sent: int, done: int) -> None:
        """Show these numbers."""
        self._bars.update(self._sending, completed=sent)
        self._bars.update(self._handling, completed=done)
        if not self._console.is_terminal and (time.monotonic() >= self._next or done == self._total):
            self._next = time.monotonic() + LINE_SECONDS
            self.say(f"{sent:,} sent, {done:,} handled or set aside")

    def say(self, text: str) -> None:
        """Print a line with the seconds since the start."""
        self._console.print(f"   {time.monotonic() - self._started:3.0f} s: {text}", highlight=False)


def handle_all(
    dsn: str,
    console: Console,
    *,
    processes: int,
    sessions: int,
    flights: int,
    year: bool,
    log: Path,
    nearly_done: Callable[[], None] = lambda: None,
) -> Run:
    """Send and handle so many flights, of the year or of its first quarter. Returns when the queue is empty.

    ``nearly_done`` is called once, shortly before.
    """
    supervisor = Supervisor(
        "howdah.cli.demo.flights:app", dsn, processes=processes, sessions=sessions, log_level="ERROR", log_file=log
    )
    killed: int | None = None
    told = False
    sender = Sender(dsn, flights, year)
    subscribers = [Subscriber(dsn, name) for name in SUBSCRIPTIONS]
    started = time.monotonic()
    with psycopg.connect(dsn, autocommit=True) as connection, Shown(console, flights) as shown:
        supervisor.start()
        sender.start()
        for subscriber in subscribers:
            subscriber.start()
        try:
            while True:
                supervisor.check_once()
                done = stage.progress(connection)
                shown.update(sender.sent, done.handled + done.dead)
                if killed is None and done.handled > KILL_AT * flights and supervisor.pids:
                    killed = supervisor.pids[0]
                    os.kill(killed, signal.SIGKILL)
                    shown.say(
                        f"[yellow]worker process {killed} is killed (SIGKILL): PostgreSQL puts back what it had in"
                        " hand, and a new process goes on[/]"
                    )
                if not told and done.handled + done.dead > NEARLY_ALL * flights:
                    told = True
                    nearly_done()
                errors = [sender.error, *(subscriber.error for subscriber in subscribers)]
                for error in filter(None, errors):
                    raise error
                if not sender.is_alive() and done.waiting == 0:
                    break
                time.sleep(0.5)
            finish(subscribers)
            seconds = time.monotonic() - started
            supervisor.stop()
            while supervisor.check_once():
                time.sleep(0.05)
        finally:
            supervisor.close()
        return Run(sender.expected, stage.outcome(connection), seconds, killed)


def finish(subscribers: list[Subscriber]) -> None:
    """Let the subscribers read what is left. Raises the error of a subscriber."""
    for subscriber in subscribers:
        subscriber.last.set()
    for subscriber in subscribers:
        subscriber.join()
        if subscriber.error is not None:
            raise subscriber.error
