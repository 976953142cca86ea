"""Very many queues and messages: what a receive and queue_stats cost there, and a great backlog drained."""

from __future__ import annotations

import time
from contextlib import ExitStack
from functools import partial
from statistics import median
from typing import NoReturn

from .bench import BODY, QUEUE, Bench, Db, fill, opened, settle, timed
from .record import OURS

ROW = "large"
STATS_LIMIT_CALLS = 30
BATCH = 1000


def build(connection: Db, queues: int, messages: int) -> None:
    """That many queues; half of the live and of the parked messages in bench_queue, the others spread over all."""
    each = max(1, messages // 2 // queues)
    for options in ("", ", delay => interval '1 day'"):
        fill(connection, QUEUE, messages // 2, options=options)
    # Few per transaction: creating a queue, or first delaying a message in it, keeps its locks to the end.
    for first in range(0, queues, 500):
        some = (first, min(first + 500, queues) - 1)
        connection.execute(
            "select count(howdah.create_queue('bench_q' || q)) from generate_series(%s::int, %s::int) q", some
        )
        for options in ("", ", delay => interval '1 day'"):
            connection.execute(
                f"select count(howdah.send_batch('bench_q' || q, b{options})) from generate_series(%s::int, %s::int) q,"
                " (select array_agg(%s::text) as b from generate_series(1, %s)) x".encode(),
                (*some, BODY, each),
            )
    settle(connection, "howdah.msgs")
    settle(connection, "howdah.parked")


def measure(bench: Bench) -> None:
    """One message a transaction, from an empty system and from the large one in turn; then queue_stats there."""
    size = bench.size
    statement = f"select howdah.receive('{QUEUE}');"
    with ExitStack() as stack:
        small, big = (stack.enter_context(bench.database()) for _ in range(2))
        on_small, on_big = (stack.enter_context(opened(dsn)) for dsn in (small, big))
        build(on_big, size.queues, size.live)
        number = max(1, min(max(size.messages // (2 * size.rounds), size.each), size.live // 4 // size.rounds))
        for turn in range(size.rounds):
            sides = [(small, on_small, "an empty system"), (big, on_big, _case(bench))]
            for dsn, connection, case in sides if turn % 2 == 0 else sides[::-1]:
                if dsn == small:
                    fill(connection, QUEUE, bench.called(number))
                settle(connection)
                ran = bench.pgbench(dsn, statement, 1, number)
                bench.record.add(
                    ROW, f"receive, {case}", OURS, "ms", 1000 / ran.rate, cost=ran.cost, transactions=ran.transactions
                )
        clean = bench.record.find(ROW, "receive, an empty system", OURS)
        full = bench.record.find(ROW, f"receive, {_case(bench)}", OURS)
        if clean is not None and full is not None:
            kept = median(a / b for a, b in zip(clean.values, full.values, strict=True))
            bench.record.add(ROW, "receive: speed kept", OURS, "ratio", kept)
        _stats(bench, on_big, "before the background count")
        for _ in range(3):  # as workers do every few seconds
            on_big.execute("select howdah.maintain_totals(), howdah.maintain_backlog()")
        _stats(bench, on_big, "as workers keep it")


def _case(bench: Bench) -> str:
    return f"{bench.size.queues:,} queues, {bench.size.live:,} live, {bench.size.live:,} parked"


def _stats(bench: Bench, connection: Db, when: str) -> None:
    calls = {
        "one queue": (f"select * from howdah.queue_stats('{QUEUE}')", STATS_LIMIT_CALLS),
        "all queues": ("select * from howdah.queue_stats()", 3),
    }
    for what, (query, times) in calls.items():
        for _ in range(times):
            milliseconds = 1000 * timed(partial(_fetch, connection, query))
            bench.record.add(ROW, f"queue_stats of {what}, {when}", OURS, "ms", milliseconds)


def _fetch(connection: Db, query: str) -> None:
    connection.execute(query.encode()).fetchall()


def drain(bench: Bench) -> None:
    """Send a great backlog and take it by the thousand; the rate of each fiftieth part."""
    size = bench.size
    with bench.database() as dsn, opened(dsn) as connection:
        with bench.meter(dsn) as meter:
            sent = timed(lambda: _send(connection, size.backlog))
        cost = meter.cost(size.backlog)
        bench.record.add("backlog", f"{size.backlog:,} messages sent", OURS, "/s", size.backlog / sent, cost=cost)
        settle(connection)
        a_round = max(BATCH, size.backlog // 50)
        rates: list[float] = []
        left = size.backlog
        with bench.meter(dsn) as meter:
            while left > 0:
                started = time.perf_counter()
                taken = 0
                while taken < min(a_round, left):
                    taken += _take(connection) or _undelivered(left - taken)
                rates.append(taken / (time.perf_counter() - started))
                left -= taken
        case = f"{size.backlog:,} messages drained"
        bench.record.add("backlog", case, OURS, "/s", median(rates), rates, cost=meter.cost(size.backlog))
        fifth = max(1, len(rates) // 5)
        steady = median(rates[-fifth:]) / median(rates[:fifth])
        bench.record.add("backlog", "last fifth against the first", OURS, "ratio", steady)


def _take(connection: Db) -> int:
    row = connection.execute(f"select count(*) from howdah.receive('{QUEUE}', {BATCH})".encode()).fetchone()
    return int(row[0]) if row else 0


def _undelivered(messages: int) -> NoReturn:
    raise RuntimeError(f"{messages:,} messages of the backlog were not delivered")


def _send(connection: Db, messages: int) -> None:
    # Statements of half a million, so that neither memory nor one transaction grows with the backlog.
    for first in range(0, messages, 500_000):
        fill(connection, QUEUE, min(500_000, messages - first))
