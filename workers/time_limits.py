"""Time limits of handlers: a thread of the process watches the handlers that have one.

A thread cannot be ended from outside. A handler's SQL is cancelled, and an async handler at its next await. A handler
that goes on all the same is reported. The process then ends itself once its other sessions have finished what they
have in hand, or after a grace period.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

import psycopg

from ..engine import HowdahError, is_innocent
from . import events
from .guard import HandlerConnection

GRACE_SECONDS = 5.0
"""Seconds that a handler may go on after its limit, and that the other sessions then have, before the process ends."""
TICK_SECONDS = 0.05
AGAIN_SECONDS = 1.0
CANCEL_SECONDS = 2.0
ARRIVAL_SECONDS = 0.05
"""A cancel request has no answer, and a late one must not hit the worker's next statement. Idle sessions ignore it."""


class HandlerTimeout(HowdahError):
    """The handler took longer than its time limit."""


class Watched:
    """One call of a handler. As a context it raises HandlerTimeout if the call took longer than its limit."""

    def __init__(self, limits: Limits, slot: int, connection: HandlerConnection, seconds: float) -> None:
        self.slot = slot
        self.seconds = seconds
        self.ends = 0.0
        self._limits = limits
        self._connection = connection
        self._lock = threading.Lock()
        self._over = False
        self._cancel_at = 0.0
        self._cancelled = False

    def __enter__(self) -> None:
        self.ends = time.monotonic() + self.seconds
        self._limits.begin(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        with self._lock:
            self._over = True
        self._limits.end(self)
        late = time.monotonic() - self.ends
        if (late < 0 and not self._cancelled) or self._connection.closed:
            return
        if self._cancelled:
            time.sleep(ARRIVAL_SECONDS)
        took = HandlerTimeout(
            f"the handler took {self.seconds + late:.1f} s, longer than its time limit of {self.seconds:g} s"
        )
        # An innocent error must not excuse this message.
        raise took from (None if error is None or is_innocent(error) else error)

    def cancel(self, now: float) -> bool:
        """Cancel the handler's statement, if it runs one. Returns whether this was the first time."""
        with self._lock:
            if self._over or now < self._cancel_at:
                return False
            first, self._cancelled, self._cancel_at = not self._cancelled, True, now + AGAIN_SECONDS
            if (interrupt := self._connection.interrupt) is not None:
                with suppress(RuntimeError):  # its loop has just ended
                    interrupt()
            with suppress(psycopg.Error):
                self._connection.cancel_safe(timeout=CANCEL_SECONDS)
            return first


class Limits:
    """The handlers of one process that have a time limit, while they run."""

    def __init__(
        self,
        worker: str,
        stuck: Callable[[int], None],
        *,
        default: float | None = None,
        grace: float = GRACE_SECONDS,
    ) -> None:
        """stuck: called with the slot of a session whose handler never ends. default: limit of handlers without one."""
        self._worker = worker
        self._stuck = stuck
        self.default = default
        self._grace = grace
        self._running: dict[int, Watched] = {}
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._closed = threading.Event()

    def close(self) -> None:
        """End the thread. No handler is watched any more."""
        self._closed.set()

    def watched(self, slot: int, connection: HandlerConnection, own: float | None) -> Watched | None:
        """Return the context to call a handler in, or None if it has no limit."""
        seconds = self.default if own is None else own
        return None if seconds is None else Watched(self, slot, connection, seconds)

    def begin(self, watched: Watched) -> None:
        """Note that a handler is called."""
        self._running[watched.slot] = watched
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._watch, name="time limits", daemon=True)
                    self._thread.start()

    def end(self, watched: Watched) -> None:
        """Note that it has ended."""
        self._running.pop(watched.slot, None)

    def stuck(self) -> list[int]:
        """Return the slots of sessions whose handlers are over their limit and the grace."""
        now = time.monotonic()
        return [slot for slot, watched in list(self._running.items()) if now > watched.ends + self._grace]

    def _watch(self) -> None:
        while not self._closed.wait(TICK_SECONDS):
            now = time.monotonic()
            for slot, watched in list(self._running.items()):
                if now < watched.ends:
                    continue
                if watched.cancel(now):
                    events.handler_over_time(f"{self._worker}/{slot}", watched.seconds)
                if now > watched.ends + self._grace:
                    self._stuck(slot)
