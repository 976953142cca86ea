"""What a session with an acknowledge mode holds, as its own verbs and the connection's keeper look at it."""

from __future__ import annotations

import math
import time
from contextlib import suppress

import psycopg

from ..errors import HowdahError
from ..sessions.owner import Owner
from ..sessions.seat import Seat
from .base import SessionBase
from .consumer import AckConsumer
from .holding import Delivery, Holder
from .keeper import Keeper
from .modes import AckMode


class KeptSession(SessionBase):
    """The consumers of a session. The keeper waits for none of its locks."""

    def __init__(self, owner: Owner, mode: AckMode, keeper: Keeper) -> None:
        super().__init__(owner, mode, keeper)
        self._consumers: list[AckConsumer] = []

    @property
    def delivered(self) -> list[Delivery]:
        """All that was delivered and is not acknowledged."""
        return [message for consumer in self._consumers for message in consumer.holding.delivered.values()]

    @property
    def listening(self) -> list[AckConsumer]:
        """The consumers with a listener."""
        return [consumer for consumer in list(self._consumers) if consumer.listener is not None and not consumer.closed]

    @property
    def leases(self) -> list[tuple[str, int]]:
        """What it holds: (queue, lease). For the connection's keeper, which waits for no lock."""
        return [(consumer.queue, lease) for consumer in list(self._consumers) for lease in consumer.holding.leases]

    @property
    def seats(self) -> list[Seat]:
        """The open consumers that it has of queues that tell them apart. For the connection's keeper."""
        return [consumer.seat for consumer in list(self._consumers) if consumer.seat.number is not None]

    def renewed(self, lost: set[int], until: float) -> None:
        """Note how long its leases last, by the monotonic clock, except the lost ones: others have their messages."""
        for consumer in list(self._consumers):
            consumer.holding.renewed(until, lost)
        if lost and self.lock.acquire(blocking=False):  # else they are dropped once their time is over
            try:
                for consumer in self._consumers:
                    consumer.holding.drop(lost & set(consumer.holding.leases))
            finally:
                self.lock.release()

    def flush_due(self) -> float:
        """Acknowledge what has waited long enough. Returns when to look again, by the monotonic clock."""
        if min((c.flush_due() for c in list(self._consumers)), default=math.inf) <= time.monotonic():
            if not self.lock.acquire(blocking=False):
                return time.monotonic()
            try:
                for consumer in list(self._consumers):
                    if consumer.flush_due() <= time.monotonic() and not self.closed:
                        with suppress(HowdahError, psycopg.Error):
                            consumer.flush()
            finally:
                self.lock.release()
        return min((c.flush_due() for c in list(self._consumers)), default=math.inf)

    def forget(self, consumer: Holder) -> None:
        """Forget a closed consumer that no longer holds anything."""
        if isinstance(consumer, AckConsumer) and consumer.closed and not consumer.holding.leases:
            with suppress(ValueError):
                self._consumers.remove(consumer)
