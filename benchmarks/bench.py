"""What every row is given: the server, how much to measure, where to put it, and a few verbs all of them use."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from rich.console import Console

from ..engine import HowdahError
from .place import SCHEMA, Place
from .processor import Cost, Meter, postmaster
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

    @cached_property
    def postmaster(self) -> int | None:
        """The measured server's first process; None if it is not on this machine."""
        return postmaster(self.place.dsn)

    def meter(self, dsn: str | None = None) -> Meter:
        """Note for a block what the measured server and its clients use. dsn: another server."""
        return Meter(self.postmaster if dsn is None else postmaster(dsn))

    def called(self, each: int) -> int:
        """Return that many transactions plus those of the warm-up, for filling a queue for them."""
        return each + self.size.warm

    def pgbench(self, dsn: str, script: str, connections: int, transactions: int) -> Ran:
        """Run prepared statements; transactions are of each connection, without those of its warm-up.

        What is measured begins once as many transactions are over as all warm-ups have. The variable lease is 0 in the
        first transaction of a connection.
        """
        with tempfile.TemporaryDirectory(prefix="howdah-bench-") as folder:
            file, log = Path(folder) / "script.sql", Path(folder) / "log"
            file.write_text(script + "\n")
            command = [str(self.place.program("pgbench")), "-n", "-M", "prepared", "-D", "lease=0", "-f", str(file)]
            sizes = ["-c", str(connections), "-j", str(min(connections, 2)), "-t", str(self.called(transactions))]
            # The password is not on the command line, which everybody on the machine can read.
            given = conninfo_to_dict(dsn)
            variables = os.environ | (
                {"PGPASSWORD": str(password)} if (password := given.pop("password", None)) else {}
            )
            with self.meter(dsn) as meter:
                done = subprocess.run(
                    [*command, *sizes, "-l", "--log-prefix", str(log), "-d", make_conninfo("", **given)],
                    env=variables,
                    capture_output=True,
                    text=True,
                    check=False,
                )
            ends = sorted(_ends(Path(folder)))
        warm = self.size.warm * connections
        if done.returncode or len(ends) <= warm:
            raise HowdahError(f"pgbench failed: {(done.stderr or done.stdout).strip()[-500:]}")
        begin, end = ends[warm - 1], ends[-1]
        measured = len(ends) - warm
        return Ran(measured / max(end - begin, 1e-6), meter.cost(measured, begin, end), transactions)


@dataclass(frozen=True)
class Ran:
    """A run of pgbench: transactions a second, what each cost, and how many each connection made."""

    rate: float
    cost: Cost
    transactions: int

    def note(self, record: Record, row: str, case: str, who: str, takes: float = 1, few: str = "") -> None:
        """Add the rate of messages, of which each transaction takes so many, to the record."""
        server = None if self.cost.server is None else self.cost.server / takes
        cost = Cost(server, self.cost.client / takes)
        record.add(row, case, who, "/s", self.rate * takes, cost=cost, transactions=self.transactions, few=few)


def _ends(folder: Path) -> Iterator[float]:
    """When each transaction was over, from pgbench's logs: client, number, time taken, script, second, microsecond."""
    for path in folder.glob("log.*"):
        for line in path.read_text().splitlines():
            _, _, _, _, second, microsecond = line.split()[:6]
            yield int(second) + int(microsecond) / 1e6


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
