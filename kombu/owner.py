"""What a channel knows of the connection that it belongs to."""

from __future__ import annotations

from typing import Protocol

from .catalogue import Catalogue
from .exchanges import Replies
from .leases import Leases
from .server import Server


class Owner(Protocol):
    """A transport, which kombu calls a connection."""

    server: Server
    places: Catalogue
    replies: Replies
    leases: Leases
    lease_seconds: float
    #: kombu's: after these the connection is made anew.
    connection_errors: tuple[type[Exception], ...]

    @property
    def flushes(self) -> bool:
        """Whether an event loop flushes leases soon after they were taken."""

    def hurry(self) -> None:
        """Look at once: there is a new consumer, or room for more."""
