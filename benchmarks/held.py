"""A queue drained while somebody holds a snapshot open: dead entries stay, and a scan that meets them again slows down."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import mean, median

import psycopg

from . import floor
from .bench import QUEUE, Bench, Db, fill, opened, settle
from .record import OURS

ROW = "held"
#: A round of the slow side that takes longer ends its drain: the curve has been seen.
PATIENCE = 20.0
BATCH = 100

WAYS: dict[str, tuple[str, str]] = {
    OURS: ("howdah.msgs", f"select count(*) from howdah.receive('{QUEUE}', {BATCH})"),
    floor.SKIPPING: ("floor", f"with d as ({floor._SKIPPING}) select count(*) from d"),
}


def drain(connection: Db, statement: str, messages: int, a_round: int) -> list[float]:
    """Rates of the rounds, one transaction for every hundred messages."""
    rates: list[float] = []
    for _ in range(messages // a_round):
        started = time.perf_counter()
        taken = 0
        while taken < a_round:
            row = connection.execute(statement.encode(), prepare=True).fetchone()
            if row is None or row[0] == 0:
                return rates
            taken += row[0]
        seconds = time.perf_counter() - started
        rates.append(taken / seconds)
        if seconds > PATIENCE:
            break
    return rates


def _fill_floor(connection: Db, messages: int) -> None:
    connection.execute("truncate floor")
    connection.execute(
        "insert into floor select g, 4, clock_timestamp(), %s from generate_series(1, %s) g",
        ("x" * 64, messages),
    )


def _fill_ours(connection: Db, messages: int) -> None:
    connection.execute("select howdah.purge_queue(%s)", (QUEUE,))
    fill(connection, QUEUE, messages)


FILLS: dict[str, Callable[[Db, int], None]] = {OURS: _fill_ours, floor.SKIPPING: _fill_floor}


def measure(bench: Bench) -> None:
    """Each way with nobody looking, then with a REPEATABLE READ snapshot held; the ratio of the two is what counts."""
    size = bench.size
    for _ in range(max(1, size.rounds - 2)):
        for who, (table, statement) in WAYS.items():
            for case in ("nobody holds a snapshot", "a snapshot is held"):
                with bench.database() as dsn, opened(dsn) as connection, psycopg.connect(dsn) as holder:
                    connection.execute(floor.SETUP.encode())
                    FILLS[who](connection, size.held)
                    settle(connection, table)
                    if "is held" in case:
                        holder.execute("set transaction isolation level repeatable read")
                        holder.execute("select count(*) from pg_class")
                    rates = drain(connection, statement, size.held, size.held_round)
                    holder.rollback()
                bench.record.add(ROW, case, who, "/s", median(rates[-5:]), rates)
    for who in WAYS:
        clean = bench.record.find(ROW, "nobody holds a snapshot", who)
        held = bench.record.find(ROW, "a snapshot is held", who)
        if clean is not None and held is not None:
            # Against the whole of the clean drain: its first rounds, too, are faster or slower by chance.
            kept = held.median / mean(clean.series)
            bench.record.add(ROW, "speed kept: last rounds against a clean drain", who, "ratio", kept)
