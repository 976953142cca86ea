"""A consumer of a session with an acknowledge mode: it receives ahead, and delivers by call or to a listener."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import psycopg

from ..calls.message import BEST_EFFORT
from ..errors import BadArgument, HowdahError, IllegalState
from ..handling.functions import check_listener
from .ahead import Listener, ReceivesAhead
from .holding import Delivery
from .modes import AckType


class AckConsumer(ReceivesAhead):
    """Receives from one queue or subscription. One thread may call its methods; any may call ``close``."""

    # -- receiving ------------------------------------------------------------------------------------------------

    def receive(self, timeout: float | None = None) -> Delivery | None:
        """Return the next message; None after ``timeout`` seconds (None: no limit) or after close().

        While the connection is stopped nothing comes, and the time runs on.
        """
        return self.receive_unless(lambda: False, timeout)

    def receive_unless(self, given_up: Callable[[], bool], timeout: float | None = None) -> Delivery | None:
        """As ``receive``, and None once ``given_up`` says so. Code that changes ``given_up`` wakes the session."""
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
                # Nobody has seen it. If it was acknowledged after all, the lost lease shows the next time.
                self.holding.delivered.pop(message.message_id, None)
                self.holding.ahead.appendleft(message)
                raise

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

    def undeliver(self, message: Delivery) -> bool:
        """Take back a message that nobody has seen, to be delivered next. False if it is consumed already."""
        with self.session.lock:
            if self._by_session or self.session.closed:
                return False
            if self.holding.delivered.get(message.message_id) is not message:
                return False
            if not self.closed:
                self.holding.again([message])
                return True
            try:
                self.session.acknowledger.give_back(self.queue, [message])
            finally:
                self.holding.forget([message])
                self.session.forget(self)
            return True

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
                ahead = [message for message in self.holding.ahead if message.lease]
                try:
                    self.flush()
                    self.session.acknowledger.give_back(self.queue, ahead)
                finally:
                    # What could not be given back comes again when its lease ends: nobody renews that any more.
                    self.holding.ahead.clear()
                    self.holding.forget(ahead)
                    try:
                        self.seat.leave()
                    finally:
                        self.session.forget(self)
