"""Messages of a JMS queue in Python, and the transactions that have them in hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

LIMIT = 3
"""max_failed_deliveries of the queue."""

Predicate = Callable[["Message"], bool]


@dataclass(eq=False)
class Session:
    """A connection's transaction as the model sees it: how to undo what it did, from the last to the first."""

    name: str
    open: bool = False
    undo: list[Callable[[], None]] = field(default_factory=list)
    mark: int | None = None
    #: Whether this transaction has received: it may hold locks of groups and messages that it was not given.
    received: bool = False


@dataclass(eq=False)
class Message:
    """A message and where it is.

    Ready, parked (until due; under a lease or not), consumed, dead, discarded or never sent.
    """

    number: int
    priority: int
    headers: dict[str, Any]
    correlation: str | None
    persistent: bool
    delayed: bool
    expires: datetime | None
    due: datetime | None
    place: str
    alone: bool
    sent: bool = False
    waiting: bool = False
    lease: int | None = None
    touched: Session | None = None
    failures: int = 0
    #: Of the failures those that were told while somebody had a lease: the limit does not count them.
    uncounted: int = 0
    #: When the delay ends of a failure that was told while another transaction had it: whoever meets it parks it.
    held_until: datetime | None = None
    had: bool = False
    #: Whether it ever came back to its place in another way than by a rollback: released, failed or retried.
    put_back: bool = False
    #: Bytes of its body.
    size: int = 1
    #: What other sessions see while a transaction has it in hand.
    before: dict[str, Any] = field(default_factory=dict)

    @property
    def state(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in CHANGING}

    @property
    def position(self) -> int:
        return self.number // 1_000_000

    @property
    def group(self) -> str | None:
        group: str | None = self.headers.get("JMSXGroupID")
        return group

    @property
    def ordinary(self) -> bool:
        """It lies in the main table as long as nobody parks it, in the order of positions."""
        return self.persistent and not self.delayed and self.held_until is None


def everything(_: Message) -> bool:
    return True


CHANGING = ("place", "due", "waiting", "lease", "touched", "sent")
