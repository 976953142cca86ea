"""A consumer of a session with an acknowledge mode: it receives ahead, and delivers by call or to a listener."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import psycopg

from .. import calls
from ..calls.message import BEST_EFFORT
from ..database.waiting import Idle
from ..errors import BadArgument, HowdahError, IllegalState
from ..handling.functions import check_listener
from ..sessions.seat import Seat
from . import lease_calls
from .base import SessionBase
from .holding import Delivery, Holding
from .modes import AckMode, AckType
from .prefetch import BATCH_MAX, Window

Listener = Callable[[Delivery], Any]


class AckConsumer:
    """Receives from one queue or subscription. One thread may call its methods; any may call ``close``."""

    def __init__(self, session: SessionBase, window: Window, seat: Seat, selector: str | None = None) -> None:
        self.session = session
        self.window = window
        self.queue = window.queue
        #: Its place among the consumers of the queue, where that tells them apart.
        self.seat = seat
        #: Only messages for which it is true are received; None: all.
        self.selector = selector
        #: Whether it holds all that it may and has acknowledged none of it: others get the rest.
        self.slow = False
        self.closed = False
        self.holding = Holding()
        self._listener: Listener | None = None
        #: What a client's window has grown by.
        self._extension = 0
        #: Most messages so far that were delivered and not acknowledged.
        self._most = 0
        #: Since when something waits to be acknowledged by the session.
        self._pending_since: float | None = None

    @property
    def prefetch(self) -> int:
        """Messages it holds ahead; 0: none."""
        return self.window.prefetch

    # -- receiving ------------------------------------------------------------------------------------------------

    def receive(self, timeout: float | None = None) -> Delivery | None:
        """Return the next message; None after ``timeout`` seconds (None: no limit) or after close().

        While the connection is stopped nothing comes, and the time runs on.
        """
        return self.receive_unless(lambda: False, timeout)

    def receive_unless(self, given_up: Callable[[], bool], timeout: float | None = None) -> Delivery | None:
        """As ``receive``, and None once ``given_up`` says so; whoever changes that wakes the session."""
        self.session.check_open()
        if self._listener is not None:
            raise IllegalState("a consumer with a listener cannot be asked to receive")
        with self.session.idle(timeout) as idle:
            while not (self.closed or self.session.closed or given_up()):
                message = self.look(idle)
                if message is not None and not self._received(message):
                    continue
                pause = None if message is not None else idle.pause()
                if pause is None:
                    return message
                self.session.sleep(pause)
        return None

    def receive_nowait(self) -> Delivery | None:
        """Return the next message if there is one now, else None."""
        return self.receive(timeout=0)

    def __iter__(self) -> Iterator[Delivery]:
        """Yield messages until consumer or session is closed."""
        while not self.session.closed:
            try:
                message = self.receive()
            except IllegalState:
                if self.session.closed:  # by another thread, since the look above
                    return
                raise
            if message is None:
                return
            yield message

    def look(self, idle: Idle) -> Delivery | None:
        """Return the next message of the buffer, after filling an empty one."""
        with self.session.lock:
            if self.closed or not self.session.ready:
                return None
            message = self._next()
            if message is None:
                self._ask(idle)
                message = self._next() if self.fill() else None
            if message is not None:
                idle.found()
            return message

    def fill(self) -> bool:
        """Claim what there is room for. Returns whether there was anything."""
        if self.session.mode is AckMode.AUTO and self.prefetch == 0:
            # Consumed before receive returns: no lease is needed for that.
            for message in self.seat.ask(
                lambda number: self.session.received(
                    calls.receive(self.queue, 1, selector=self.selector, consumer=number), consumed=True
                )
            ):
                self.holding.ahead.append(Delivery.of(message, 0, self))
            return bool(self.holding.ahead)
        room = self._room()
        if room <= 0:
            self._stall()
            return False
        finished = self.holding.finished
        until = time.monotonic() + self.session.lease_duration
        got = self.seat.ask(
            lambda number: self.session.received(
                lease_calls.lease_ahead(
                    self.queue,
                    min(room, BATCH_MAX),
                    self.session.lease_duration,
                    self._suspects(),
                    finished,
                    self.selector,
                    number,
                ),
                consumed=False,
            )
        )
        finished.clear()
        if got is None:
            return False
        self.holding.add(got, self, until)
        return True

    def _ask(self, idle: Idle) -> None:
        ask = idle.ask(self.queue)
        if ask is not None:
            idle.asked(self.queue, self.session.run(ask))

    def _room(self) -> int:
        """Return how many more it may hold."""
        if self.prefetch == 0:
            return 1
        if self.session.mode is AckMode.SESSION_TRANSACTED:
            return self.prefetch - len(self.holding.ahead)  # what the transaction has got can only end with it
        return self.prefetch + self._extension - len(self.holding)

    def _suspects(self) -> int:
        """How many messages it may have in hand at a time, as far as is known: they are blamed if it dies."""
        if self._by_session:  # receive has acknowledged what it returns
            return self.window.batch if self.window.batch > 1 or self._listener is not None else 0
        return max(1, self._most)

    def _stall(self) -> None:
        """Report once that it holds all it may."""
        if self.session.mode.by_client and not self.slow:
            self.slow = True
            facts = {"prefetch": self.prefetch, "unacknowledged": len(self.holding.delivered)}
            self.session.run(lease_calls.report_slow_consumer(self.queue, facts))

    def _next(self) -> Delivery | None:
        """Return the first unexpired message of the buffer."""
        if overdue := self.holding.overdue(time.monotonic()):
            self.holding.drop(overdue)  # others may have these by now
        if expired := self.holding.expired():
            self.session.acknowledger.give_back(self.queue, expired)  # whoever receives next disposes of it
            self.session.acks[AckType.EXPIRED] += 1
            self.holding.forget_first(expired)
        return self.holding.ahead.popleft() if self.holding.ahead else None

    # -- what becomes of what was delivered -----------------------------------------------------------------------

    def _received(self, message: Delivery) -> bool:
        """Note that receive is about to return a message. Returns False if another consumer has it by now."""
        with self.session.lock:
            if message.lease == 0:
                self.session.acks[AckType.STANDARD] += 1
                return True
            self.deliver(message)
            try:
                return self.handled(message)
            except BaseException:
                # Nobody has seen it. If it was acknowledged after all, its lease is lost, which shows the next time.
                self.holding.delivered.pop(message.message_id, None)
                self.holding.ahead.appendleft(message)
                raise

    @property
    def _by_session(self) -> bool:
        """Whether the session itself acknowledges."""
        return self.session.mode in (AckMode.AUTO, AckMode.DUPS_OK)

    def deliver(self, message: Delivery) -> None:
        """Note that a message is handed out."""
        self.session.stamp(message)
        if self._by_session:
            return  # a listener may have it in hand for long, and meanwhile it must not be acknowledged with others
        self.holding.delivered[message.message_id] = message
        self._most = max(self._most, len(self.holding.delivered))
        grows = self.session.mode.by_client and self._extension == 0
        if grows and 0 < self.window.half <= len(self.holding.delivered):
            self._extension = self.window.half
            self.session.acks[AckType.DELIVERED] += 1
            with suppress(HowdahError, psycopg.Error):  # the next look raises it again
                self.fill()

    def gives(self, message: Delivery) -> bool:
        """Whether the session consumes it before anybody has it: best effort, unless the client acknowledges."""
        return self._by_session and message.reliability == BEST_EFFORT

    def give(self, message: Delivery) -> bool:
        """Consume a message that a listener is about to get. Returns False if another consumer has it by now."""
        self.holding.delivered[message.message_id] = message
        return message.message_id in self.flush()

    def handled(self, message: Delivery) -> bool:
        """Settle a handled message as the mode says. Returns False if another consumer has it by now."""
        if not self._by_session:
            return True
        self.holding.delivered[message.message_id] = message
        if self.closed or self.gives(message) or len(self.holding.delivered) >= self.window.batch:
            return message.message_id in self.flush()
        if self._pending_since is None:
            self._pending_since = time.monotonic()
            self.session.keeper.nudge()
        return True

    def flush(self) -> set[int]:
        """Acknowledge what the session must acknowledge itself. Returns the numbers acknowledged."""
        if not self._by_session or not self.holding.delivered:
            return set()
        self._pending_since = time.monotonic()  # should it fail
        done = self.session.acknowledger.consume_own(list(self.holding.delivered.values()))
        self._pending_since = None
        return done

    def flush_due(self) -> float:
        """Return the latest time for ``flush``, by the monotonic clock."""
        since = self._pending_since
        return math.inf if since is None else since + self.window.timeout

    def acknowledged(self, messages: list[Delivery]) -> None:
        """Forget messages that were consumed or that others have."""
        self.holding.forget(messages)
        self.session.forget(self)
        self.slow = False
        if len(self.holding.delivered) < self.window.half:
            self._extension = 0

    def acknowledge_message(self, message: Delivery) -> None:
        """What ``message.acknowledge`` does."""
        self.session.acknowledge_message(message)

    def acknowledge(self) -> None:
        """Acknowledge all that this consumer has delivered, if the client acknowledges. Raises LeaseLost."""
        with self.session.lock:
            self.session.check_open()
            if self.session.mode.by_client:
                self.session.acknowledger.consume(list(self.holding.delivered.values()))

    def acknowledge_interval(self, first: Delivery, last: Delivery) -> int:
        """Consume what this consumer got from one message to another. Returns how many. As ``acknowledge``.

        The order is that of ``howdah.ack_interval``. Raises LeaseLost, and IllegalState in the other modes.
        """
        with self.session.lock:
            self.session.check_open()
            if not self.session.mode.by_client:
                raise IllegalState("in this session it is not the client that acknowledges")
            delivered = list(self.holding.delivered.values())
            if first not in delivered or last not in delivered:
                raise BadArgument(
                    "first and last must be messages that this consumer delivered and nobody acknowledged"
                )
            return self.session.acknowledger.consume_interval(self, first, last)

    # -- listener and end -----------------------------------------------------------------------------------------

    @property
    def listener(self) -> Listener | None:
        """The function called with each message, on the session's own thread; None: receive is called."""
        return self._listener

    @listener.setter
    def listener(self, function: Listener | None) -> None:
        if function is not None:
            check_listener(function)
            if self.closed:
                raise IllegalState("the consumer is closed")
            if self.prefetch == 0:
                raise BadArgument("illegal prefetch size of zero", "A consumer with a listener must receive ahead.")
        self._listener = function
        self.session.listen()

    def close(self) -> None:
        """Receive nothing more. Messages held ahead go back unharmed; the session still acknowledges delivered ones."""
        if self.closed:
            return
        self.closed = True
        self.session.wake()
        if self._listener is not None and not self.session.closed:
            self.listener = None
        with self.session.lock:
            if not self.session.closed:
                self.flush()
                ahead = [message for message in self.holding.ahead if message.lease]
                self.session.acknowledger.give_back(self.queue, ahead)
                self.holding.ahead.clear()
                self.holding.forget(ahead)
                self.seat.leave()
                self.session.forget(self)
