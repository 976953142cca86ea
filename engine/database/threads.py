"""What sessions need of threads. ``aio.tasks`` has the same for asyncio, under names that begin with Async."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

#: A flag that any thread may set. Waiting callers then go on.
Flag = threading.Event
#: A lock that its holder may take again.
Lock = threading.RLock


def is_cancelled(error: BaseException) -> bool:
    """No thread is cancelled."""
    return False


def sleep(seconds: float) -> None:
    """Let that many seconds pass."""
    time.sleep(seconds)


class Background:
    """Something that runs beside its owner, on a thread that does not keep the process alive."""

    def __init__(self, name: str, run: Callable[[], None]) -> None:
        self._name = name
        self._run = run
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, unless it runs."""
        if not self.is_alive():
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()

    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._thread is not None and self._thread.is_alive()

    def is_current(self) -> bool:
        """Whether it is the caller."""
        return self._thread is threading.current_thread()

    def join(self) -> None:
        """Wait for its end, unless it is the caller or never began."""
        if self._thread is not None and not self.is_current():
            self._thread.join()
