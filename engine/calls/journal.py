"""Calls for reading the journal batch by batch: offsets, and ranges to read in parallel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .bodies import to_json
from .call import Call, Rows, scalar, table

Offset = dict[str, Any]
"""A place in the journal: snapshot (text), system (the cluster) and dropped. JSON all through."""


def journal_offset(starting: str = "latest") -> Call[Offset]:
    """Return the place to start from: earliest, latest or a snapshot."""
    return scalar("journal_offset", starting=("text", starting))


def next_journal_offset(
    since: Offset,
    max_messages: int | None = None,
    upto: Offset | None = None,
    queues: Sequence[str] | None = None,
    *,
    fail_on_loss: bool = True,
) -> Call[Offset]:
    """Return how far one batch may go: whole transactions of max_messages at most, or a single larger one.

    Raises JournalGone, ForeignOffset.
    """
    arguments: dict[str, tuple[str, Any]] = {
        "since": ("jsonb", to_json(since)),
        "max_messages": ("bigint", max_messages),
        "upto": ("jsonb", None if upto is None else to_json(upto)),
        "queues": ("text[]", None if queues is None else list(queues)),
        "fail_on_loss": ("boolean", fail_on_loss),
    }
    return scalar("next_journal_offset", **arguments)


def journal_ranges(since: Offset, upto: Offset, partitions: int) -> Call[Rows]:
    """Return ranges of transactions, first_xid to end_xid (exclusive), with about the same number of calls each."""
    arguments: dict[str, tuple[str, Any]] = {
        "since": ("jsonb", to_json(since)),
        "upto": ("jsonb", to_json(upto)),
        "partitions": ("integer", partitions),
    }
    return table("journal_ranges", "first_xid, end_xid", **arguments)


def check_journal_offset(since: Offset, *, fail_on_loss: bool = True) -> Call[None]:
    """Raise JournalGone or ForeignOffset if the journal lacks a part of what came after a place."""
    return scalar("check_journal_offset", since=("jsonb", to_json(since)), fail_on_loss=("boolean", fail_on_loss))
