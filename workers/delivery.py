"""The way of a batch of messages: receive, handle, commit; on error roll back and record the failure outside.

A batch is handled in one of three ways:

- *together*: one receive, one handler call after another, one commit. The first error rolls all of it back, and its
  message is recorded as failed.
- *apart*: the batch is only locked at first and each handler runs in a savepoint. The failures are recorded and the queue's
  policy is applied to their messages; the others are consumed, and all is committed. Used after a batch that failed
  together, for as long as batches go on failing, so that innocent messages are neither blamed nor handled one by one.
- *singly*: one message a transaction, after a commit failed (a deferred constraint, say) and could blame nobody.

A failure is recorded while the transaction that received the message still holds it, on another connection: so nobody can
receive it before the failure counts, and no message is delivered more often than its limit. (A killed worker's message is
free before its supervisor can record anything.)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any
from uuid import UUID

import psycopg

from ..engine import Incident, Message, calls, is_innocent
from ..engine.dispatch import failure_of
from ..engine.runner import run
from ..engine.waiting import Idle
from . import events
from .app import Binding, Transaction
from .guard import HandlerConnection
from .hands import Hands
from .recorder import Failures

Record = Callable[[str, Failures, bool], list[Incident]]
"""Records failures of a queue on another connection; the last argument: the messages are still in this session's hands."""

# One round trip for each message, where psycopg's nested transactions need two.
SAVE = b"savepoint howdah_handler"
SAVE_NEXT = b"release savepoint howdah_handler; savepoint howdah_handler"
UNDO = b"rollback to savepoint howdah_handler"
DONE = b"release savepoint howdah_handler"
APART_MAX = 60
"""Messages at most in a batch with savepoints: a transaction of over 64 subtransactions slows every snapshot down."""


class Way(Enum):
    """How the next batch is handled."""

    TOGETHER = "together"
    APART = "apart"
    SINGLY = "singly"


@dataclass
class Done:
    """What one pass did."""

    handled: int = 0
    failed: int = 0
    #: Why a message is to be tried again although it is not to blame.
    again: BaseException | None = None


class _Blamed(Exception):
    """A handler failed on this message."""

    def __init__(self, message: Message, failure: dict[str, Any]) -> None:
        super().__init__(failure["error_text"])
        self.message = message
        self.failure = failure


class Delivery:
    """Delivers one queue's messages to its handlers over one connection, one batch at a time."""

    def __init__(
        self,
        binding: Binding,
        queue_index: int,
        *,
        worker: str,
        hands: Hands,
        slot: int,
        record: Record,
        idle: Idle | None = None,
    ) -> None:
        self._binding = binding
        self._queue_index = queue_index
        self._worker = worker
        self._hands = hands
        self._slot = slot
        self._record = record
        self._idle = idle
        self._way = Way.TOGETHER
        self._singly_left = 0

    def run_once(self, connection: HandlerConnection) -> Done:
        """Deliver one batch. Raises what blames no message, such as a lost connection; then nothing was consumed."""
        connection.watch()
        ask = self._idle.ask(self._binding.queue) if self._idle is not None else None
        if self._idle is not None and ask is not None:
            with connection.transaction():
                self._idle.asked(self._binding.queue, run(connection, ask))
        try:
            if self._way is Way.APART:
                return self._apart(connection)
            return self._together(connection, 1 if self._way is Way.SINGLY else self._binding.batch)
        finally:
            self._hands.hold(self._slot, self._queue_index, 0)

    def _together(self, connection: HandlerConnection, batch: int) -> Done:
        messages: list[Message] = []
        to_settle: list[Message] = []
        counted = False
        try:
            with connection.transaction():
                messages = self._receive(connection, batch)
                if messages:
                    # A statement that fails then undoes no more than the handlers' work: without a savepoint PostgreSQL would
                    # let the messages go at once, before the failure is recorded.
                    connection.execute(SAVE, prepare=False)
                transaction = Transaction(connection, self._worker)
                for message in messages:
                    try:
                        self._handle(message, transaction)
                    except _Blamed as blamed:
                        if not connection.is_over:
                            connection.execute(UNDO, prepare=False)
                            with suppress(psycopg.errors.LockNotAvailable):
                                counted, to_settle = True, self._count([blamed], in_hand=True)
                        raise
        except _Blamed as blamed:
            if not counted:
                self._count([blamed], in_hand=False)
            self._settle(connection, to_settle)
            self._way = Way.APART if batch > 1 else self._way
            self._count_singly(1)
            return Done(0, 1)
        except Exception as error:
            if messages and isinstance(error, psycopg.Error) and not is_innocent(error):
                return self._commit_failed(connection, messages, error)
            if len(messages) > 1 and not connection.closed:
                # What a lock holds up, say, must not hold up the rest of its batch each time that it is tried again.
                self._way = Way.APART
            raise
        self._count_singly(len(messages))
        return Done(len(messages))

    def _apart(self, connection: HandlerConnection) -> Done:
        blamed: list[_Blamed] = []
        messages: list[Message] = []
        handled: list[Message] = []
        again: BaseException | None = None
        counted = False
        try:
            with connection.transaction():
                messages = self._receive(connection, min(self._binding.batch, APART_MAX), locked=True)
                connection.execute(SAVE, prepare=False)
                for message in messages:
                    try:
                        self._handle(message, Transaction(connection, self._worker))
                    except Exception as error:
                        self._hands.leave(self._slot)
                        if isinstance(error, _Blamed):
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
        except _Blamed:  # its handler ended the whole transaction
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

    def _receive(self, connection: HandlerConnection, batch: int, *, locked: bool = False) -> list[Message]:
        messages = run(connection, calls.receive(self._binding.queue, batch, locked=locked))
        self._hands.hold(self._slot, self._queue_index, len(messages))
        if messages and self._idle is not None:
            self._idle.reset()
        return messages

    def _handle(self, message: Message, transaction: Transaction) -> None:
        """Call the handler. Raises _Blamed if the message is to blame, else the error that is not the message's fault."""
        started = time.time()
        key = self._hands.take(self._slot, self._queue_index, message, started)
        try:
            self._binding.handler_for(message)(message, transaction)
            transaction.check()
        except BaseException as error:
            if is_innocent(error):
                self._hands.leave(self._slot)
                raise
            raise _Blamed(message, self._failure(message, error, started, key)) from error
        self._hands.leave(self._slot)

    def _failure(self, message: Message, error: BaseException, started: float, key: UUID) -> dict[str, Any]:
        return failure_of(message, error) | {
            "duration_ms": max(0, round((time.time() - started) * 1000)),
            "worker": self._worker,
            "failure_key": str(key),
        }

    def _count(self, blamed: list[_Blamed], *, in_hand: bool) -> list[Message]:
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
        return [one.message for one in blamed if outcomes[one.message.message_id] in ("delayed", "moved", "blocked")]

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
        key = self._hands.take(self._slot, self._queue_index, messages[0], now)
        self._count([_Blamed(messages[0], self._failure(messages[0], error, now, key))], in_hand=False)
        self._count_singly(1)
        return Done(0, 1)

    def _count_singly(self, messages: int) -> None:
        if self._way is Way.SINGLY:
            self._singly_left -= max(messages, 1)
            if self._singly_left <= 0:
                self._way = Way.TOGETHER
