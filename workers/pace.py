"""Decide how many messages a worker receives at once if its application does not."""

from __future__ import annotations

BATCH_FIRST = 20
BATCH_MAX = 1000
BATCH_SECONDS = 0.1
"""Seconds that a batch may take. A session holds its messages that long, and redoes that much if one fails."""


class Pace:
    """The size of the next batch: fixed, or as many messages as can be handled in BATCH_SECONDS.

    It grows while batches come full and quickly, so that a long queue is drained in big steps. It shrinks down to one
    message where handlers are slow, so that other sessions and processes find work, too.
    """

    def __init__(self, fixed: int | None) -> None:
        self._fixed = fixed
        self.batch = BATCH_FIRST if fixed is None else fixed

    def note(self, messages: int, seconds: float) -> None:
        """Note the seconds that a batch took, from the receive to its last handler."""
        if self._fixed is not None or not messages:
            return
        bearable = int(messages * BATCH_SECONDS / max(seconds, 1e-6))
        if bearable < self.batch:
            # Keep at least half: one slow message among many says little of the rest.
            self.batch = max(bearable, self.batch // 2, 1)
        elif messages == self.batch:
            self.batch = min(bearable, self.batch * 2, BATCH_MAX)
