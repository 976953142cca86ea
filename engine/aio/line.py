"""The consumers of one queue that wait for the same notifications."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from ..calls import Asked
from ..database.waiting import PAUSE_MIN


class Served(Protocol):
    """A consumer, as its waker knows it."""

    @property
    def queue(self) -> str:
        """What it receives from."""

    async def deliver(self, found: Callable[[], None]) -> bool:
        """Handle one message if there is one, calling ``found`` first. It never raises."""


class AsyncLine:
    """Wakes the consumer that has waited longest. One that finds a message wakes the next: there may be more."""

    def __init__(self, queue: str, changed: Callable[[AsyncLine], None]) -> None:
        """changed: called when consumers wait again, after messages came."""
        self.queue = queue
        self._changed = changed
        self._members: set[Served] = set()
        self._waiting: dict[Served, None] = {}
        self._serving: dict[Served, asyncio.Task[None]] = {}
        #: A wake-up came while nobody waited.
        self._again = False
        #: The pause until the next look. It grows while nothing comes.
        self.pause = PAUSE_MIN
        #: When the next look is. None: not planned.
        self.at: float | None = None
        #: When a consumer was last woken.
        self.looked_at = 0.0
        self.asked: Asked | None = None
        self.asked_at = 0.0
        self.payloads: list[str] = []
        self.unsettled_since: float | None = None

    @property
    def members(self) -> int:
        """How many consumers there are."""
        return len(self._members)

    @property
    def waits(self) -> bool:
        """Whether a consumer waits."""
        return bool(self._waiting)

    def add(self, consumer: Served) -> None:
        """Add one waiting consumer."""
        self._members.add(consumer)
        self._waiting[consumer] = None
        self._changed(self)

    async def remove(self, consumer: Served) -> None:
        """Remove a consumer. It finishes a message in hand first."""
        self._members.discard(consumer)
        self._waiting.pop(consumer, None)
        task = self._serving.get(consumer)
        if task is not None and task is not asyncio.current_task():
            await asyncio.wait([task])

    def wake(self) -> None:
        """Have one consumer look, at once or as soon as one has time."""
        self.looked_at = time.monotonic()
        if not self._waiting:
            self._again = bool(self._serving)
            return
        consumer = next(iter(self._waiting))
        del self._waiting[consumer]
        self._serving[consumer] = asyncio.get_running_loop().create_task(self._serve(consumer))

    def _found(self) -> None:
        self.pause = PAUSE_MIN
        if self._waiting:
            self.wake()

    async def _serve(self, consumer: Served) -> None:
        try:
            while await consumer.deliver(self._found) or self._again:
                self._again = False
        finally:
            del self._serving[consumer]
            if consumer in self._members:
                self._waiting[consumer] = None
                self._changed(self)
