"""A log file that rolls over by size and by age and keeps nine archives, also where several processes write to it."""

from __future__ import annotations

import fcntl
import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

ARCHIVES = 9
ROLLOVER_BYTES = 268_435_456
ROLLOVER_SECONDS = 604_800
"""Open MQ's size, and Sun ONE MQ's week."""

_TIME = re.compile(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)")
_LINE_MAX = 4096


class RolloverFile(RotatingFileHandler):
    """``log.txt`` is the newest, ``log_1`` the one before, ``log_9`` the oldest.

    A process holds the file's lock (flock) while it writes a line or rolls over. A process that then finds another file
    under the name takes that one, so no line is lost or split. The file must lie on the machine's own disk.
    """

    def __init__(
        self,
        filename: str | os.PathLike[str],
        maxBytes: int = ROLLOVER_BYTES,
        seconds: float = ROLLOVER_SECONDS,
        backupCount: int = ARCHIVES,
        encoding: str = "utf-8",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """maxBytes, seconds: when to roll over; 0 is never. A line longer than maxBytes has a file of its own."""
        super().__init__(filename, maxBytes=maxBytes, backupCount=backupCount, encoding=encoding, delay=True)
        self.seconds = seconds
        self.namer = self._archive
        self._clock = clock
        self._begun: tuple[int, float] | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, after a rollover if it is time for one."""
        try:
            length = len(self.format(record).encode(self.encoding or "utf-8", "replace")) + 1
            while True:
                with self._alone() as guard:
                    if not (self._is_due(guard, length) and self._roll_over()):
                        logging.FileHandler.emit(self, record)
                        return
        except Exception:  # noqa: BLE001 - of whatever class a formatter raises
            self.handleError(record)

    def _roll_over(self) -> bool:
        """Rename the files. Returns False if that is not allowed; the line then goes into the old file."""
        try:
            self.doRollover()
        except OSError:
            return False
        return True

    @contextmanager
    def _alone(self) -> Iterator[int]:
        """Hold the lock of the file that now has the name. Yields a descriptor that outlives the stream."""
        while True:
            if self.stream is None:  # delay: typeshed does not know it
                self.stream = self._open()
            guard = os.dup(self.stream.fileno())
            try:
                fcntl.flock(guard, fcntl.LOCK_EX)
                if self._is_current(guard):
                    yield guard
                    return
            finally:
                fcntl.flock(guard, fcntl.LOCK_UN)
                os.close(guard)
            self.stream.close()
            self.stream = None

    def _is_current(self, guard: int) -> bool:
        try:
            there = os.stat(self.baseFilename)
        except FileNotFoundError:
            return False
        mine = os.fstat(guard)
        return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)

    def _is_due(self, guard: int, length: int) -> bool:
        there = os.fstat(guard)
        if there.st_size == 0:
            return False
        if 0 < self.maxBytes < there.st_size + length:
            return True
        if self._begun is None or self._begun[0] != there.st_ino:
            self._begun = there.st_ino, _first_time(Path(self.baseFilename)) or there.st_mtime
        return 0 < self.seconds <= self._clock() - self._begun[1]

    def _archive(self, name: str) -> str:
        """``log_3`` for ``log.txt.3``."""
        path = Path(self.baseFilename)
        return str(path.with_name(f"{path.stem}_{name.rpartition('.')[2]}"))


def _first_time(path: Path) -> float | None:
    """When a file was begun: the time on its first line, which a restart does not change."""
    with path.open("rb") as file:
        found = _TIME.search(file.readline(_LINE_MAX))
    return None if found is None else datetime.fromisoformat(found[0].decode()).timestamp()
