"""Handle a batch of messages: receive, handle, commit. After an error, roll back and record the failure outside.

The failure is recorded on another connection while the receiving transaction still holds the message. So nobody can
receive it before the failure counts, and no message is delivered more often than its limit. (A killed worker's message
is free before its supervisor can record anything.)
"""

from __future__ import annotations

import time
from contextlib import suppress

import psycopg

from ..engine import Message, calls, is_innocent
from ..engine.database.runner import run
from ..engine.errors import AttemptNeeded, ConsumerNotOpen
from ..engine.tracing.points import Unsettled, receiving
from . import events
from .batch_mode import APART_MAX, BatchMode, Blamed, Done, GivenBack
from .burst import DONE, SAVE, SAVE_NEXT, UNDO, Burst
from .guard import HandlerConnection
from .handover import Handover, handed_over
from .hardened import HardenedBurst
from .log.writer import IN_HAND
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
        self._calling.begin()
        ask = self._idle.ask(self._binding.queue) if self._idle is not None else None
        if self._idle is not None and ask is not None:
            with connection.transaction():
                self._idle.asked(self._binding.queue, run(connection, ask))
        try:
            if self._mode is BatchMode.APART:
                return self._apart(connection)
            return self._together(connection)
        except AttemptNeeded:
            self._mode = BatchMode.HARDENED
            return self._together(connection)
        except ConsumerNotOpen:
            return self._together(connection) if self._is_seated() else Done()
        finally:
            self._hands.hold(self._slot, self._queue_index, 0)

    def _together(self, connection: HandlerConnection) -> Done:
        """Deliver batch after batch, until one is empty, one fails, or the time is up."""
        mode, done = self._mode, Done()
        messages: list[Message] = []  # the last batch
        try:
            best_effort = self._handle_batches(connection, messages, done)
        except GivenBack:
            self._cancel(connection, self._calling.attempt_id)
            return done
        except Blamed as blamed:
            if blamed.to_settle is None:
                self._count([blamed], in_hand=False)
            self._settle(connection, blamed.to_settle or [])
            if mode is BatchMode.TOGETHER and self._pace.batch > 1:
                self._mode = BatchMode.APART
            self._count_singly(1)
            return Done(done.handled, 1)
        except Exception as error:
            if messages and isinstance(error, psycopg.Error) and not is_innocent(error):
                return Done(done.handled, self._commit_failed(messages, error))
            self._cancel(connection, self._calling.attempt_id)
            if len(messages) > 1 and not connection.closed:
                # One message blocked by a lock must not block its batch on every retry.
                self._mode = BatchMode.APART
            if not done.handled:
                raise
            # Earlier batches were committed. If the error persists, the next pass meets it at once and raises it.
            events.retried(self._worker, self._binding.queue, error)
            return done
        if best_effort:
            self._count_singly(len(messages))
            Handover(self._calling, self._handle, self._lost, self._worker).run(connection, messages, done)
        else:
            self._committed(messages, done)
        return done

    def _handle_batches(self, connection: HandlerConnection, messages: list[Message], done: Done) -> bool:
        """Handle batches: the receive of each commits the one before. ``messages`` becomes the last one.

        Returns whether the last one is best-effort, and so is handled after its commit. Raises Blamed. Raises GivenBack
        if the worker stops, and for a batch that is best-effort in part: its messages are received singly.
        """
        mode, ends = self._mode, time.monotonic() + BURST_SECONDS
        kind = HardenedBurst if mode is BatchMode.HARDENED else Burst
        plain = kind(connection, self._binding.queue, self._seat.number, self._listener)
        burst = TracedBurst(plain, connection, self._binding.queue) if self._calling.traced else plain
        with burst.transaction():
            while True:
                asked = time.monotonic()
                self._receive_next(burst, messages, done)
                if messages and self._stopping():
                    raise GivenBack
                if handed := handed_over(messages):
                    if len(handed) == len(messages):
                        return True
                    self._singly(len(messages))
                    raise GivenBack
                handle, transaction = self._handle, Transaction(connection, self._worker)
                try:
                    for message in messages:
                        handle(message, transaction)
                except Blamed as blamed:
                    blamed.to_settle = self._count_in_hand(connection, blamed)
                    raise
                now = time.monotonic()
                self._pace.note(len(messages), now - asked)
                if not messages or now > ends or self._mode is not mode or self._stopping():
                    return False

    def _receive_next(self, burst: Burst | TracedBurst, messages: list[Message], done: Done) -> None:
        """Commit the messages handled so far, if any, and receive the next in their place."""
        try:
            received = burst.receive(1 if self._mode is BatchMode.SINGLY else self._pace.batch, commit=bool(messages))
        finally:
            self._calling.attempt_id = burst.attempt_id
            if burst.committed:
                self._committed(messages, done)
        messages[:] = self._hold(received)

    def _committed(self, messages: list[Message], done: Done) -> None:
        done.handled += len(messages)
        self._count_singly(len(messages))
        messages.clear()

    def _count_in_hand(self, connection: HandlerConnection, blamed: Blamed) -> list[Message] | None:
        """Undo what the handler did and count its failure in hand. None: it must be counted after the rollback."""
        if connection.is_over:
            return None
        try:
            connection.execute(UNDO, prepare=False)
        except psycopg.Error:  # such as a lost connection: the handler failed before, so it stays to blame
            return None
        with suppress(psycopg.errors.LockNotAvailable):
            return self._count([blamed], in_hand=True)
        return None

    def _apart(self, connection: HandlerConnection) -> Done:
        """Deliver one batch, each message in a savepoint: settle those that failed, and consume the others."""
        messages: list[Message] = []
        handled: list[Message] = []
        blamed: list[Blamed] = []
        to_settle: list[Message] | None = None  # None: the failures are not on record yet
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
                    raise GivenBack
                again = self._handle_each(connection, messages, handled, blamed)
                to_settle = self._count(blamed, in_hand=True)
                if to_settle:
                    run(connection, calls.settle_failures(self._binding.queue, to_settle))
                if handled:
                    run(connection, calls.consume_locked(self._binding.queue, handled))
        except GivenBack:
            return Done()
        except Blamed:  # its handler ended the whole transaction
            self._count(blamed, in_hand=False)
            return Done(0, len(blamed))
        except Exception as error:
            if to_settle is None:
                self._count(blamed, in_hand=False)
            if not isinstance(error, psycopg.Error) or is_innocent(error) or not (handled or blamed):
                raise
            return Done(0, len(blamed) + (self._commit_failed(messages, error) if handled else 0))
        if not blamed and again is None:
            self._mode = BatchMode.TOGETHER
        return Done(len(handled), len(blamed), again)

    def _handle_each(
        self, connection: HandlerConnection, messages: list[Message], handled: list[Message], blamed: list[Blamed]
    ) -> Exception | None:
        """Sort the messages into ``handled`` and ``blamed``. Returns the last error that blames none of them."""
        again: Exception | None = None
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
        # Consuming happens outside the savepoint, like the locks: else PostgreSQL makes a multixact of each row.
        connection.execute(DONE, prepare=False)
        return again
