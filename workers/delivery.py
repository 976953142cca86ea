"""Handle a batch of messages: receive, handle, commit. After an error, roll back and record the failure outside.

The failure is recorded on another connection while the receiving transaction still holds the message. So nobody can
receive it before the failure counts, and no message is delivered more often than its limit. (A killed worker's message
is free before its supervisor can record anything.)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar
from uuid import UUID

import psycopg

from ..engine import Call, Message, calls, is_innocent
from ..engine.database.runner import run
from ..engine.database.waiting import Idle
from ..engine.errors import AttemptNeeded, ConsumerNotOpen, ConsumerRefused
from ..engine.sessions.seat import Seat
from ..engine.tracing.points import Unsettled, receiving
from ..engine.tracing.switch import current
from . import events
from .app import Binding
from .batch_mode import APART_MAX, Blamed, Done, Way
from .burst import DONE, SAVE, SAVE_NEXT, UNDO, Burst
from .calling import Calling
from .figures import Tally
from .guard import HandlerConnection
from .handover import Handover, handed_over
from .hardened import HardenedBurst
from .home import Home
from .in_hand import Hands
from .limits import Limits
from .logs import IN_HAND
from .pace import Pace
from .recorder import Record
from .tracing import TracedBurst, settled
from .transaction import Transaction

T = TypeVar("T")


SEAT_SECONDS = 10.0
"""Seconds until a silent session without a transaction counts as gone. An idle one asks several times a second."""
BURST_SECONDS = 0.1
"""Seconds after which the session's other queues have their turn."""


