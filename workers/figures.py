"""Count what a worker process does for each queue, and what is new since the last record.

A session adds to its own tally without a lock, and the heartbeat's thread reads it. Totals only grow, so the next read
has what one missed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

BINS = 32
RECORD_SECONDS = 60.0
"""Fewest seconds between two rows of a queue."""
SECONDS_MAX = 86_400.0


class Tally:
    """One session's totals of one queue."""

    __slots__ = ("busy", "calls", "failed", "handled", "listener", "queue")

    def __init__(self, queue: str, listener: str | None = None) -> None:
        self.queue = queue
        self.listener = listener
        self.handled = 0
        self.failed = 0
        self.busy = 0.0
        #: Handler calls: element n (from 0) counts those that took under 2^n microseconds but no less than half of it.
        self.calls = [0] * BINS

    def call(self, seconds: float) -> None:
        """Count a handler's call and its seconds."""
        self.busy += seconds
        place = int(seconds * 1_000_000).bit_length()
        self.calls[place if place < BINS else -1] += 1


class Figures:
    """The tallies of a process, and which part of them is recorded."""

    def __init__(self, tallies: Sequence[Tally] = ()) -> None:
        self._tallies = list(tallies)
        self._recorded: dict[tuple[str, str | None], list[float]] = {}
        self._since = time.monotonic()
        self._next = self._since + RECORD_SECONDS

    def record(self, write: Callable[[float, list[dict[str, Any]]], object], *, at_once: bool = False) -> None:
        """Call ``write`` with the seconds and what is new in them, if any and if due. If it raises, none is lost."""
        now = time.monotonic()
        if now < self._next and not at_once:
            return
        self._next = now + RECORD_SECONDS
        totals = self._totals()
        rows = []
        for key, total in totals.items():
            before = self._recorded.get(key, [0.0] * len(total))
            new = [after - earlier for after, earlier in zip(total, before, strict=True)]
            if any(new):
                rows.append(_row(key, new))
        if rows:
            write(min(now - self._since, SECONDS_MAX), rows)
        self._recorded, self._since = totals, now

    def _totals(self) -> dict[tuple[str, str | None], list[float]]:
        totals: dict[tuple[str, str | None], list[float]] = {}
        for tally in self._tallies:
            sums = totals.setdefault((tally.queue, tally.listener), [0.0] * (3 + BINS))
            for place, value in enumerate([tally.handled, tally.failed, tally.busy, *tally.calls]):
                sums[place] += value
        return totals


def _row(key: tuple[str, str | None], new: list[float]) -> dict[str, Any]:
    handled, failed, busy, *calls = new
    return {
        "queue": key[0],
        "listener": key[1],
        "handled": int(handled),
        "failed": int(failed),
        "busy_seconds": round(busy, 6),
        "handling_counts": [int(count) for count in calls],
    }
