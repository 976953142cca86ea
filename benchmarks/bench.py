"""What every row is given: the server, how much to measure, where to put it, and a few verbs all of them use."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from rich.console import Console

from ..engine import HowdahError
from .place import SCHEMA, Place
from .record import Record
from .size import Size

QUEUE = "bench_queue"
BODY = "x" * 64

Db = psycopg.Connection[Any]


@dataclass
class Bench:
    """One run."""

    place: Place
    size: Size
    record: Record
    console: Console

    @contextmanager
    def database(self, *, empty: bool = False) -> Iterator[str]:
        """A database for one row: see Place.database. A new one has the queue bench_queue."""
        with self.place.database(empty=empty) as dsn:
            if not empty:
                with opened(dsn) as connection:
                    connection.execute("select howdah.create_queue(%s)", (QUEUE,))
            yield dsn

    def pgbench(self, dsn: str, script: str, connections: int, transactions: int) -> float:
        """Transactions a second of one run, prepared statements, without connection time; transactions are of each.

        The variable lease is 0 in the first transaction of a connection.
        """
        with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
            file.write(script + "\n")
            file.flush()
            command = [str(self.place.program("pgbench")), "-n", "-M", "prepared", "-D", "lease=0", "-f", file.name]
            sizes = ["-c", str(connections), "-j", str(min(connections, 2)), "-t", str(transactions)]
            # The password not on the command line, which everybody on the machine can read.
            given = conninfo_to_dict(dsn)
            variables = os.environ | (
                {"PGPASSWORD": str(password)} if (password := given.pop("password", None)) else {}
            )
            done = subprocess.run(
                [*command, *sizes, "-d", make_conninfo("", **given)],
                env=variables,
                capture_output=True,
                text=True,
                check=False,
            )
        found = re.search(r"tps = ([\d.]+) \(without", done.stdout)
        if done.returncode or not found:
            raise HowdahError(f"pgbench failed: {(done.stderr or done.stdout).strip()[-500:]}")
        return float(found[1])


def opened(dsn: str) -> Db:
    """An autocommit connection whose search path is our schema."""
    connection = psycopg.connect(dsn, autocommit=True)
    connection.execute(f"set search_path = {SCHEMA}".encode())
    return connection


def fill(connection: Db, queue: str, messages: int, body: str = BODY, options: str = "") -> None:
    """Send that many messages of our own, 10,000 a statement."""
    connection.execute(
        f"select count(howdah.send_batch(%s, b{options})) from"
        " (select array_agg(%s::text) as b from generate_series(1, %s) g group by g / 10000) x".encode(),
        (queue, body, messages),
    )


def settle(connection: Db, table: str = "howdah.msgs") -> None:
    """Refresh statistics and take due checkpoints, if we may, so that each run starts from the same state."""
    connection.execute("set role none")  # the applications' may not
    try:
        for statement in (f"vacuum analyze {table}", "checkpoint"):
            connection.execute(statement.encode())
    except psycopg.errors.InsufficientPrivilege:
        return
    finally:
        connection.execute("reset role")


def timed(action: Callable[[], object], times: int = 1) -> float:
    """Seconds that it takes, so many times."""
    started = time.perf_counter()
    for _ in range(times):
        action()
    return time.perf_counter() - started
