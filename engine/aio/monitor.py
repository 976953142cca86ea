"""One listening connection, and the consumers that it serves: it knows which of them have something to receive.

Its work goes by the queues that are waited for and by the messages that come. Idle consumers cost nothing.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

import psycopg

from ..calls.receiving import Looked
from ..database.hearing import Hearing
from ..database.waiting import (
    ASK_FROM_BUSY,
    ASKED_LASTS,
    PAUSE_MAX,
    PAUSE_MIN,
    PAUSE_UNSETTLED,
    SHARE_UNSETTLED,
)
from ..errors import HowdahError
from .line import AsyncLine, Served

log = logging.getLogger("howdah.listener")

AT_ONCE = 100
"""Queues that one statement asks for: some milliseconds of a connection."""
PAUSE_MANY = 0.005
"""Seconds between two questions for a queue, times the number of queues. It limits their share of a connection's
time."""
PAUSE_LONGEST = 0.8
"""Senders heed a question for at least a second."""
PAUSE_RECEIVE = 2.0
"""Seconds between two receives from a queue that seems empty, or more with many queues: what came back may lie far."""
PAUSE_FAILING = 2.0

Ask = Callable[[Mapping[str, int | None]], Awaitable[dict[str, Looked]]]


class AsyncMonitor:
    """Wakes a consumer of a queue when there may be a message for it."""

    def __init__(self, conninfo: str, ask: Ask) -> None:
        """ask: runs ``wait_many``."""
        self._ask = ask
        self._loop = asyncio.get_running_loop()
        self._hearing = Hearing(conninfo, self._heard)
        self._lines: dict[str, AsyncLine] = {}
        self._by_payload: dict[str, set[AsyncLine]] = {}
        self._due: list[tuple[float, int, AsyncLine]] = []
        self._numbers = itertools.count()
        self._nudged = asyncio.Event()
        self._tending: asyncio.Task[None] | None = None
        self._closed = False
        self.consumers = 0

    # -- its consumers --------------------------------------------------------------------------------------------

    def add(self, consumer: Served) -> AsyncLine:
        """Serve one more consumer. Returns the line in which it waits with the others of its queue."""
        line = self._lines.get(consumer.queue)
        if line is None:
            line = self._lines[consumer.queue] = AsyncLine(consumer.queue, self._changed)
        self.consumers += 1
        line.add(consumer)
        if self._tending is None:
            self._tending = self._loop.create_task(self._tend(), name="howdah-monitor")
        return line

    async def remove(self, consumer: Served) -> None:
        """Stop serving a consumer, once it has handled the message in hand."""
        line = self._lines[consumer.queue]
        self.consumers -= 1
        await line.remove(consumer)
        if line.members == 0 and self._lines.pop(consumer.queue, None) is line:
            line.at = None
            for payload in line.payloads:
                self._by_payload.get(payload, set()).discard(line)

    async def close(self) -> None:
        """Close the listening connection."""
        # The pool may lose a cancellation, because it uses asyncio.wait_for; the flag then ends the task.
        self._closed = True
        if self._tending is not None:
            self._tending.cancel()
            with suppress(asyncio.CancelledError):
                await self._tending
        await asyncio.to_thread(self._hearing.release)

    # -- what it hears --------------------------------------------------------------------------------------------

    def _heard(self, payload: str | None) -> None:
        """On the listening connection's thread."""
        if payload is None or payload in self._by_payload:
            with suppress(RuntimeError):  # the loop was closed
                self._loop.call_soon_threadsafe(self._told, payload)

    def _told(self, payload: str | None) -> None:
        if payload is not None:
            for line in self._by_payload.get(payload, ()):
                line.wake()
            return
        for line in self._lines.values():  # nothing else would announce what comes now
            self._schedule(line, 0)

    # -- what it asks ---------------------------------------------------------------------------------------------

    def _changed(self, line: AsyncLine) -> None:
        """Plan the look of a line whose consumers wait again."""
        self._schedule(line, line.pause)

    def _schedule(self, line: AsyncLine, pause: float) -> None:
        at = time.monotonic() + pause
        if line.members and (line.at is None or at < line.at):
            line.at = at
            heapq.heappush(self._due, (at, next(self._numbers), line))
            if self._due[0][2] is line:
                self._nudged.set()

    def _next(self) -> tuple[list[AsyncLine], float | None]:
        """Return the lines that are due. If none is, also return the seconds until the next one."""
        now = time.monotonic()
        due: list[AsyncLine] = []
        while self._due and len(due) < AT_ONCE:
            at, _, line = self._due[0]
            if line.at == at and at > now:
                return due, at - now
            heapq.heappop(self._due)
            if line.at == at:
                line.at = None
                if line.waits:
                    due.append(line)
        return due, None

    async def _tend(self) -> None:
        while not self._closed:
            self._nudged.clear()
            listens = self._hearing.ready()
            due, pause = self._next()
            asked = [line for line in due if line.pause >= ASK_FROM_BUSY and (listens or line.pause >= PAUSE_MAX)]
            for line in due:
                if line not in asked:
                    line.wake()
                    self._put_off(line)
            if asked:
                await self._look(asked)
            if not due:
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._nudged.wait()

    async def _look(self, lines: list[AsyncLine]) -> None:
        """Ask for the lines' queues in one statement, or one by one if one of them fails."""
        try:
            answers = await self._ask({line.queue: self._since(line) for line in lines})
        except (HowdahError, psycopg.Error) as error:
            if len(lines) > 1:
                for line in lines:
                    await self._look([line])
                return
            log.warning("consumers of %s wait on after %s: %s", lines[0].queue, type(error).__name__, error)
            self._schedule(lines[0], PAUSE_FAILING)
            return
        for line in lines:
            self._answered(line, answers[line.queue])
            self._put_off(line)

    def _since(self, line: AsyncLine) -> int | None:
        asked = line.asked
        return asked.since if asked is not None and time.monotonic() - line.asked_at < ASKED_LASTS else None

    def _answered(self, line: AsyncLine, looked: Looked) -> None:
        now = time.monotonic()
        for payload in looked.asked.payloads:
            self._by_payload.setdefault(payload, set()).add(line)
        line.payloads = looked.asked.payloads
        line.asked, line.asked_at = looked.asked, now
        if not looked.asked.unsettled:
            line.unsettled_since = None
        elif line.unsettled_since is None:
            line.unsettled_since = now
        # A receive also finds messages the answer missed.
        if not looked.empty or now - line.looked_at > max(PAUSE_RECEIVE, PAUSE_MANY * len(self._lines)):
            line.wake()

    def _put_off(self, line: AsyncLine) -> None:
        """Look at a line again later, and more rarely from time to time."""
        longest = min(max(PAUSE_MAX, PAUSE_MANY * len(self._lines)), PAUSE_LONGEST)
        pause = line.pause
        line.pause = min(max(line.pause, PAUSE_MIN) * 2, longest)
        if line.unsettled_since is not None and pause >= ASK_FROM_BUSY:
            waited = time.monotonic() - line.unsettled_since
            pause = min(max(PAUSE_UNSETTLED, SHARE_UNSETTLED * waited, PAUSE_MANY * len(self._lines) / 10), longest)
        self._schedule(line, pause)
