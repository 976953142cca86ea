"""The rows: what each measures and what it should reach."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from . import (
    apart,
    audits,
    batches,
    bodies,
    broker,
    celery_row,
    clients,
    counts,
    facade,
    firstcall,
    floor,
    held,
    large,
    latency,
    levels,
    limits,
    links,
    load,
    pgmq,
    priorities,
    walks,
)
from .bench import Bench
from .clients import Peers
from .row import AHEAD, EVERYONE, Goal, Row
from .topic_rows import TOPIC_ROWS


def _pair(index: int) -> Callable[[Bench, Peers], None]:
    return lambda bench, peers: floor.measure(bench, floor.PAIRS[index])


def _batch(index: int) -> Callable[[Bench, Peers], None]:
    pair = floor.PAIRS[index]
    return lambda bench, peers: floor.measure(bench, pair, beside=partial(peers.batches, pair.row, pair.takes))


def _widths(beside: str, *figures: float) -> tuple[Goal, ...]:
    return tuple(Goal(figure, beside, f"^{width} conn") for figure, width in zip(figures, (1, 4, 16, 64), strict=True))


JOURNALED = "bare DELETE by key and journal INSERT"

ROWS = (
    Row(
        "send-one",
        "Send, one message a transaction",
        _pair(0),
        "≥ 0.80 / 0.75 / 0.65 / 0.50 of the floor at 1 / 4 / 16 / 64 connections",
        "bare INSERT",
        _widths("bare INSERT", 0.80, 0.75, 0.65, 0.50),
    ),
    Row(
        "receive-one",
        "Receive, one message a transaction",
        _pair(1),
        "≥ 0.72 / 0.62 / 0.50 / 0.38 of the floor at 1 / 4 / 16 / 64 connections",
        JOURNALED,
        _widths(JOURNALED, 0.72, 0.62, 0.50, 0.38),
    ),
    Row(
        "receive-one-unjournaled",
        "Receive, one message a transaction, journal off",
        _pair(2),
        "≥ 0.85 of the floor",
        "bare DELETE by key",
        (Goal(0.85, "bare DELETE by key"),),
    ),
    Row(
        floor.PAIRS[3].row,
        "Receive, 100 a transaction, one connection",
        _batch(3),
        "≥ 0.75 of the floor, and ≥ 3 times pgmq",
        JOURNALED,
        (Goal(0.75, JOURNALED), Goal(3, pgmq.WHO)),
    ),
    Row(
        floor.PAIRS[5].row,
        "Receive, 1,000 a transaction, one connection",
        _batch(5),
        "≥ 0.75 of the floor, and ≥ 3 times pgmq",
        JOURNALED,
        (Goal(0.75, JOURNALED), Goal(3, pgmq.WHO)),
        full_only=True,
    ),
    Row(
        facade.ROW,
        "pgmq's SQL on the facade, one connection",
        lambda bench, peers: facade.measure(bench, peers.facade),
        "≥ 1 times the real pgmq",
        pgmq.WHO,
        tuple(Goal(1, pgmq.WHO, case) for case in facade.CASES),
        anywhere=False,
    ),
    Row(
        "lease-acknowledge-100",
        "Lease 100 and acknowledge those before, one connection",
        _pair(4),
        "≥ 0.6 of a transactional receive of 100",
        floor.RECEIVING,
        (Goal(0.6, floor.RECEIVING),),
    ),
    Row(
        "crowd",
        "Very many receivers of one queue, one message a transaction",
        lambda bench, peers: floor.crowd(bench),
        "≥ 0.85 of the floor",
        JOURNALED,
        (Goal(0.85, JOURNALED),),
    ),
    Row(
        firstcall.ROW,
        "The first call of a fresh connection",
        lambda bench, peers: firstcall.measure(bench),
        "≤ 1.36 times the server's CPU of the bare statements",
        firstcall.BARE,
        (Goal(1 / 1.36, firstcall.BARE, firstcall.CPU),),
    ),
    Row("send-1000", "Send batches of 1,000 from a client", clients.send, "ahead of them all", goals=AHEAD),
    Row(
        load.ROW,
        "A load in one transaction by a Python client",
        lambda bench, peers: load.measure(bench),
        against=load.BARE,
    ),
    Row("listener", "Workers, a handler that does nothing", clients.listen, "ahead of them all", goals=AHEAD),
    Row(
        "latency",
        "Send to an idle listener",
        clients.wait,
        "p50 ≤ 1.5 times the bare one, p99 ≤ 2.5 times",
        latency.BARE,
        (Goal(1 / 1.5, latency.BARE, "p50"), Goal(1 / 2.5, latency.BARE, "p99")),
    ),
    Row(
        celery_row.ROW,
        "Celery's worker on each broker, tasks that do nothing",
        celery_row.measure,
        "≥ 1 times Redis and pgmq; p50 ≤ 5 ms",
        celery_row.REDIS,
        (Goal(1, EVERYONE, celery_row.TASKS), Goal(5, case=celery_row.WAIT)),
        anywhere=False,
        full_only=True,
    ),
    *TOPIC_ROWS,
    Row(
        broker.ROW,
        "Beside a message broker, one message a transaction",
        broker.measure,
        "≥ 3 times each",
        goals=(Goal(3, EVERYONE),),
        anywhere=False,
    ),
    Row(
        "held",
        "Drain while a snapshot is held open",
        lambda bench, peers: held.measure(bench),
        "≥ 0.95 of clean",
        floor.SKIPPING,
        (Goal(0.95, case="speed kept"),),
    ),
    Row(
        "held-nonpersistent",
        "Drain of non-persistent messages while a snapshot is held open",
        lambda bench, peers: held.measure_lane(bench, "held-nonpersistent"),
        "≥ 0.95 of clean",
        goals=(Goal(0.95, case="speed kept"),),
        full_only=True,
    ),
    Row(
        "held-parked",
        "Drain of messages that were delayed while a snapshot is held open",
        lambda bench, peers: held.measure_lane(bench, "held-parked"),
        "≥ 0.95 of clean",
        goals=(Goal(0.95, case="speed kept"),),
        full_only=True,
    ),
    Row(
        "large",
        "Very many queues and messages",
        lambda bench, peers: large.measure(bench),
        "receive ≥ 0.83 of an empty system; queue_stats < 10 ms",
        goals=(Goal(1 / 1.2, case="speed kept"), Goal(10, case="queue_stats")),
        anywhere=False,
    ),
    Row(
        "bodies",
        "Bodies of 64 B, 4 KB and 1 MB, by a Python client",
        lambda bench, peers: bodies.measure(bench),
        against=bodies.BARE,
    ),
    Row("toast", "How TOAST stores bodies", lambda bench, peers: bodies.toast(bench), anywhere=False, full_only=True),
    Row(
        "backlog",
        "A great backlog drained by the thousand",
        lambda bench, peers: large.drain(bench),
        "steady: ≥ 0.95",
        goals=(Goal(0.95, case="last fifth"),),
    ),
    Row("failures", "Batches of 100 with bad messages", lambda bench, peers: batches.measure(bench), full_only=True),
    Row("priorities", "A second priority in a queue", lambda bench, peers: priorities.measure(bench), full_only=True),
    Row(
        limits.ROW,
        "Send to a queue far from its limit, one message a transaction",
        lambda bench, peers: limits.measure(bench),
        "≥ 0.8 of no limit, ahead of a counter row at 32 connections",
        limits.NONE,
        (Goal(0.8, limits.NONE), Goal(1, limits.COUNTER, "32 ")),
        anywhere=False,
        full_only=True,
    ),
    Row(
        levels.ROW,
        "Send with each level of reliability, in transactions of messages only",
        lambda bench, peers: levels.measure(bench),
        "each level ≥ 0.97 of the next one; reliable persistent ≥ 0.95 of the same under synchronous_commit = off;"
        " assured ≥ 0.97 of without the setting",
        goals=(
            *(Goal(0.97, name) for name in (*levels.NAMES[1:], levels.PLAIN)),
            Goal(0.95, levels.OFF),
        ),
        anywhere=False,
        full_only=True,
    ),
    Row(
        walks.GROUPS,
        f"Receive from {walks.NUMBER_OF_GROUPS:,} message groups",
        lambda bench, peers: walks.groups(bench),
        "≥ 0.5 of no groups at 32 connections, and by 100",
        walks.UNGROUPED,
        (Goal(0.5, walks.UNGROUPED, "32 |by 100"),),
        full_only=True,
    ),
    Row(
        walks.SELECTOR,
        "A selective consumer of a long queue",
        lambda bench, peers: walks.selector(bench),
        "≥ 0.5 of no selector, once looked through",
        walks.EVERYTHING,
        (Goal(0.5, walks.EVERYTHING, "once looked through"),),
    ),
    Row(
        audits.ROW,
        "An audit of a long journal, on two cores",
        lambda bench, peers: audits.measure(bench),
        "≥ 0.8 of a bare COPY, 10,000,000 rows in 20 s, unless all by row",
        audits.COPY,
        (Goal(0.8, audits.COPY, "rows of the journal$"), Goal(500_000, case="10,000,000 rows of the journal$")),
        anywhere=False,
        full_only=True,
    ),
    Row(
        audits.LIVE,
        "A busy queue while it is audited",
        lambda bench, peers: audits.live(bench),
        "≥ 0.8 of no audit",
        audits.ALONE,
        (Goal(0.8, audits.ALONE),),
        anywhere=False,
        full_only=True,
    ),
    Row(
        apart.ROW,
        "The statements of a send and a receive in the table of all queues",
        lambda bench, peers: apart.measure(bench),
        "≥ 0.83 of a table of its own, else that is worth it",
        apart.OWN,
        (Goal(0.83, apart.OWN),),
        anywhere=False,
        full_only=True,
    ),
    Row(
        links.ROW,
        "A link between two databases of one server",
        lambda bench, peers: links.measure(bench),
        "≥ 20,000/s; p50 ≤ 10 ms",
        goals=(Goal(20_000, case="backlog"), Goal(10, case="p50")),
        full_only=True,
    ),
    Row("counts", "Kinds of failure count, by a worker", lambda bench, peers: counts.measure(bench), full_only=True),
)

KEYS = tuple(row.key for row in ROWS)


def chosen(only: list[str], bench: Bench) -> list[Row]:
    """The rows of this run."""
    rows = [row for row in ROWS if row.key in only] if only else list(ROWS)
    if bench.place.embedded is None:
        rows = [row for row in rows if row.anywhere]
    return [row for row in rows if only or bench.size.name != "quick" or not row.full_only]