class Delivery:
    """Delivers one queue's messages to its handlers over one connection, one batch at a time."""

    #: The listener that the queue is received through; None: straight from the queue.
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
        self._way = Way.TOGETHER
        self._singly_left = 0
        self._connection: HandlerConnection | None = None
        self._seat = Seat(self._alone, binding.queue, SEAT_SECONDS, instance=None if home is None else home.name)
        #: What is counted of the queue; handled and failed by whoever runs the delivery.
        self.tally = Tally(binding.queue, None if binding.listener is None else binding.listener.name)
        self._calling = Calling(
            binding, queue_index, worker=worker, hands=hands, slot=slot, limits=limits, tally=self.tally
        )
        #: Calls the handler. Raises Blamed if the message is to blame, else the error that is not the message's fault.
        self._handle: Callable[[Message, Transaction], None] = self._calling.call

    def run_once(self, connection: HandlerConnection) -> Done:
        """Deliver what is there, for about a tenth of a second. If nothing was consumed, raises innocent errors."""
        connection.watch()
        self._connection = connection
        IN_HAND.set(self._calling.in_hand)
        self._calling.traced = current() is not None
        ask = self._idle.ask(self._binding.queue) if self._idle is not None else None
        if self._idle is not None and ask is not None:
            with connection.transaction():
                self._idle.asked(self._binding.queue, run(connection, ask))
        try:
            if self._way is Way.APART:
                return self._apart(connection)
            return self._together(connection)
        except AttemptNeeded:
            self._way = Way.HARDENED
            return self._together(connection)
        except ConsumerNotOpen:
            return self._together(connection) if self._is_seated() else Done()
        finally:
            self._hands.hold(self._slot, self._queue_index, 0)

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

    def _together(self, connection: HandlerConnection) -> Done:
        """Deliver batch after batch, until one is empty, one fails, or the time is up."""
        way, done = self._way, Done()
        kind = HardenedBurst if way is Way.HARDENED else Burst
        burst: Burst | TracedBurst = kind(connection, self._binding.queue, self._seat.number, self._listener)
        if isinstance(burst, Burst) and self._calling.traced:
            burst = TracedBurst(burst, connection, self._binding.queue)
        messages: list[Message] = []
        to_settle: list[Message] = []
        counted = False
        given: list[Message] = []
        given_up: UUID | None = None
        ends = time.monotonic() + BURST_SECONDS
        try:
            with burst.transaction():
                while True:
                    asked = time.monotonic()
                    messages = self._next(burst, messages, done)
                    if messages and self._stopping():
                        messages, given_up = [], self._calling.attempt_id
                        raise psycopg.Rollback
                    given = self._given(messages)
                    if given:
                        break
                    transaction = Transaction(connection, self._worker)
                    for message in messages:
                        try:
                            self._handle(message, transaction)
                        except Blamed as blamed:
                            if not connection.is_over:
                                connection.execute(UNDO, prepare=False)
                                with suppress(psycopg.errors.LockNotAvailable):
                                    counted, to_settle = True, self._count([blamed], in_hand=True)
                            raise
                    now = time.monotonic()
                    self._pace.note(len(messages), now - asked)
                    if not messages or now > ends or self._way is not way or self._stopping():
                        break
        except Blamed as blamed:
            if not counted:
                self._count([blamed], in_hand=False)
            self._settle(connection, to_settle)
            if way is Way.TOGETHER and self._pace.batch > 1:
                self._way = Way.APART
            self._count_singly(1)
            return Done(done.handled, 1)
        except Exception as error:
            if messages and isinstance(error, psycopg.Error) and not is_innocent(error):
                failed = self._commit_failed(connection, messages, error)
                return Done(done.handled, failed.failed)
            self._cancel(connection, self._calling.attempt_id)
            if len(messages) > 1 and not connection.closed:
                # What a lock holds up, say, must not hold up the rest of its batch each time that it is tried again.
                self._way = Way.APART
            if not done.handled:
                raise
            # Batches before it were committed; if it is still so, the next pass finds nothing else.
            events.retried(self._worker, self._binding.queue, error)
            return done
        if given:
            self._handover(connection, given, done)
        else:
            self._committed(messages, done)
            self._cancel(connection, given_up)
        return done

    def _given(self, messages: list[Message]) -> list[Message]:
        """Return best-effort messages, to be committed now and handled then. A mixed batch is received singly."""
        given = handed_over(messages)
        if len(given) not in (0, len(messages)):
            self._singly(len(messages))
            messages.clear()
            raise psycopg.Rollback
        return given

    def _singly(self, messages: int) -> None:
        self._way, self._singly_left = Way.SINGLY, messages

    def _handover(self, connection: HandlerConnection, given: list[Message], done: Done) -> None:
        """Handle what was consumed when it was received."""
        self._count_singly(len(given))
        Handover(self._calling, self._handle, self._lost, self._worker).run(connection, given, done)

    def _lost(self, blamed: Blamed) -> None:
        self._count([blamed], in_hand=False)

    def _cancel(self, connection: HandlerConnection, attempt_id: UUID | None) -> None:
        """Of a hardened queue: take back the attempt at a message that is not to blame. A lost connection's counts."""
        if self._way is Way.HARDENED and attempt_id is not None and not connection.closed:
            with connection.transaction():
                run(connection, calls.cancel_attempt(self._binding.queue, attempt_id))

    def _next(self, burst: Burst | TracedBurst, messages: list[Message], done: Done) -> list[Message]:
        """Commit the messages handled so far, if any, and receive the next. Empties ``messages``."""
        try:
            received = burst.receive(1 if self._way is Way.SINGLY else self._pace.batch, commit=bool(messages))
        finally:
            self._calling.attempt_id = burst.attempt_id
            if burst.committed:
                self._committed(messages, done)
        return self._hold(received)

    def _committed(self, messages: list[Message], done: Done) -> None:
        done.handled += len(messages)
        self._count_singly(len(messages))
        messages.clear()

    def _apart(self, connection: HandlerConnection) -> Done:
        blamed: list[Blamed] = []
        messages: list[Message] = []
        handled: list[Message] = []
        again: BaseException | None = None
        counted = False
        unsettled = Unsettled()
        try:
            with settled(connection, unsettled):
                batch = min(self._pace.batch, APART_MAX)
                taking = calls.receive(self._binding.queue, batch, locked=True, consumer=self._seat.number)
                with receiving(self._binding.queue, connection=connection) as found:
                    messages = self._hold(found(run(connection, taking)))
                unsettled.note(self._binding.queue, messages)
                if handed_over(messages):
                    self._singly(len(messages))
                    raise psycopg.Rollback
                connection.execute(SAVE, prepare=False)
                for message in messages:
                    try:
                        self._handle(message, Transaction(connection, self._worker))
                    except Exception as error:
                        self._hands.leave(self._slot)
                        if isinstance(error, Blamed):
                            blamed.append(error)
                        else:
                            again = error
                        if connection.is_over:
                            raise
                        connection.execute(UNDO, prepare=False)
                    else:
                        handled.append(message)
                        connection.execute(SAVE_NEXT, prepare=False)
                # Outside the savepoint, like the locks: else PostgreSQL makes a multixact of each row.
                connection.execute(DONE, prepare=False)
                counted, to_settle = True, self._count(blamed, in_hand=True)
                if to_settle:
                    run(connection, calls.settle_failures(self._binding.queue, to_settle))
                if handled:
                    run(connection, calls.consume_locked(self._binding.queue, handled))
        except Blamed:  # its handler ended the whole transaction
            handled, again = [], None
            self._count(blamed, in_hand=False)
        except Exception as error:
            if not counted:
                self._count(blamed, in_hand=False)
            if messages and isinstance(error, psycopg.Error) and not is_innocent(error):
                done = self._commit_failed(connection, messages, error)
                return Done(0, len(blamed) + done.failed)
            raise
        if not blamed and again is None and self._way is Way.APART:
            self._way = Way.TOGETHER
        return Done(len(handled), len(blamed), again)

    def _hold(self, messages: list[Message]) -> list[Message]:
        self._hands.hold(self._slot, self._queue_index, len(messages))
        if messages and self._idle is not None:
            self._idle.found()
        return messages

    def _count(self, blamed: list[Blamed], *, in_hand: bool) -> list[Message]:
        """Record failures on another connection; only then does the supervisor stop watching over the message.

        Returns the messages whose failures were counted in hand and that are not simply to go back to their place.
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

    def _settle(self, connection: HandlerConnection, messages: list[Message]) -> None:
        """Apply the queue's policy after a rollback; if the connection is lost, the next receive sees to the limit."""
        if messages and not connection.closed:
            with connection.transaction():
                run(connection, calls.settle_failures(self._binding.queue, messages))

    def _commit_failed(self, connection: HandlerConnection, messages: list[Message], error: BaseException) -> Done:
        """The transaction failed after its handlers: of one message it is to blame, of several each is tried alone."""
        if len(messages) > 1:
            events.retried(self._worker, self._binding.queue, error)
            self._singly(len(messages))
            return Done()
        now = time.time()
        self._hands.take(self._slot, self._queue_index, messages[0], now, self._calling.attempt_id)
        self._count([Blamed(messages[0], self._calling.failure(messages[0], error, now))], in_hand=False)
        self._count_singly(1)
        return Done(0, 1)

    def _count_singly(self, messages: int) -> None:
        if self._way is Way.SINGLY:
            self._singly_left -= max(messages, 1)
            if self._singly_left <= 0:
                self._way = Way.TOGETHER
