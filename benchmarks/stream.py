"""A stream of events read in order, batch by batch: what topics are measured against."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from . import topics
from .bench import Bench
from .record import OURS

ROW = "stream"
TICK = 10_000
FEW = 100
#: Where the events of a batch end, and how many a transaction published; a peer knows all but the last.
CASES = {
    ("server", TICK): "counted in the server",
    ("client", TICK): "number and body fetched by a Python client",
    ("server", FEW): f"published by {FEW}, counted in the server",
    ("client", FEW): f"published by {FEW}, number and body fetched by a Python client",
}
WHOLE = {("messages", TICK): "as Message objects, of all fields"}


def record(bench: Bench, who: str, read: Callable[..., list[Any]]) -> None:
    """One repetition of a peer, whose read is called with where, events, tick and the events of a transaction."""
    events = bench.size.streamed // TICK * TICK
    for (where, each), case in (CASES | WHOLE if who == OURS else CASES).items():
        done = read(where, events, TICK, each)[0]
        if done["count"] != events:
            raise RuntimeError(f"{who} read {done['count']:,} of {events:,} events")
        bench.record.add(ROW, f"batches of {TICK:,}, {case}", who, "/s", events / done["seconds"])


def ours(bench: Bench, where: str, events: int, tick: int, each: int) -> list[dict[str, float]]:
    """One subscriber of a topic."""
    with bench.database() as dsn:
        return [topics.stream(dsn, where, events, tick, each)]


class Peers(Protocol):
    """The other queues, as a row knows them that is measured with some of them."""

    def each(self, action: str, turn: int) -> None:
        """One repetition of every peer that can do it."""


def measure(bench: Bench, peers: Peers) -> None:
    """Ours and the peers that have streams."""
    for turn in range(bench.size.rounds):
        record(bench, OURS, partial(ours, bench))
        peers.each("stream", turn)
