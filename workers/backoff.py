"""Pauses between attempts."""

from __future__ import annotations

import random


class Backoff:
    """Pauses that double from one failure to the next, with jitter, up to a limit."""

    def __init__(self, least: float, most: float) -> None:
        self._least, self._most = least, most
        self._next = least

    def reset(self) -> None:
        """Restart with the shortest pause."""
        self._next = self._least

    def pause(self) -> float:
        """Return the next pause in seconds."""
        seconds = self._next
        self._next = min(self._next * 2, self._most)
        return seconds * random.uniform(0.75, 1.25)
