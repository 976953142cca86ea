"""The rows: what each measures and what is to be reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import batches, bodies, clients, counts, floor, held, large
from .bench import Bench
from .clients import Peers
from .record import OURS, Record


@dataclass(frozen=True)
class Row:
    """One row of the page."""

    key: str
    title: str
    run: Callable[[Bench, Peers], None]
    #: In words; and as a check of a case, where one figure decides.
    reach: str = ""
    #: Against whom ours is divided first.
    against: str = ""
    at_least: float | None = None
    #: Also on a server that is not ours; the others make very many queues or change tables.
    anywhere: bool = True
    #: Left out of a quick run.
    full_only: bool = False


def _pair(index: int) -> Callable[[Bench, Peers], None]:
    return lambda bench, peers: floor.measure(bench, floor.PAIRS[index])


JOURNALED = "bare DELETE by key and journal INSERT"

ROWS = (
    Row("send-one", "Send, one message a transaction", _pair(0), "≥ 0.95 of the floor", "bare INSERT", 0.95),
    Row("receive-one", "Receive, one message a transaction", _pair(1), "≥ 0.85 of the floor", JOURNALED, 0.85),
    Row(
        "receive-one-unjournaled",
        "Receive, one message a transaction, journal off",
        _pair(2),
        "≥ 0.85 of the floor",
        "bare DELETE by key",
        0.85,
    ),
    Row("receive-100", "Receive, 100 a transaction, one connection", _pair(3), "≥ 300,000/s", JOURNALED),
    Row(
        "crowd",
        "Very many receivers of one queue, one message a transaction",
        lambda bench, peers: floor.crowd(bench),
        "≥ 0.85 of the floor",
        JOURNALED,
        0.85,
    ),
    Row("send-1000", "Send batches of 1,000 from a client", clients.send, "ahead of them all"),
    Row("listener", "Workers, a handler that does nothing", clients.listen, "ahead of them all"),
    Row(
        "latency",
        "Send to an idle listener",
        clients.wait,
        "p50 ≤ 1.5 ms, p99 ≤ 4 ms; p50 ≤ 2 times the bare one",
        "bare commit with NOTIFY",
        0.5,
    ),
    Row(
        "held",
        "Drain while a snapshot is held open",
        lambda bench, peers: held.measure(bench),
        "≥ 0.95 of clean",
        floor.SKIPPING,
    ),
    Row(
        "large",
        "Very many queues and messages",
        lambda bench, peers: large.measure(bench),
        "receive ≥ 0.83 of an empty system; queue_stats < 10 ms",
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
        "backlog", "A great backlog drained by the thousand", lambda bench, peers: large.drain(bench), "steady: ≥ 0.95"
    ),
    Row("failures", "Batches of 100 with bad messages", lambda bench, peers: batches.measure(bench)),
    Row("counts", "Kinds of failure count, by a worker", lambda bench, peers: counts.measure(bench)),
)

KEYS = tuple(row.key for row in ROWS)


def chosen(only: list[str], bench: Bench) -> list[Row]:
    """The rows of this run."""
    rows = [row for row in ROWS if row.key in only] if only else list(ROWS)
    if bench.place.embedded is None:
        rows = [row for row in rows if row.anywhere]
    return [row for row in rows if only or bench.size.name != "quick" or not row.full_only]


@dataclass(frozen=True)
class Line:
    """One line of the table: ours, another, and how many times better ours is."""

    case: str
    ours: float
    unit: str
    other: str
    theirs: float
    ratio: float
    spread: tuple[float, float]
    repetitions: int


def lines(record: Record, row: Row) -> list[Line]:
    """A line for each comparison; a case with nobody beside it is one line without ratio (0)."""
    out = []
    for case, results in record.cases(row.key):
        first, others = results[0], results[1:]
        others.sort(key=lambda result: (result.who != row.against, -result.median))
        spread = (min(first.values), max(first.values))
        rest = (spread, len(first.values))
        if not others or first.who != OURS:
            for result in results:
                who = "" if result.who == OURS else result.who
                alone = ((min(result.values), max(result.values)), len(result.values))
                out.append(Line(case, result.median, result.unit, who, 0, 0, *alone))
            continue
        for other in others:
            out.append(Line(case, first.median, first.unit, other.who, other.median, first.advantage(other), *rest))
    return out
