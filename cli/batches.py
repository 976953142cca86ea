"""Send lines in batches, each a committed transaction, so that line numbers always tell what was sent."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import psycopg

from ..engine import Session
from ..engine.errors import BadArgument, BadPriority, BodyTooLarge, HowdahError
from .lines import BrokenLineError, Line

#: A batch ends early here: it lies in memory, ours and the server's.
BATCH_BYTES_MAX = 16 * 1024 * 1024

#: Errors that a line can be guilty of; others concern them all.
BLAMED = (BadArgument, BadPriority, BodyTooLarge, psycopg.DataError)


@dataclass(frozen=True)
class Outcome:
    """The number of messages sent, and the last line that is done."""

    sent: int
    last_line: int


class Sender:
    """Sends lines in order. ``message`` holds options of ``calls.send`` for a line, ``common`` those for a batch."""

    def __init__(
        self,
        session: Session,
        queue: str,
        message: dict[str, Any],
        common: dict[str, Any],
        *,
        batch: int,
        start: int,
        sent: Callable[[int], object],
    ) -> None:
        self._session = session
        self._queue = queue
        self._message = message
        self._common = common
        self._batch = batch
        self._start = start
        self._tell = sent
        self._sent = 0
        self._done = start - 1  # last line that is committed or empty
        self._committing: list[Line] = []

    def send_all(self, lines: Iterable[Line]) -> Outcome:
        """Send every line. An error names the broken line and the last line sent; no line after that was sent."""
        try:
            for batch in self._batches(lines):
                self._send(batch)
        except BrokenLineError as broken:
            raise self._error(f"line {broken.number}: {broken}") from broken
        except (HowdahError, psycopg.Error) as error:
            if self._sent == 0 and not self._committing:
                raise
            raise self._error(str(error)) from error
        except KeyboardInterrupt:
            print(f"howdah: interrupted: {self._account()}", file=sys.stderr)
            raise
        return Outcome(self._sent, self._done)

    def _batches(self, lines: Iterable[Line]) -> Iterator[list[Line]]:
        """Yield lines in batches. At a broken line, yields the lines before it, then raises the error."""
        batch: list[Line] = []
        size = 0
        try:
            for line in lines:
                batch.append(line)
                size += line.size
                if len(batch) >= self._batch or size >= BATCH_BYTES_MAX:
                    yield batch
                    batch, size = [], 0
        except BrokenLineError as broken:
            yield batch
            self._done = broken.number - 1
            raise
        yield batch

    def _send(self, batch: list[Line]) -> None:
        """Send one transaction. If the server refuses a line, sends the lines before it and raises BrokenLineError."""
        if not batch:
            return
        try:
            self._put(batch)
        except BLAMED:
            self._session.rollback()
            self._find_guilty(batch)
        self._commit(batch)

    def _find_guilty(self, batch: list[Line]) -> None:
        """Send line by line to find the one that the server refuses, then send the lines before it for good."""
        for index, line in enumerate(batch):
            try:
                self._put([line])
            except BLAMED as error:
                self._session.rollback()
                if before := batch[:index]:
                    self._put(before)
                    self._commit(before)
                self._done = line.number - 1
                raise BrokenLineError(line.number, str(error)) from error

    def _put(self, batch: list[Line]) -> None:
        for (_, reply_to, content_type), group in groupby(batch, key=lambda line: line.kind):
            lines = list(group)
            options = [{**self._message, **line.options} for line in lines]
            self._session.send_many(
                self._queue,
                [line.body for line in lines],
                headers=[option["headers"] for option in options],
                priorities=[option["priority"] for option in options],
                correlation_ids=[option["correlation_id"] for option in options],
                message_types=[option["message_type"] for option in options],
                conversation_ids=[option.get("conversation_id") for option in options],
                reply_to=self._message["reply_to"] if reply_to is None else reply_to,
                content_type=self._message["content_type"] if content_type is None else content_type,
                **self._common,
            )

    def _commit(self, batch: list[Line]) -> None:
        self._committing = batch
        self._session.commit()
        self._committing = []
        self._sent += len(batch)
        self._done = batch[-1].number
        self._tell(self._sent)

    def _account(self) -> str:
        """Say which lines were sent and how to continue."""
        sent = f"lines {self._start} to {self._done} were sent" if self._done >= self._start else "no line was sent"
        if self._committing:
            first, last = self._committing[0].number, self._committing[-1].number
            return f"{sent}; whether lines {first} to {last} were is not known"
        return f"{sent}, none from line {self._done + 1} on; go on with --from-line {self._done + 1}"

    def _error(self, reason: str) -> HowdahError:
        return HowdahError(f"{reason} ({self._account()})")
