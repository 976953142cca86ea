"""How long a receive sleeps between two looks at an empty queue."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

PAUSE_MIN = 0.005
PAUSE_MAX = 0.25


def pauses(wait: float | None) -> Iterator[float]:
    """Seconds to sleep after each look, growing, until ``wait`` seconds have passed; None: for ever.

    There is one look at the least and, unless time is up already, one when time is up.
    """
    deadline = math.inf if wait is None else time.monotonic() + wait
    pause = PAUSE_MIN
    while (left := deadline - time.monotonic()) > 0:
        yield min(pause, left)
        pause = min(pause * 2, PAUSE_MAX)
    yield 0
