"""Filters of dead messages, and the call that finds a message in any state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypedDict

from .call import Call
from .message import COLUMNS, Message, as_messages


class Which(TypedDict, total=False):
    """Filters of dead messages, which listing and replaying share."""

    #: The queue they died in.
    origin: str | None
    #: Class and fingerprint of their last failure's error.
    error_class: str | None
    fingerprint: str | None
    #: Messages that died before that time, or from that time on.
    older_than: datetime | None
    newer_than: datetime | None
    #: JMS selector over their headers and properties.
    selector: str | None


@dataclass(frozen=True)
class Found:
    """A message and its place."""

    message: Message
    #: live, parked or dead.
    state: str
    #: Until when and why it is parked.
    due_at: datetime | None
    parked_reason: str | None


def find(message_id: int, queue: str | None) -> Call[Found | None]:
    def decode(rows: list[Any]) -> Found | None:
        if not rows:
            return None
        # Behind the fields of a message: what poison_message says of its place. Times are plain numbers there.
        (row,) = (message._row for message in rows)
        width = len(row) - 3
        state, due, reason = row[width:]
        return Found(Message(row[:width]), state, None if due is None else datetime.fromtimestamp(due, UTC), reason)

    return Call(
        f"select {COLUMNS}, state, extract(epoch from due_at)::float8, parked_reason"
        " from (select (p.message).*, p.state, p.due_at, p.parked_reason"
        " from howdah.poison_message(%s::bigint, %s::text) p) m",
        (message_id, queue),
        decode,
        as_messages,
    )


def filters(which: Which) -> dict[str, tuple[str, Any]]:
    return {
        "origin": ("text", which.get("origin")),
        "error_class": ("text", which.get("error_class")),
        "fingerprint": ("text", which.get("fingerprint")),
        "selector": ("text", which.get("selector")),
        "older_than": ("timestamptz", which.get("older_than")),
        "newer_than": ("timestamptz", which.get("newer_than")),
    }


def numbers(message_ids: Sequence[int] | None) -> tuple[str, Any]:
    return "bigint[]", None if message_ids is None else list(message_ids)


def chosen(
    queue: str,
    message_ids: Sequence[int] | None,
    which: Which,
    reason: str | None,
    max_messages: int | None,
    dry_run: bool,
) -> dict[str, tuple[str, Any]]:
    """Return the arguments of an act on dead messages, which are named or match filters."""
    return {
        "queue": ("text", queue),
        "message_ids": numbers(message_ids),
        "reason": ("text", reason),
        "max_messages": ("bigint", max_messages),
        "dry_run": ("boolean", dry_run),
        **filters(which),
    }
