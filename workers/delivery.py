"""The way of a batch of messages: receive, handle, commit; on error roll back and record the failure outside.

A failure is recorded while the transaction that received the message still holds it, on another connection: so nobody can
receive it before the failure counts, and no message is delivered more often than its limit. (A killed worker's message is
free before its supervisor can record anything.)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any
from uuid import UUID

import psycopg

from ..engine import Incident, Message, calls, is_innocent
from ..engine.database.runner import run
from ..engine.database.waiting import Idle
from ..engine.errors import AttemptNeeded, ConsumerNotOpen
from ..engine.handling.failure import failure_of, is_blamed
from . import events
from .app import Binding, Handler
from .batch_mode import Blamed, Done, Way
from .burst import SAVE, Burst
from .figures import Tally
from .guard import HandlerConnection
from .hardened import HardenedBurst
from .in_hand import Hands
from .limits import Limits
from .logs import IN_HAND
from .pace import Pace
from .recorder import Failures
from .seat import Seat
from .transaction import Transaction

Record = Callable[[str, Failures, bool], list[Incident]]
"""Records failures of a queue on another connection; the last argument: the messages are still in this session's hands."""

# One round trip for each message, where psycopg's nested transactions need two.
SAVE_NEXT = b"release savepoint howdah_handler; savepoint howdah_handler"
UNDO = b"rollback to savepoint howdah_handler"
DONE = b"release savepoint howdah_handler"
APART_MAX = 60
"""Messages at most in a batch with savepoints: a transaction of over 64 subtransactions slows every snapshot down."""

BURST_SECONDS = 0.1
"""After so long the session's other queues have their turn."""


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
        #: None where no handler has a time limit: then they are called without more ado.
        self._limits = limits if limits is not None and (binding.time_limits or limits.default is not None) else None
        self._way = Way.TOGETHER
        self._singly_left = 0
        #: Of a hardened queue: the attempt that is on record for the message in hand.
        self._attempt_id: UUID | None = None
        self._seat = Seat(binding.queue)
        #: What is counted of the queue; handled and failed by whoever runs the delivery.
        self.tally = Tally(binding.queue, None if binding.listener is None else binding.listener.name)

    def run_once(self, connection: HandlerConnection) -> Done:
        """Deliver what is there, for a tenth of a second or so. Raises what blames no message, if nothing was consumed."""
        connection.watch()
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
            return self._together(connection) if self._seat.take(connection) else Done()
        finally:
            self._hands.hold(self._slot, self._queue_index, 0)

    def leave(self, connection: HandlerConnection) -> None:
        """The session ends: what it has opened for the queue is closed."""
        self._seat.leave(connection)

    def _together(self, connection: HandlerConnection) -> Done:
        """Batch after batch, until one comes empty, something fails, or it has lasted long enough."""
        way, done, burst = self._way, Done(), self._burst(connection)
        messages: list[Message] = []
        to_settle: list[Message] = []
        counted = False
        given_up: UUID | None = None
        ends = time.monotonic() + BURST_SECONDS
        try:
            with connection.transaction():
                while True:
                    asked = time.monotonic()
                    messages = self._next(burst, messages, done)
                    if messages and self._stopping():
                        messages, given_up = [], self._attempt_id
                        raise psycopg.Rollback
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
            self._cancel(connection, self._attempt_id)
            if len(messages) > 1 and not connection.closed:
                # What a lock holds up, say, must not hold up the rest of its batch each time that it is tried again.
                self._way = Way.APART
            if not done.handled:
                raise
            # Batches before it were committed; if it is still so, the next pass finds nothing else.
            events.retried(self._worker, self._binding.queue, error)
            return done
        self._committed(messages, done)
        self._cancel(connection, given_up)
        return done

    def _cancel(self, connection: HandlerConnection, attempt_id: UUID | None) -> None:
        """Of a hardened queue: take back the attempt at a message that is not to blame. A lost connection's counts."""
        if self._way is Way.HARDENED and attempt_id is not None and not connection.closed:
            with connection.transaction():
                run(connection, calls.cancel_attempt(self._binding.queue, attempt_id))

    def _burst(self, connection: HandlerConnection) -> Burst:
        kind = HardenedBurst if self._way is Way.HARDENED else Burst
        return kind(connection, self._binding.queue, self._seat.number, self._listener)

    def _next(self, burst: Burst, messages: list[Message], done: Done) -> list[Message]:
        """Commit the messages handled so far, if there are any, and receive the next; ``messages`` is empty then."""
        try:
            received = burst.receive(1 if self._way is Way.SINGLY else self._pace.batch, commit=bool(messages))
        finally:
            self._attempt_id = burst.attempt_id
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
        try:
            with connection.transaction():
                batch = min(self._pace.batch, APART_MAX)
                messages = self._hold(run(connection, self._receiving(batch)))
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
        if not blamed and again is None:
            self._way = Way.TOGETHER
        return Done(len(handled), len(blamed), again)

    def _receiving(self, batch: int) -> calls.Call[list[Message]]:
        return calls.receive(self._binding.queue, batch, locked=True, consumer=self._seat.number)

    def _hold(self, messages: list[Message]) -> list[Message]:
        self._hands.hold(self._slot, self._queue_index, len(messages))
        if messages and self._idle is not None:
            self._idle.found()
        return messages

    def _handle(self, message: Message, transaction: Transaction) -> None:
        """Call the handler. Raises Blamed if the message is to blame, else the error that is not the message's fault."""
        started = time.time()
        self._hands.take(self._slot, self._queue_index, message, started, self._attempt_id)
        called = time.perf_counter()
        try:
            IN_HAND.set(message)
            try:
                handler = self._binding.handler_for(message)
                if self._limits is None:
                    handler(message, transaction)
                else:
                    self._call_limited(self._limits, handler, message, transaction)
            finally:
                IN_HAND.set(None)
                self.tally.call(time.perf_counter() - called)
            transaction.check()
        except BaseException as error:
            if not is_blamed(error):
                self._hands.leave(self._slot)
                raise
            raise Blamed(message, self._failure(message, error, started)) from error
        self._hands.leave(self._slot)

    def _call_limited(self, limits: Limits, handler: Handler, message: Message, transaction: Transaction) -> None:
        """Call the handler within its time limit, if it has one. Raises HandlerTimeout, and whatever the handler raises."""
        limit = self._binding.time_limit_for(message)
        with limits.watched(self._slot, transaction.connection, limit) or nullcontext():
            handler(message, transaction)

    def _failure(self, message: Message, error: BaseException, started: float) -> dict[str, Any]:
        return failure_of(message, error, self._binding.rules_for(message)) | {
            "duration_ms": max(0, round((time.time() - started) * 1000)),
            "worker": self._worker,
            "failure_key": str(self._hands.key(self._slot)),
        }

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
            self._way, self._singly_left = Way.SINGLY, len(messages)
            return Done()
        now = time.time()
        self._hands.take(self._slot, self._queue_index, messages[0], now, self._attempt_id)
        self._count([Blamed(messages[0], self._failure(messages[0], error, now))], in_hand=False)
        self._count_singly(1)
        return Done(0, 1)

    def _count_singly(self, messages: int) -> None:
        if self._way is Way.SINGLY:
            self._singly_left -= max(messages, 1)
            if self._singly_left <= 0:
                self._way = Way.TOGETHER
