"""What an idle receiver does between two looks at its queues: how long it sleeps, and when it asks to be woken.

Nothing here touches the database, so threads and asyncio share it. A look is: ``ask``, make that call and tell its
result to ``asked``; receive; if there was nothing, sleep for ``pause`` seconds or until woken.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable
from typing import Self

from .. import calls
from ..calls import Asked, Call
from ..errors import BadArgument
from .waking import Waking

PAUSE_MIN = 0.001
PAUSE_MAX = 0.25
PAUSE_UNSETTLED = 0.01
SHARE_UNSETTLED = 0.02
"""The longest pause, as a share of the time waited, while a transaction is open that may have sent before anybody asked
to be woken."""
ASK_FROM = 0.002
ASK_FROM_BUSY = 0.016
"""A receiver asks to be woken once it has slept 1 ms in vain. On a queue that seems busy, it sleeps 1, 2, 4 and 8 ms
first."""
WAITED_BUSY = 0.004
"""A queue seems busy to a receiver that waited for less than this the last time; at first it seems so."""
ASK_EVERY = 0.5
ASK_EVERY_UNSETTLED = 0.1
OPENS_SPREAD = 1.05
"""A receiver that waits for a rate comes when it leaves room, or up to so much later, so that not all come at once."""
ASKED_LASTS = 1.5
"""Senders heed a request for two seconds."""


def limit_of(seconds: float | None) -> float | None:
    """How long to wait at most. A time beyond any clock is no limit (None). Raises BadArgument for NaN."""
    if seconds is not None and math.isnan(seconds):
        raise BadArgument("NaN is no time to wait", "Give a number of seconds.")
    return None if seconds is None or seconds > threading.TIMEOUT_MAX else seconds


def _is_wildcard(queue: str) -> bool:
    """Whether a name stands for several queues. A subscription's name may contain a wildcard, but is a single place."""
    return ":" not in queue and ("*" in queue or ">" in queue)


class Asks:
    """What one receiver remembers from one wait to the next: what it asked for, and whether its queues seemed busy."""

    def __init__(self) -> None:
        self._asked: dict[str, tuple[Asked, float]] = {}
        self.busy = True

    def last(self, queue: str) -> tuple[Asked | None, float]:
        """The last request for the queue if senders still heed it, and when it was made."""
        asked, at = self._asked.get(queue, (None, -math.inf))
        return (asked, at) if time.monotonic() - at < ASKED_LASTS else (None, -math.inf)

    def add(self, queue: str, asked: Asked) -> None:
        """A request was made now."""
        self._asked[queue] = (asked, time.monotonic())


class Idle:
    """The waiting of one receiver, for one queue or several; ``wake`` ends its sleep, from any thread."""

    def __init__(
        self, waking: Waking | None, wake: Callable[[], object], wait: float | None = None, asks: Asks | None = None
    ) -> None:
        """wait: seconds until ``pause`` says that time is up; None: never. asks: shared by the receiver's waits."""
        self._waking = waking
        self._wake = wake
        self._asks = Asks() if asks is None else asks
        limit = limit_of(wait)
        self._deadline = math.inf if limit is None else time.monotonic() + limit
        self._next = PAUSE_MIN
        self._since = time.monotonic()
        self._asked: dict[str, Asked] = {}
        self._opens: dict[str, float] = {}

    def ask(self, queue: str, waiting: Callable[[str, int | None], Call[Asked]] = calls.wait) -> Call[Asked] | None:
        """What to call before looking at the queue, if anything. waiting: what asks to be woken for it.

        Nothing announces the messages of a wildcard.
        """
        if (
            self._waking is None
            or _is_wildcard(queue)
            or self._next < (ASK_FROM_BUSY if self._asks.busy else ASK_FROM)
            or not self._waking.ready()
        ):
            return None
        asked, at = self._asks.last(queue)
        if asked is not None:
            self._join(queue, asked)
        every = ASK_EVERY_UNSETTLED if asked is not None and asked.unsettled else ASK_EVERY
        if time.monotonic() - at < every and self._opens.get(queue, math.inf) > time.monotonic():
            return None
        return waiting(queue, asked.since if asked is not None else None)

    def asked(self, queue: str, asked: Asked) -> None:
        """The queue was asked for a wake-up, and when its rate leaves room again."""
        if asked.limited_for is None:
            self._opens.pop(queue, None)
        else:
            self._opens[queue] = time.monotonic() + asked.limited_for.total_seconds()
        self._asks.add(queue, asked)
        self._join(queue, asked)

    def _join(self, queue: str, asked: Asked) -> None:
        self._asked[queue] = asked
        if self._waking is not None:
            for payload in asked.payloads:
                self._waking.join(payload, self._wake)

    @property
    def is_over(self) -> bool:
        """Whether time is up."""
        return time.monotonic() >= self._deadline

    def pause(self) -> float | None:
        """Seconds to sleep after a look in vain, more from time to time; None when time is up.

        There is one look at the least and, unless time is up already, one when time is up.
        """
        left = self._deadline - time.monotonic()
        if left <= 0:
            return None
        most = PAUSE_MAX
        if any(asked.unsettled for asked in self._asked.values()):
            most = max(PAUSE_UNSETTLED, SHARE_UNSETTLED * (time.monotonic() - self._since))
        pause = min(self._next, most, PAUSE_MAX) * random.uniform(0.75, 1.25)
        self._next = min(self._next * 2, PAUSE_MAX)
        now = time.monotonic()
        opens = min((at - now for at in self._opens.values() if at > now), default=math.inf)
        pause = min(pause, max(opens, PAUSE_MIN) * random.uniform(1, OPENS_SPREAD))
        return min(pause, left)

    def found(self) -> None:
        """There was a message."""
        self._asks.busy = self._next == PAUSE_MIN or time.monotonic() - self._since < WAITED_BUSY
        self.reset()

    def reset(self) -> None:
        """Waiting is over."""
        self._next = PAUSE_MIN
        self._since = time.monotonic()
        for asked in self._asked.values():
            if self._waking is not None:
                for payload in asked.payloads:
                    self._waking.leave(payload, self._wake)
        self._asked.clear()
        self._opens.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.reset()
