"""What the poller has seen: curves of rates, without a query for the past."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Any

#: An hour at one sample in five seconds.
MOST_SAMPLES = 720
#: Points of a curve as drawn.
WIDTH, HEIGHT = 300, 60


class Samples:
    """Totals of queues at the moments when the poller looked."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._samples: deque[tuple[float, dict[str, tuple[int, int]]]] = deque(maxlen=MOST_SAMPLES)

    def add(self, rows: list[dict[str, Any]]) -> None:
        """Remember how much went in and out of the busy queues so far."""
        busiest = sorted(rows, key=lambda row: -(row["enqueued"] or 0))[:100]
        seen = {row["queue_name"]: (row["enqueued"] or 0, row["dequeued"] or 0) for row in busiest}
        with self._lock:
            self._samples.append((self._clock(), seen))

    def curves(self, visible: AbstractSet[str]) -> dict[str, Any] | None:
        """The curves of the queues that a person may see. None: too little is known."""
        with self._lock:
            samples = list(self._samples)
        if len(samples) < 3:
            return None
        return {
            "seconds": samples[-1][0] - samples[0][0],
            "lines": [_curve(samples, visible, part, title) for part, title in ((0, "In"), (1, "Out"))],
        }


def _curve(
    samples: list[tuple[float, dict[str, tuple[int, int]]]], visible: AbstractSet[str], part: int, title: str
) -> Mapping[str, Any]:
    rates = []
    for (before, old), (at, new) in pairwise(samples):
        both = old.keys() & new.keys() & visible
        moved = sum(max(0, new[name][part] - old[name][part]) for name in both)
        rates.append((at, moved / max(at - before, 0.001)))
    start, end = rates[0][0], rates[-1][0]
    most = max(rate for _, rate in rates)
    points = " ".join(
        f"{(at - start) / max(end - start, 0.001) * WIDTH:.1f},{HEIGHT - 2 - rate / (most or 1) * (HEIGHT - 4):.1f}"
        for at, rate in rates
    )
    return {"title": title, "points": points, "last": f"{rates[-1][1]:,.1f}", "most": f"{most:,.1f}"}
