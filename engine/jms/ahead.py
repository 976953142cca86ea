"""The half of a consumer that receives ahead, into its buffer, and knows how far."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from .. import calls
from ..database.waiting import Idle
from ..sessions.seat import Seat
from . import lease_calls
from .base import SessionBase
from .holding import Delivery, Holding
from .modes import AckMode, AckType
from .prefetch import BATCH_MAX, Window

Listener = Callable[[Delivery], Any]


class ReceivesAhead(ABC):
    """Holds messages under leases before anybody asks for them."""

    def __init__(self, session: SessionBase, window: Window, seat: Seat, selector: str | None = None) -> None:
        self.session = session
        self.window = window
        self.queue = window.queue
        #: Its place among the consumers of the queue, if the queue tells them apart.
        self.seat = seat
        #: The consumer receives only messages for which it is true. None: all.
        self.selector = selector
        #: Whether it holds all that it may and acknowledges nothing. Others get the rest.
        self.slow = False
        self.closed = False
        self.holding = Holding()
        self._listener: Listener | None = None
        #: By how much a client's window has grown.
        self._extension = 0
        #: The most messages so far that were delivered and not acknowledged.
        self._most = 0
        #: Since when something waits to be acknowledged by the session.
        self._pending_since: float | None = None

    @property
    def prefetch(self) -> int:
        """Messages it holds ahead; 0: none."""
        return self.window.prefetch

    def look(self, idle: Idle) -> Delivery | None:
        """Return the next message of the buffer, after filling an empty one."""
        with self.session.lock:
            if self.closed or not self.session.ready:
                return None
            message = self._next()
            if message is None:
                self._ask(idle)
                found = self.fill()
                # If the connection was stopped meanwhile, leases wait for its start. What is consumed cannot wait.
                consumed = self.session.mode is AckMode.AUTO and self.prefetch == 0
                message = self._next() if found and (consumed or self.session.ready) else None
            if message is not None:
                idle.found()
            return message

    def fill(self) -> bool:
        """Claim what there is room for. Returns whether there was anything."""
        if self.session.mode is AckMode.AUTO and self.prefetch == 0:
            # The message is consumed before receive returns, so it needs no lease.
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
            return self.prefetch - len(self.holding.ahead)  # messages in the transaction can end only with it
        return self.prefetch + self._extension - len(self.holding)

    def _suspects(self) -> int:
        """How many messages it may have in hand at a time, as far as is known. They are blamed if it dies."""
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
            self.session.acknowledger.give_back(self.queue, expired)  # the next receive disposes of it
            self.session.acks[AckType.EXPIRED] += 1
            self.holding.forget_first(expired)
        return self.holding.ahead.popleft() if self.holding.ahead else None

    @property
    def _by_session(self) -> bool:
        """Whether the session itself acknowledges."""
        return self.session.mode in (AckMode.AUTO, AckMode.DUPS_OK)

    # -- what holds its messages asks of it -----------------------------------------------------------------------

    @abstractmethod
    def acknowledged(self, messages: list[Delivery]) -> None:
        """Forget messages that were consumed or that others have."""

    @abstractmethod
    def acknowledge_message(self, message: Delivery) -> None:
        """What ``message.acknowledge`` does."""
