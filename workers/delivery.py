"""Handle a batch of messages: receive, handle, commit. After an error, roll back and record the failure outside.

The failure is recorded on another connection while the receiving transaction still holds the message. So nobody can
receive it before the failure counts, and no message is delivered more often than its limit. (A killed worker's message
is free before its supervisor can record anything.)
"""

from __future__ import annotations

import time
from contextlib import suppress
from uuid import UUID

import psycopg

from ..engine import Message, calls, is_innocent
from ..engine.database.runner import run
from ..engine.errors import AttemptNeeded, ConsumerNotOpen
from ..engine.tracing.points import Unsettled, receiving
from ..engine.tracing.switch import current
from . import events
from .batch_mode import APART_MAX, Blamed, Done, Way
from .burst import DONE, SAVE, SAVE_NEXT, UNDO, Burst
from .guard import HandlerConnection
from .handover import Handover, handed_over
from .hardened import HardenedBurst
from .logs import IN_HAND
from .receiver import Receiver
from .tracing import TracedBurst, settled
from .transaction import Transaction

BURST_SECONDS = 0.1
"""Seconds after which the session's other queues have their turn."""


class Delivery(Receiver):
    """Delivers one queue's messages to its handlers over one connection, one batch at a time."""

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
                            if self._undone(connection):
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
                # One message blocked by a lock must not block its batch on every retry.
                self._way = Way.APART
            if not done.handled:
                raise
            # Earlier batches were committed. If the error persists, the next pass meets it at once and raises it.
            events.retried(self._worker, self._binding.queue, error)
            return done
        if given:
            self._handover(connection, given, done)
        else:
            self._committed(messages, done)
            self._cancel(connection, given_up)
        return done

    @staticmethod
    def _undone(connection: HandlerConnection) -> bool:
        """Undo what a failed handler did. Returns whether the transaction still holds its messages."""
        if connection.is_over:
            return False
        try:
            connection.execute(UNDO, prepare=False)
        except psycopg.Error:  # such as a lost connection: the handler failed before, so it stays to blame
            return False
        return True

    def _given(self, messages: list[Message]) -> list[Message]:
        """Return best-effort messages: commit them first, then handle them. A mixed batch is received singly."""
        given = handed_over(messages)
        if len(given) not in (0, len(messages)):
            self._singly(len(messages))
            messages.clear()
            raise psycopg.Rollback
        return given

    def _handover(self, connection: HandlerConnection, given: list[Message], done: Done) -> None:
        """Handle what was consumed when it was received."""
        self._count_singly(len(given))
        Handover(self._calling, self._handle, self._lost, self._worker).run(connection, given, done)

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
            if isinstance(error, psycopg.Error) and not is_innocent(error):
                if handled:
                    done = self._commit_failed(connection, messages, error)
                    return Done(0, len(blamed) + done.failed)
                if blamed:  # and each is on record already
                    return Done(0, len(blamed))
            raise
        if not blamed and again is None and self._way is Way.APART:
            self._way = Way.TOGETHER
        return Done(len(handled), len(blamed), again)
