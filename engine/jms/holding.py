"""What a consumer that receives ahead holds under leases."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Container, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import takewhile
from time import monotonic
from typing import Protocol

from ..calls.leases import Lease
from ..calls.message import Message


class Delivery(Message):
    """A message that a session with an acknowledge mode delivered."""

    __slots__ = ("consumer", "lease")

    #: Its lease. 0: it was consumed when it was received.
    lease: int
    #: The consumer that got it.
    consumer: Holder

    @classmethod
    def of(cls, message: Message, lease: int, consumer: Holder) -> Delivery:
        """A message as its consumer got it."""
        delivery = cls(message._row)
        delivery.lease, delivery.consumer = lease, consumer
        return delivery

    def acknowledge(self) -> None:
        """Consume all that the session has delivered (CLIENT), this message (INDIVIDUAL) or nothing (other modes).

        Raises LeaseLost if somebody else has some of that by now.
        """
        self.consumer.acknowledge_message(self)


class Holding:
    """One consumer's messages: ahead of delivery, in order, and delivered but not acknowledged, in order."""

    def __init__(self) -> None:
        self.ahead: deque[Delivery] = deque()
        self.delivered: dict[int, Delivery] = {}
        self._leases: Counter[int] = Counter()
        #: Until when the leases last at least, by this machine's monotonic clock.
        self._until: dict[int, float] = {}
        #: One moment by both clocks: the server's, and this machine's monotonic one.
        self._moment: tuple[datetime, float] | None = None
        #: Leases without messages, which the server may forget.
        self.finished: list[int] = []

    def add(self, lease: Lease, consumer: Holder, until: float, *, first: bool = False) -> None:
        """Add leased messages, to be delivered last or first. ``until`` goes by the monotonic clock."""
        self._until[lease.number] = until
        self._moment = lease.until, until
        messages = [Delivery.of(message, lease.number, consumer) for message in lease.messages]
        self._leases[lease.number] += len(messages)
        if first:
            self.ahead.extendleft(reversed(messages))
        else:
            self.ahead.extend(messages)

    def forget(self, messages: Iterable[Delivery]) -> None:
        """Forget messages that are consumed, given back or lost."""
        for message in messages:
            self.delivered.pop(message.message_id, None)
            if message.lease not in self._leases:  # it was dropped
                continue
            self._leases[message.lease] -= 1
            if self._leases[message.lease] <= 0:
                del self._leases[message.lease]
                self._until.pop(message.lease, None)
                self.finished.append(message.lease)

    def expired(self) -> list[Delivery]:
        """Return the first messages ahead that have expired by the server's clock, whatever this machine's says."""
        if self._moment is None:
            return []
        then, until = self._moment
        now = then + timedelta(seconds=monotonic() - until)
        return list(takewhile(lambda m: m.lease and m.expires_at is not None and m.expires_at <= now, self.ahead))

    def forget_first(self, messages: Sequence[Delivery]) -> None:
        """Forget the first messages ahead, which are given back."""
        self.forget(messages)
        for _ in messages:
            self.ahead.popleft()

    def drop(self, leases: Iterable[int]) -> None:
        """Forget messages ahead under lost leases. Acknowledging a delivered one raises LeaseLost."""
        lost = set(leases)
        for lease in lost:
            self._leases.pop(lease, None)
            self._until.pop(lease, None)
        self.ahead = deque(message for message in self.ahead if message.lease not in lost)

    def renewed(self, until: float, lost: Container[int] = ()) -> None:
        """Note until when all leases last at least, except lost ones. The caller needs no lock."""
        for lease in list(self._until):
            if lease not in lost:
                self._until[lease] = until

    def overdue(self, now: float) -> list[int]:
        """Leases that nobody renewed in time, as happens when the process is stopped for long."""
        return [lease for lease, until in self._until.items() if until < now]

    def again(self, messages: Sequence[Delivery]) -> None:
        """Put delivered messages ahead again, first, under the lease they had."""
        for message in messages:
            self.delivered.pop(message.message_id, None)
        self.ahead.extendleft(reversed(messages))

    def clear(self) -> None:
        """Forget all."""
        self.ahead.clear()
        self.delivered.clear()
        self._leases.clear()
        self._until.clear()

    @property
    def leases(self) -> list[int]:
        """The leases it has messages of."""
        return list(self._leases)

    def __len__(self) -> int:
        return len(self.ahead) + len(self.delivered)


class Holder(Protocol):
    """A consumer, as code that deals with its messages knows it."""

    queue: str
    closed: bool
    holding: Holding

    def acknowledge_message(self, message: Delivery) -> None:
        """What ``message.acknowledge`` does."""

    def acknowledged(self, messages: list[Delivery]) -> None:
        """Note that messages are consumed, or no longer this consumer's."""
