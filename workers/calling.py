"""Calls of handlers: what is known of a call while it runs, and what it blames if it fails."""

from __future__ import annotations

from time import monotonic
from typing import Any
from uuid import UUID

from ..engine import Message
from ..engine.calls import results
from ..engine.database.runner import run
from ..engine.errors import as_exception
from ..engine.handling.failure import failure_of, is_blamed
from ..engine.tracing.points import processing
from ..engine.tracing.switch import current
from .app import Binding, Handler
from .batch_mode import Blamed
from .figures import Tally
from .forked import end_forked, forks
from .in_hand import Hands, ms_since
from .log.writer import InHand
from .time_limits import Limits
from .transaction import Transaction

KEEPING_SECONDS = 5.0
"""Seconds until workers notice that a queue begins or ends to keep results."""
NOT_ASKED = (False, 0.0)


class Calling:
    """Calls the handlers of one queue for one session."""

    def __init__(
        self,
        binding: Binding,
        queue_index: int,
        *,
        worker: str,
        hands: Hands,
        slot: int,
        limits: Limits | None,
        tally: Tally,
    ) -> None:
        self._binding = binding
        self._queue_index = queue_index
        self._worker = worker
        self._forks = forks.count
        self._hands = hands
        self._slot = slot
        self._tally = tally
        #: For the log.
        self.in_hand = InHand()
        #: The recorded attempt at the message in hand, in a hardened queue.
        self.attempt_id: UUID | None = None
        #: Calls the handler. Raises Blamed if the message is to blame, else the innocent error itself.
        self.call = self._call
        #: Whether calls were traced when the burst of messages began.
        self.traced = False
        #: Whether each queue keeps results, and when to ask again.
        self._keeping: dict[str, tuple[bool, float]] = {}
        #: None if no handler has a time limit.
        self._limits = limits if limits is not None and (binding.time_limits or limits.default is not None) else None
        self._run = self._call_alone if self._limits is None else self._call_limited

    def begin(self) -> None:
        """Begin a burst of messages, whose calls are traced if something traces now."""
        self.traced = current() is not None
        self.call = self._call_traced if self.traced else self._call

    def _call(self, message: Message, transaction: Transaction) -> None:
        started = ended = monotonic()
        self._hands.take(self._slot, self._queue_index, message, started, self.attempt_id)
        self.in_hand.message = message
        try:
            try:
                value = self._run(self._binding.handler_for(message), message, transaction)
            finally:
                self.in_hand.message = None
                ended = monotonic()
                self._tally.call(ended - started)
            transaction.check()
            keeps, until = self._keeping.get(message.queue, NOT_ASKED)
            if ended >= until:
                keeps = self._ask_keeps_results(message.queue, transaction)
            if keeps:
                run(transaction.connection, results.keep_result(message, value))
        except BaseException as error:
            if not is_blamed(error):
                self._hands.leave(self._slot)
                if isinstance(error, Exception):
                    raise
                raise as_exception(error) from error
            raise Blamed(message, self.failure(message, error, started)) from error
        self._hands.leave(self._slot)

    def _call_traced(self, message: Message, transaction: Transaction) -> None:
        with processing(message, self._binding.queue) as process:
            try:
                self._call(message, transaction)
            except Blamed as blamed:
                process.failed(blamed.__cause__ or blamed)
                raise

    def take(self, message: Message, started: float) -> None:
        """Note that the message is being handled, for the supervisor and the key of a failure."""
        self._hands.take(self._slot, self._queue_index, message, started, self.attempt_id)

    def leave(self) -> None:
        """Note that no message is being handled any more."""
        self._hands.leave(self._slot)

    def _ask_keeps_results(self, queue: str, transaction: Transaction) -> bool:
        """Ask whether the queue keeps results. Asking for each message would cost a statement."""
        keeps: bool = run(transaction.connection, results.keeps_results(queue))
        self._keeping[queue] = (keeps, monotonic() + KEEPING_SECONDS)
        return keeps

    def _call_limited(self, handler: Handler, message: Message, transaction: Transaction) -> Any:
        """Call the handler within its time limit, if any. Raises HandlerTimeout, and what the handler raises."""
        assert self._limits is not None
        limit = self._binding.time_limit_for(message)
        watched = self._limits.watched(self._slot, transaction.connection, limit)
        if watched is None:
            return self._call_alone(handler, message, transaction)
        with watched:
            self._hands.limit(self._slot, watched.ends)
            try:
                return self._call_alone(handler, message, transaction)
            finally:
                self._hands.limit(self._slot, 0.0)

    def _call_alone(self, handler: Handler, message: Message, transaction: Transaction) -> Any:
        """Call the handler. A process that it forked ends here: it shares the connection, and the memory of hands."""
        error: BaseException | None = None
        try:
            return handler(message, transaction)
        except BaseException as raised:
            error = raised
            raise
        finally:
            if forks.count != self._forks:
                end_forked(self._worker, error)
            error = None  # its traceback has this frame

    def failure(self, message: Message, error: BaseException, started: float) -> dict[str, Any]:
        """Return the record of a failed delivery."""
        return failure_of(message, error, self._binding.rules_for(message)) | {
            "duration_ms": ms_since(started),
            "worker": self._worker,
            "failure_key": str(self._hands.key(self._slot)),
        }
