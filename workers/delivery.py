"""The way of a batch of messages: receive, handle, commit; on error roll back and record the failure outside.

A batch is handled in one of three ways:

- *together*: one receive, one handler call after another, one commit. The first error rolls all of it back, and its
  message is recorded as failed.
- *apart*: the batch is only locked at first and each handler runs in a savepoint. Those that fail stay in the queue and
  are recorded after the commit; the others are consumed by it. Used after a batch that failed together, for as long as
  batches go on failing, so that innocent messages are neither blamed nor handled one by one.
- *singly*: one message a transaction, after a commit failed (a deferred constraint, say) and could blame nobody.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any
from uuid import UUID

import psycopg

from ..engine import Message, calls, is_innocent
from ..engine.dispatch import failure_of
from ..engine.runner import run
from . import events
from .app import Binding, RollbackOnly, Transaction
from .hands import Hands

Failures = list[dict[str, Any]]


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
        record: Callable[[str, Failures], None],
    ) -> None:
        self._binding = binding
        self._queue_index = queue_index
        self._worker = worker
        self._hands = hands
        self._slot = slot
        self._record = record
        self._way = Way.TOGETHER
        self._singly_left = 0

    def run_once(self, connection: psycopg.Connection[Any]) -> Done:
        """Deliver one batch. Raises what blames no message, such as a lost connection; then nothing was consumed."""
        try:
            if self._way is Way.APART:
                return self._apart(connection)
            return self._together(connection, 1 if self._way is Way.SINGLY else self._binding.batch)
        finally:
            self._hands.set_count(self._slot, 0)

    def _together(self, connection: psycopg.Connection[Any], batch: int) -> Done:
        messages: list[Message] = []
        try:
            with connection.transaction():
                messages = run(connection, calls.receive(self._binding.queue, batch))
                self._hands.set_count(self._slot, len(messages))
                transaction = Transaction(connection, self._worker)
                for message in messages:
                    self._handle(message, transaction)
        except _Blamed as blamed:
            self._settle([blamed.failure])
            self._way = Way.APART if batch > 1 else self._way
            self._count_singly(1)
            return Done(0, 1)
        except psycopg.Error as error:
            if not messages or is_innocent(error):
                raise
            self._commit_failed(messages, error)
            return Done(0, 1 if len(messages) == 1 else 0)
        self._count_singly(len(messages))
        return Done(len(messages), 0)

    def _apart(self, connection: psycopg.Connection[Any]) -> Done:
        failures: Failures = []
        messages: list[Message] = []
        handled: list[Message] = []
        try:
            with connection.transaction():
                messages = run(connection, calls.receive(self._binding.queue, self._binding.batch, locked=True))
                self._hands.set_count(self._slot, len(messages))
                for message in messages:
                    try:
                        with connection.transaction():
                            self._handle(message, Transaction(connection, self._worker))
                    except _Blamed as blamed:
                        failures.append(blamed.failure)
                        self._hands.leave(self._slot)
                    else:
                        handled.append(message)
                if handled:
                    run(connection, calls.consume_locked(self._binding.queue, handled))
        except Exception as error:
            self._settle(failures)
            if not isinstance(error, psycopg.Error) or not messages or is_innocent(error):
                raise
            self._commit_failed(messages, error)
            return Done(0, len(failures))
        self._settle(failures)
        if not failures:
            self._way = Way.TOGETHER
        return Done(len(handled), len(failures))

    def _handle(self, message: Message, transaction: Transaction) -> None:
        """Call the handler. Raises _Blamed if the message is to blame, else the error that is not the message's fault."""
        started = time.time()
        key = self._hands.take(self._slot, self._queue_index, message, started)
        try:
            self._binding.handler_for(message)(message, transaction)
            if transaction.rollback_only:
                raise RollbackOnly("the handler set its transaction to roll back only")
            if transaction.connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
                raise RollbackOnly(
                    "the handler ended the transaction itself", "Leave commit and rollback to the worker."
                )
        except (Exception, SystemExit) as error:
            if is_innocent(error):
                self._hands.leave(self._slot)
                raise
            raise _Blamed(message, self._failure(message, error, started, key)) from error
        self._hands.leave(self._slot)

    def _failure(self, message: Message, error: BaseException, started: float, key: UUID) -> dict[str, Any]:
        return failure_of(message, error) | {
            "duration_ms": round((time.time() - started) * 1000),
            "worker": self._worker,
            "failure_key": str(key),
        }

    def _settle(self, failures: Failures) -> None:
        """Record failures on another connection; only then does the supervisor stop watching over the message."""
        if failures:
            self._record(self._binding.queue, failures)
        self._hands.leave(self._slot)

    def _commit_failed(self, messages: list[Message], error: BaseException) -> None:
        """The transaction failed after its handlers: of one message it is to blame, of several each is tried alone."""
        if len(messages) == 1:
            key = self._hands.take(self._slot, self._queue_index, messages[0], time.time())
            self._settle([self._failure(messages[0], error, time.time(), key)])
            self._count_singly(1)
            return
        events.retried(self._worker, self._binding.queue, error)
        self._way, self._singly_left = Way.SINGLY, len(messages)

    def _count_singly(self, messages: int) -> None:
        if self._way is Way.SINGLY:
            self._singly_left -= max(messages, 1)
            if self._singly_left <= 0:
                self._way = Way.TOGETHER
