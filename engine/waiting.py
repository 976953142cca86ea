"""What an idle receiver does between two looks at its queues: how long it sleeps, and when it asks to be woken.

Nothing here touches the database, so that threads and asyncio share it. A look is: ``ask``, make that call and tell its result
to ``asked``; receive; if there was nothing, sleep for ``pause`` seconds or until woken.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from typing import Self

from . import calls
from .calls import Asked, Call
from .waking import Waking

PAUSE_MIN = 0.001
PAUSE_MAX = 0.25
PAUSE_UNSETTLED = 0.01
SHARE_UNSETTLED = 0.02
"""While a transaction is open that may have sent before anybody asked to be woken: so much of the time waited."""
ASK_FROM = 0.016
"""Who has slept 1, 2, 4 and 8 ms in vain asks to be woken: a receiver of a busy queue never does."""
ASK_EVERY = 0.5
ASK_EVERY_UNSETTLED = 0.1


class Idle:
    """The waiting of one receiver, for one queue or several; ``wake`` ends its sleep, from any thread."""

    def __init__(self, waking: Waking | None, wake: Callable[[], object], wait: float | None = None) -> None:
        """wait: seconds until ``pause`` says that time is up; None: never."""
        self._waking = waking
        self._wake = wake
        self._deadline = math.inf if wait is None else time.monotonic() + wait
        self._next = PAUSE_MIN
        self._since = time.monotonic()
        self._asked: dict[str, tuple[Asked, float]] = {}

    def ask(self, queue: str) -> Call[Asked] | None:
        """What to call before looking at the queue, if anything."""
        if self._waking is None or self._next < ASK_FROM or not self._waking.ready():
            return None
        asked, at = self._asked.get(queue, (None, -math.inf))
        if asked is not None:
            self._waking.join(asked.payload, self._wake)
        if time.monotonic() - at < (ASK_EVERY_UNSETTLED if asked is not None and asked.unsettled else ASK_EVERY):
            return None
        return calls.wait(queue, asked.since if asked is not None else None)

    def asked(self, queue: str, asked: Asked) -> None:
        """The queue was asked for a wake-up."""
        self._asked[queue] = (asked, time.monotonic())
        if self._waking is not None:
            self._waking.join(asked.payload, self._wake)

    def pause(self) -> float | None:
        """Seconds to sleep after a look in vain, more from time to time; None when time is up.

        There is one look at the least and, unless time is up already, one when time is up.
        """
        left = self._deadline - time.monotonic()
        if left <= 0:
            return None
        most = PAUSE_MAX
        if any(asked.unsettled for asked, _ in self._asked.values()):
            most = max(PAUSE_UNSETTLED, SHARE_UNSETTLED * (time.monotonic() - self._since))
        pause = min(self._next, most, PAUSE_MAX) * random.uniform(0.75, 1.25)
        self._next = min(self._next * 2, PAUSE_MAX)
        return min(pause, left)

    def reset(self) -> None:
        """There was a message, or waiting is over: ask no longer."""
        self._next = PAUSE_MIN
        self._since = time.monotonic()
        for asked, _ in self._asked.values():
            if self._waking is not None:
                self._waking.leave(asked.payload, self._wake)
        self._asked.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.reset()
