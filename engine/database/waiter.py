# Written by tools/make_sync.py from engine/aio/waiter.py: change that, and run make sync.
"""Callers that wait for messages and are woken."""

from __future__ import annotations

from .threads import Flag
from .waiting import Asks, Idle
from .waking import Waking


class Waiter:
    """Waits for messages. Any thread may wake it."""

    def __init__(self, waking: Waking | None = None) -> None:
        self._waking = waking
        self._wake = Flag()
        self._asks = Asks()

    def share(self, waking: Waking | None, asks: Asks) -> None:
        """Be woken by that, and share with others what was asked for."""
        self._waking, self._asks = waking, asks

    def idle(self, wait: float | None = None) -> Idle:
        """Return its wait, of up to that many seconds. None: no limit."""
        return Idle(self._waking, self.wake, wait, self._asks)

    def wake(self) -> None:
        """Have it look again at once."""
        self._wake.set()

    def sleep(self, seconds: float) -> None:
        """Sleep until that time, or until somebody calls ``wake``."""
        if self._wake.wait(seconds):
            self._wake.clear()
