"""Callers that wait for messages and are woken."""

from __future__ import annotations

from ..database.waiting import Asks, Idle
from ..database.waking import Waking
from .tasks import AsyncFlag


class AsyncWaiter:
    """Waits for messages. Any thread may wake it."""

    def __init__(self, waking: Waking | None = None) -> None:
        self._waking = waking
        self._wake = AsyncFlag()
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

    async def sleep(self, seconds: float) -> None:
        """Sleep until that time, or until somebody calls ``wake``."""
        if await self._wake.wait(seconds):
            self._wake.clear()
