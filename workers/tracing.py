"""Spans of what workers receive and settle. A burst that nobody traces knows nothing of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from uuid import UUID

from ..engine import Message
from ..engine.errors import AttemptNeeded, ConsumerNotOpen
from ..engine.tracing.points import Unsettled, receiving
from .burst import Burst
from .guard import HandlerConnection

ANSWERED = (AttemptNeeded, ConsumerNotOpen)
"""What a worker answers by itself: no operation has failed."""


@contextmanager
def settled(connection: HandlerConnection, unsettled: Unsettled) -> Iterator[None]:
    """A transaction whose end is traced, with what was received in it."""
    block: Any = connection.block()
    block.__enter__()
    try:
        yield
    except BaseException as error:
        with unsettled.settling("rollback", connection=connection):
            swallowed = block.__exit__(type(error), error, error.__traceback__)
        if not swallowed:
            raise
    else:
        with unsettled.settling("commit", connection=connection):
            block.__exit__(None, None, None)


class TracedBurst:
    """A burst with spans: one for each batch that it receives, and one for each that it settles.

    A batch's commit and the next receive are one round trip, so both spans have its time.
    """

    def __init__(self, burst: Burst, connection: HandlerConnection, queue: str) -> None:
        self._burst = burst
        self._connection = connection
        self._queue = queue
        self._unsettled = Unsettled()

    @property
    def attempt_id(self) -> UUID | None:
        """As Burst's."""
        return self._burst.attempt_id

    @property
    def committed(self) -> bool:
        """As Burst's."""
        return self._burst.committed

    def transaction(self) -> Any:
        """As Burst's."""
        return settled(self._connection, self._unsettled)

    def receive(self, batch: int, *, commit: bool) -> list[Message]:
        """As Burst's."""
        before = self._unsettled.settling("commit", connection=self._connection) if commit else nullcontext()
        messages: list[Message] = []
        error: Exception | None = None
        with receiving(self._queue, connection=self._connection) as found:
            with before:
                try:
                    messages = found(self._burst.receive(batch, commit=commit))
                except Exception as raised:
                    if commit and not self._burst.committed:
                        raise
                    error = raised
            if error is not None and not isinstance(error, ANSWERED):
                raise error
        if error is not None:
            raise error
        self._unsettled.note(self._queue, messages)
        return messages
