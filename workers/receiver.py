"""A session's receiver of one queue: its seat, what it has in hand, and what becomes of failures."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from ..engine import Call, Message, calls
from ..engine.database.runner import run
from ..engine.database.waiting import Idle
from ..engine.errors import ConsumerRefused
from ..engine.sessions.seat import Seat
from . import events
from .app import Binding
from .batch_mode import BatchMode, Blamed
from .calling import Calling
from .figures import Tally
from .guard import HandlerConnection
from .home import Home
from .in_hand import Hands
from .pace import Pace
from .recorder import Record
from .time_limits import Limits
from .transaction import Transaction

T = TypeVar("T")


SEAT_SECONDS = 10.0
"""Seconds until a silent session without a transaction counts as gone. An idle one asks several times a second."""


class Receiver:
    """Receives one queue over one connection, for the delivery that stands on it."""

    #: The listener to receive through. None: the queue is received directly.
    _listener: str | None = None

    def __init__(
        self,
        binding: Binding,
        queue_index: int,
        *,
        worker: str,
        hands: Hands,
        slot: int,
        record: Record,
        stopping: Callable[[], bool] = lambda: False,
        idle: Idle | None = None,
        limits: Limits | None = None,
        home: Home | None = None,
    ) -> None:
        self.queue = binding.queue
        self._binding = binding
        self._queue_index = queue_index
        self._worker = worker
        self._hands = hands
        self._slot = slot
        self._record = record
        self._stopping = stopping
        self._pace = Pace(binding.batch)
        self._idle = idle
        self._mode = BatchMode.TOGETHER
        self._singly_left = 0
        self._connection: HandlerConnection | None = None
        self._seat = Seat(self._alone, binding.queue, SEAT_SECONDS, instance=None if home is None else home.name)
        #: The counts of the queue. Whoever runs the delivery counts handled and failed.
        self.tally = Tally(binding.queue, None if binding.listener is None else binding.listener.name)
        self._calling = Calling(
            binding, queue_index, worker=worker, hands=hands, slot=slot, limits=limits, tally=self.tally
        )

    @property
    def _handle(self) -> Callable[[Message, Transaction], None]:
        """What calls the handler. Raises Blamed if the message is to blame, else the innocent error itself."""
        return self._calling.call

    def leave(self, connection: HandlerConnection) -> None:
        """Close what the ending session has opened for the queue."""
        self._connection = connection
        if not connection.closed:
            self._seat.leave()

    def _is_seated(self) -> bool:
        """Open a consumer. Returns False if the queue takes only one and has it."""
        try:
            return self._seat.take() is not None
        except ConsumerRefused:
            self._seat.lost()
            return False

    def _alone(self, call: Call[T]) -> T:
        """Run a call in its own transaction."""
        assert self._connection is not None
        with self._connection.transaction():
            return run(self._connection, call)

    def _hold(self, messages: list[Message]) -> list[Message]:
        self._hands.hold(self._slot, self._queue_index, len(messages))
        if messages and self._idle is not None:
            self._idle.found()
        return messages

    def _singly(self, messages: int) -> None:
        self._mode, self._singly_left = BatchMode.SINGLY, messages

    def _count_singly(self, messages: int) -> None:
        if self._mode is BatchMode.SINGLY:
            self._singly_left -= max(messages, 1)
            if self._singly_left <= 0:
                self._mode = BatchMode.TOGETHER

    def _cancel(self, connection: HandlerConnection, attempt_id: UUID | None) -> None:
        """Take back the attempt at a blameless message of a hardened queue. It counts if the connection is lost."""
        if self._mode is BatchMode.HARDENED and attempt_id is not None and not connection.closed:
            with connection.transaction():
                run(connection, calls.cancel_attempt(self._binding.queue, attempt_id))

    def _count(self, blamed: list[Blamed], *, in_hand: bool) -> list[Message]:
        """Record failures on another connection; only then does the supervisor stop watching over the message.

        Returns the messages whose failures were counted in hand and that do not simply go back to their place.
        """
        outcomes: dict[int, str] = {}
        if blamed:
            incidents = self._record(self._binding.queue, [one.failure for one in blamed], in_hand)
            outcomes = {incident.message_id: incident.outcome for incident in incidents}
        self._hands.leave(self._slot)
        if not in_hand:
            return []
        back = ("returned", "held", "gone")
        return [one.message for one in blamed if outcomes.get(one.message.message_id, "returned") not in back]

    def _lost(self, blamed: Blamed) -> None:
        self._count([blamed], in_hand=False)

    def _settle(self, connection: HandlerConnection, messages: list[Message]) -> None:
        """Apply the queue's policy after a rollback. If the connection is lost, the next receive applies the limit."""
        if messages and not connection.closed:
            with connection.transaction():
                run(connection, calls.settle_failures(self._binding.queue, messages))

    def _commit_failed(self, messages: list[Message], error: BaseException) -> int:
        """After a failed commit, blame a single message, or try each of several alone. Returns how many failed."""
        if len(messages) > 1:
            events.retried(self._worker, self._binding.queue, error)
            self._singly(len(messages))
            return 0
        now = time.monotonic()
        self._hands.take(self._slot, self._queue_index, messages[0], now, self._calling.attempt_id)
        self._count([Blamed(messages[0], self._calling.failure(messages[0], error, now))], in_hand=False)
        self._count_singly(1)
        return 1
