"""Workers of Celery as processes, on a database of the test's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from celery import Celery
from kombu import Connection, pools
from psycopg.conninfo import conninfo_to_dict
from support import Db, column, wait_until

FOLDER = Path(__file__).parents[1] / "kombu"


def url(dsn: str, scheme: str = "howdah") -> str:
    """A DSN as users write it for Celery."""
    given = conninfo_to_dict(dsn)
    return f"{scheme}://{given['user']}:{given['password']}@{given['host']}:{given['port']}/{given['dbname']}"


RESULTS = "celery.results"
"""The queue of Celery's results on Howdah."""


def results_url(dsn: str) -> str:
    """Howdah as a result backend."""
    return f"howdah.kombu.results:Backend+{url(dsn)}"


def broker(dsn: str, **options: Any) -> Connection:
    """A connection of kombu to the test's database."""
    return Connection(url(dsn), transport="howdah.kombu:Transport", transport_options=options)


@contextmanager
def application(dsn: str, **settings: Any) -> Iterator[Celery]:
    """What sends tasks, for a block. It knows them by name alone."""
    with Celery("sender", set_as_current=False) as app:
        app.conf.update(
            {
                "broker_url": url(dsn),
                "broker_transport": "howdah.kombu:Transport",
                "result_backend": url(dsn, "db+postgresql+psycopg"),
                **settings,
            }
        )
        yield app
        # Celery forgets its sessions, and they would end only when they are collected.
        pools.reset()
        if hasattr(app.backend, "store"):
            app.backend.store.close()


def prepare(db: Db) -> None:
    """The table of what ran."""
    db.execute("create table ran (at bigint generated always as identity, what text, pid integer)")


def ran(db: Db) -> list[str]:
    """What ran, in order."""
    return column(db, "select what from ran order by at")


@dataclass
class Worker:
    """One worker: its main process, and what it logs."""

    process: subprocess.Popen[bytes]
    file: Path

    @property
    def log(self) -> str:
        """What it has logged."""
        return self.file.read_text()

    def ready(self) -> None:
        """Wait until it works."""
        wait_until(lambda: "ready." in self.log or self.process.poll() is not None, 30)
        assert self.process.poll() is None, self.log

    def signal(self, number: int) -> None:
        """Signal the main process."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """Kill the worker with the processes of its pool."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def start(dsn: str, file: Path, *options: str, **settings: str) -> Worker:
    """Start a worker; ``ready`` waits for it. settings: SHOP_… of the application."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "PYTEST"))}
    environment |= {
        "PYTHONPATH": os.pathsep.join([str(FOLDER), *(path for path in sys.path if path.endswith("/src"))]),
        "SHOP_BROKER": url(dsn),
        "SHOP_RESULTS": url(dsn, "db+postgresql+psycopg"),
        "SHOP_DSN": dsn,
        "C_FORCE_ROOT": "1",
        **settings,
    }
    program = [sys.executable, "-P", "-W", "ignore", "-m", "celery", "-A", "shop", "worker", "-l", "info"]
    with file.open("wb") as log:
        process = subprocess.Popen(
            [*program, "-n", f"{file.stem}@here", *options],
            cwd=file.parent,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Worker(process, file)


@contextmanager
def worker(dsn: str, file: Path, *options: str, **settings: str) -> Iterator[Worker]:
    """A worker that works, until it is killed at the end of the block."""
    started = start(dsn, file, *options, **settings)
    try:
        started.ready()
        yield started
    finally:
        started.kill()


def leased(dsn: str, queue: str = "celery") -> int:
    """How many messages are in hand."""
    with psycopg.connect(dsn) as db:
        return sum(column(db, "select messages from howdah.list_leases(%s)", [queue]))
