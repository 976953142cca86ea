"""Replay at a rate. Each batch is a committed transaction, so that a replay can be stopped at any time."""

from __future__ import annotations

import math
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import output

if TYPE_CHECKING:
    from ..engine import Admin
    from ..engine.calls.poison import Which

#: Batches a second at most; a slower rate replays message by message.
BATCHES_A_SECOND = 10
PAGE = 10000


class Paced:
    """Replays what was dead at its start, so that a message that dies again is not replayed in a circle."""

    def __init__(
        self,
        admin: Admin,
        queue: str,
        ids: list[int] | None,
        number: int | None,
        rate: float,
        target: str | None,
        reason: str | None,
        which: Which,
    ) -> None:
        self._admin = admin
        self._queue = queue
        self._ids = ids
        self._rate = rate
        self._more: dict[str, Any] = {"target": target, "reason": reason}
        self._which = which
        if ids is None:
            now = admin.now()
            which["older_than"] = min(now, which.get("older_than") or now)
        self._batch = math.ceil(rate / BATCHES_A_SECOND)
        self._total = self._count(number)
        self._done = 0
        self._underway = 0

    def run(self) -> int:
        """Replay all and return how many. An error or Ctrl-C reports how many were replayed before it; they stay so.

        Ctrl-C waits for the current batch, so that the number is true. A second Ctrl-C does not wait, because the batch
        may be waiting for a lock. The report then says that the number may be too small.
        """
        started = time.monotonic()
        try:
            with _progress(self._total) as show:
                while self._done < self._total:
                    time.sleep(max(started + self._done / self._rate - time.monotonic(), 0))
                    with _to_its_end():
                        self._underway = min(self._batch, self._total - self._done)
                        replayed = self._replay(self._underway)
                        self._done += replayed
                        self._underway = 0
                    if not replayed:
                        break  # the rest is gone, or in somebody's hands
                    show(self._done)
        except BaseException as error:
            if self._done or isinstance(error, KeyboardInterrupt):
                perhaps = isinstance(error, KeyboardInterrupt) and self._underway
                more = f", and perhaps {self._underway} more" if perhaps else ""
                said = f"{self._done} of {self._total} messages were replayed before{more}"
                print(f"howdah: stopped: {said}", file=sys.stderr)
            raise
        return self._done

    def _replay(self, number: int) -> int:
        if self._ids is not None:
            return self._admin.replay(self._queue, self._ids[self._done : self._done + number], **self._more)
        return self._admin.replay(self._queue, max_messages=number, **self._more, **self._which)

    def _count(self, number: int | None) -> int:
        if self._ids is not None:
            return len(self._ids)
        count, after = 0, None
        while number is None or count < number:
            page = self._admin.list_poison(self._queue, max_rows=PAGE, after=after, **self._which)
            count += len(page)
            if len(page) < PAGE:
                break
            after = page[-1]["position"]
        return count if number is None else min(count, number)


@contextmanager
def _to_its_end() -> Iterator[None]:
    """Raise the KeyboardInterrupt of a Ctrl-C after the block, and that of a second one at once."""
    asked = False

    def ask(*_: object) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, before)
        print("howdah: stopping after this batch; Ctrl-C again does not wait for it", file=sys.stderr)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if asked:
        raise KeyboardInterrupt


@contextmanager
def _progress(total: int) -> Iterator[Any]:
    """Show a bar on stderr if that is a terminal. Yields the function to call with the number replayed."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    console = output.console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("replay", total=total)
        yield lambda done: progress.update(task, completed=done)
