"""Drain a queue while somebody holds a snapshot: dead entries stay, and a scan that meets them again slows down."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from statistics import mean, median

import psycopg

from . import floor
from .bench import BODY, QUEUE, Bench, Db, fill, opened, settle
from .record import OURS

ROW = "held"
#: A round of the slow side that takes longer ends its drain: the curve has been seen.
PATIENCE = 5.0
BATCH = 100

CASES = ("nobody holds a snapshot", "a snapshot is held")
KEPT = "speed kept: last fifth against the clean drain beside it"

#: Where messages lie that are not ready and persistent: row, table, and how they are sent.
LANES = {
    "held-nonpersistent": ("howdah.msgs_nonpersistent", ", delivery_mode => 'non-persistent'"),
    "held-parked": ("howdah.parked", ", delay => '1 us'"),
}

WAYS: dict[str, tuple[str, str]] = {
    OURS: ("howdah.msgs", f"select count(*) from howdah.receive('{QUEUE}', {BATCH})"),
    floor.SKIPPING: ("floor", f"with d as ({floor._SKIPPING}) select count(*) from d"),
}


def _round(connection: Db, statement: str, messages: int) -> float | None:
    """The rate of one round, a transaction for each call; None if there were not as many."""
    started = time.perf_counter()
    taken = 0
    while taken < messages:
        row = connection.execute(statement.encode(), prepare=True).fetchone()
        if row is None or row[0] == 0:
            return None
        taken += row[0]
    return taken / (time.perf_counter() - started)


def drain_both(
    bench: Bench, row: str, who: str, prepare: Callable[[Db], object], fill: Callable[[Db], None], statement: str
) -> None:
    """Fill and drain with and without a held snapshot, a round of each in turn. ``statement`` returns how many it took.

    They run in two databases of one server, because a snapshot keeps dead rows only of its own database. Drained one
    after the other, as on a user's server, whatever else the machine did meanwhile is measured too. The ratio of the
    two is what counts. A drain is its own repetition: it has a rate for each round.
    """
    size = bench.size
    rates: dict[str, list[float]] = {case: [] for case in CASES}
    for together in (CASES,) if bench.place.embedded else ((case,) for case in CASES):
        with ExitStack() as open_ones:
            connections = {}
            for case in together:
                dsn = open_ones.enter_context(bench.database())
                connections[case] = connection = open_ones.enter_context(opened(dsn))
                prepare(connection)
                if "is held" in case:
                    holder = open_ones.enter_context(psycopg.connect(dsn))
                    holder.execute("set transaction isolation level repeatable read")
                    holder.execute("select count(*) from pg_class")
                fill(connection)
            for turn in range(size.held // size.held_round):
                for case in together if turn % 2 == 0 else together[::-1]:
                    if rate := _round(connections[case], statement, size.held_round):
                        rates[case].append(rate)
                if any(size.held_round / rates[case][-1] > PATIENCE for case in together):
                    break
    for case in CASES:
        bench.record.add(row, case, who, "/s", median(rates[case][-5:]), rates[case])
    clean, slowed = rates.values()
    last = max(1, len(slowed) // 5)
    bench.record.add(row, KEPT, who, "ratio", mean(slowed[-last:]) / mean(clean[-last:]))


def _set_up(connection: Db) -> None:
    connection.execute(floor.SETUP.encode())


def _fill(table: str, messages: int, connection: Db) -> None:
    if table == "floor":
        connection.execute(
            "insert into floor select g, 4, clock_timestamp(), %s from generate_series(1, %s) g", (BODY, messages)
        )
    else:
        fill(connection, QUEUE, messages)
    settle(connection, table)


def _fill_lane(table: str, options: str, messages: int, connection: Db) -> None:
    fill(connection, QUEUE, messages, options=options)
    settle(connection, table)


def measure(bench: Bench) -> None:
    """A queue of ours, then a bare table that is read from its beginning."""
    for who, (table, statement) in WAYS.items():
        drain_both(bench, ROW, who, _set_up, partial(_fill, table, bench.size.held), statement)


def measure_lane(bench: Bench, row: str) -> None:
    """A queue of ours whose messages are non-persistent, or parked and due."""
    table, options = LANES[row]
    drain_both(bench, row, OURS, _set_up, partial(_fill_lane, table, options, bench.size.held), WAYS[OURS][1])
