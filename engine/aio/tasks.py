"""What sessions need of asyncio's tasks. ``database.threads`` has the same for threads, under names without Async."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any


def is_cancelled(error: BaseException) -> bool:
    """Whether an error cancels the caller's own task, and not another task that it awaited."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


async def sleep(seconds: float) -> None:
    """Let that many seconds pass."""
    await asyncio.sleep(seconds)


class AsyncFlag:
    """A flag that any task and any thread may set. Waiting callers then go on."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        #: The loop in which somebody waits.
        self._loop = _running_loop()

    def set(self) -> None:
        """Let waiting callers go on."""
        loop = self._loop
        if loop is None or loop is _running_loop():
            self._event.set()
        else:
            loop.call_soon_threadsafe(self._event.set)

    def clear(self) -> None:
        """From now on, callers wait again."""
        self._event.clear()

    def is_set(self) -> bool:
        """Whether it is set."""
        return self._event.is_set()

    async def wait(self, seconds: float | None = None) -> bool:
        """Wait up to that long (None: no limit). Returns whether it is set."""
        self._loop = asyncio.get_running_loop()
        with suppress(TimeoutError):
            # Not wait_for: until Python 3.12 it loses a cancellation that comes together with the event.
            async with asyncio.timeout(seconds):
                await self._event.wait()
        return self._event.is_set()


class AsyncLock:
    """A lock that its holding task may take again."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._holder: asyncio.Task[Any] | None = None
        self._times = 0

    async def __aenter__(self) -> None:
        task = asyncio.current_task()
        if self._holder is not task:
            await self._lock.acquire()
            self._holder = task
        self._times += 1

    async def __aexit__(self, *error: object) -> None:
        self._times -= 1
        if self._times == 0:
            self._holder = None
            self._lock.release()


class AsyncBackground:
    """Something that runs beside its owner, as a task."""

    def __init__(self, name: str, run: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._name = name
        self._run = run
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, unless it runs."""
        if not self.is_alive():
            self._task = asyncio.get_running_loop().create_task(self._run(), name=self._name)

    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._task is not None and not self._task.done()

    def is_current(self) -> bool:
        """Whether it is the caller."""
        return self._task is asyncio.current_task()

    async def join(self) -> None:
        """Wait for its end, unless it is the caller or never began."""
        if self._task is not None and not self.is_current():
            await asyncio.wait([self._task])


def _running_loop() -> asyncio.AbstractEventLoop | None:
    """The caller's; None on a thread that has none."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
