"""What searches and acts on all that match return, and how their rows are read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypedDict

from .call import Rows

Act = Literal["retry", "replay", "move", "park", "discard"]
Cursor = dict[str, Any]


class ActOptions(TypedDict, total=False):
    """What an act on matching messages takes. None means left out."""

    target: str | None
    """Queue to move or replay to."""
    until: datetime | str | None
    """When a parked message is due, in PostgreSQL's form if it is text."""
    delay: timedelta | str | None
    """How long a message is parked, in PostgreSQL's form if it is text."""


FOUND_COLUMNS = (
    "message_id, state, priority, sent_at, message_group, attempts, headers, body, body_type, cursor, looked, complete"
)
SHOWN_COLUMNS = (
    "id, state, priority, sent_at, expires_at, message_group, attempts, headers, body, body_type, body_bytes,"
    " content_type, correlation_id, reply_to, message_type, delivery_mode, origin_queue, dead_reason, dead_at, due_at,"
    " parked_reason, redacted"
)
HISTORY_COLUMNS = "at, source, event, queue_name, other_queue, actor, reason, details, looked, complete"
REDACTION_COLUMNS = "pattern, path, reason, set_at, set_by"


class Filter(TypedDict, total=False):
    """Which messages: those that match all that is given. docs/search.md explains each."""

    selector: str
    header: dict[str, str]
    body: str
    state: Literal["ready", "delayed", "leased", "parked", "dead", "expired"]
    min_priority: int
    group: str
    sent_after: str
    sent_before: str
    cause: str
    error_class: str
    trace: str
    origin: str


@dataclass(frozen=True)
class Page:
    """What one search found, and how far it looked."""

    rows: Rows
    #: Rows that it looked at.
    looked: int
    #: Whether it came to the end.
    complete: bool
    #: Where the next call goes on. None: at the end, or this is a history.
    cursor: Cursor | None = None


@dataclass(frozen=True)
class Counted:
    """How many messages match, as far as one call looked."""

    matching: int
    looked: int
    complete: bool
    cursor: Cursor | None


@dataclass(frozen=True)
class Batch:
    """What one call did with messages that match."""

    done: int
    #: Matching messages that are in somebody's hands, or have no queue to go back to.
    passed: int
    looked: int
    complete: bool
    cursor: Cursor | None


def page(rows: Rows) -> Page:
    """Split what was found from the last row, which tells how far the search looked."""
    *found, end = rows
    for row in found:
        for key in ("looked", "complete"):
            row.pop(key, None)
    return Page(found, end["looked"], end["complete"], end.get("cursor"))


def counted(rows: Rows) -> Counted:
    """Read the one row of a count."""
    return Counted(**rows[0])


def batch(rows: Rows) -> Batch:
    """Read the one row of an act."""
    return Batch(**rows[0])


def shown(rows: Rows) -> dict[str, Any] | None:
    """Read the one message, if it is there."""
    return rows[0] if rows else None
