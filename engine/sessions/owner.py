"""What a session asks of the connection that it belongs to."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from ..calls import Call
from ..calls.levels import LevelMapping
from ..calls.objects import FoundObject
from ..database.waking import Waking

T = TypeVar("T")


class SessionOwner(Protocol):
    """A connection, as its sessions know it."""

    #: The most redeliveries of a message to its listeners, beside the queue's own limit. None: only the queue's limit.
    max_redeliveries: int | None
    #: The levels of reliability that delivery modes stand for.
    levels: LevelMapping

    @property
    def waking(self) -> Waking | None:
        """What wakes waiting receives. None: nothing does, so they look from time to time."""

    @property
    def client_id(self) -> str | None:
        """The client id that the connection has claimed."""

    def found(self, found: FoundObject) -> Any:
        """Make a factory or a destination of an object that was found."""

    @property
    def started(self) -> bool:
        """Whether sessions may receive."""

    def forget(self, session: object) -> None:
        """Note that a session was closed."""


class Owner(SessionOwner, Protocol):
    """A connection, as sessions with acknowledge modes and the keeper of their leases know it."""

    #: Seconds after which what a session holds under leases comes back if its process dies.
    lease_duration: float

    def run(self, call: Call[T]) -> T:
        """Run a call in a transaction of its own, also while the connection is being closed."""
