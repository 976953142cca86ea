"""What a session with an acknowledge mode shares with its consumers."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import Counter
from typing import TypeVar

from ..calls import Call
from ..database.waiter import Waiter
from ..errors import IllegalState
from ..sessions.owner import Owner
from .acknowledger import Acknowledger
from .holding import Delivery, Holder
from .keeper import Keeper
from .modes import AckMode, AckType

T = TypeVar("T")


class SessionBase(Waiter, ABC):
    """The mode, the lock and the helpers of a session; what it does with its consumers is AckSession's."""

    def __init__(self, owner: Owner, mode: AckMode, keeper: Keeper) -> None:
        super().__init__(owner.waking)
        self._owner = owner
        self.mode = mode
        self.keeper = keeper
        self.lease_duration = owner.lease_duration
        self.acknowledger = Acknowledger(self.run, owner.lease_duration)
        self.closed = False
        #: Held for each change of what the session holds.
        self.lock = threading.RLock()

    @property
    def ready(self) -> bool:
        """Whether messages may be delivered."""
        return self._owner.started and not self.closed

    def check_open(self) -> None:
        """Raises IllegalState if it is closed."""
        if self.closed:
            raise IllegalState("the session is closed")

    def run(self, call: Call[T]) -> T:
        """Run a call in a transaction of its own."""
        return self._owner.run(call)

    def received(self, call: Call[T], *, consumed: bool) -> Call[T]:
        """Return the call of a receive, with the properties that messages get then."""
        return self._owner.levels.received(call, consumed=consumed)

    def stamp(self, message: Delivery) -> None:
        """Give a message that is handed out the id of the session's transaction, if that is wanted."""

    @property
    def acks(self) -> Counter[AckType]:
        """Acknowledgements so far, by kind: statements, and for DELIVERED windows that grew."""
        return self.acknowledger.counts

    # -- what consumers ask of it ---------------------------------------------------------------------------------

    @abstractmethod
    def acknowledge_message(self, message: Delivery) -> None:
        """What ``message.acknowledge`` does."""

    @abstractmethod
    def listen(self) -> None:
        """Note that a consumer got or lost its listener."""

    @abstractmethod
    def forget(self, consumer: Holder) -> None:
        """Forget a closed consumer that no longer holds anything."""
