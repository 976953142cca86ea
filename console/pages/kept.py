"""Messages that were consumed and that their queue keeps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from ...engine.calls import Rows
from ...engine.errors import NoSuchQueue
from ..database import Work
from .listings import MOST, Listing, to_act
from .page import Link, number, time_of

#: How much of each body a list gets.
BEGINNING, LENGTH = "body::varchar(300)", "octet_length(bytes)"
FOUND = f"message_id, kept_at, kept_until, sent_at, priority, delivery_count, {BEGINNING}, {LENGTH}"
JSON = re.compile(r"[/+]json($|;)", re.IGNORECASE)
#: How much of a body the page of a message shows.
WHOLE = (
    "kept_until, priority, sent_at, expires_at, content_type, message_type, correlation_id, reply_to, delivery_mode,"
    " origin_queue, dead_reason, dead_at, headers, body, bytes"
)


@dataclass(frozen=True)
class _Kept(Listing):
    """The kept messages of one queue, the last consumed one first."""

    def rows(
        self, request: Request, work: Work, given: Mapping[str, str | None], begin: Mapping[str, Any] | None = None
    ) -> Rows:
        """One page, with the beginning of each body."""
        if not given["queue"]:
            return []
        found = work.table(
            self.function,
            FOUND,
            queue=("text", given["queue"]),
            max_messages=("integer", MOST + 1),
            after_kept_at=("timestamptz", time_of(request, "after_kept_at")),
            after_id=("bigint", number(request, "after_id")),
            newest_first=("boolean", True),
        )
        return [
            {
                **row,
                "queue_name": given["queue"],
                "body": f"{row[LENGTH]} bytes" if row[BEGINNING] is None else row[BEGINNING],
            }
            for row in found
        ]


def _message(row: Mapping[str, Any], link: Link) -> str:
    return link("/message", queue=row["queue_name"], id=row["message_id"])


def kept_message(work: Work, queue: str, message_id: int) -> dict[str, Any] | None:
    """A message that is kept; None: it is not, or the person may not see it."""
    arguments: dict[str, tuple[str, Any]] = {"queue": ("text", queue), "only_id": ("bigint", message_id)}
    rows: Rows = []
    with suppress(NoSuchQueue):  # what has a page and keeps nothing: a topic
        rows = work.part(lambda: work.table("browse_kept", WHOLE, **arguments))
    if not rows:
        return None
    row = rows[-1]
    raw: bytes = row["bytes"] if row["body"] is None else row["body"].encode()
    kind = "bytes" if row["body"] is None else "json" if JSON.search(row["content_type"]) else "text"
    body = raw.hex() if kind == "bytes" else row["body"]
    return {**row, "state": "consumed, and kept", "body": body, "body_type": kind, "body_bytes": len(raw)}


KEPT = _Kept(
    "Kept messages",
    "browse_kept",
    (
        ("message_id", "Message"),
        ("kept_at", "Consumed"),
        ("kept_until", "Kept until"),
        ("sent_at", "Sent"),
        ("priority", "Priority"),
        ("delivery_count", "Deliveries"),
        ("body", "Body"),
    ),
    "This queue keeps no message that was consumed. With its option keep_bodies_ms it does.",
    hint="Consumed messages, the last one first. To replay all of them: howdah kept replay QUEUE --all",
    arguments=(("queue", "text"),),
    needed="queue",
    links={"message_id": _message},
    acts={"Replay": to_act("replay-kept", "message_id"), "Delete": to_act("delete-kept", "message_id")},
    pick="message_id",
    within="queue",
    after=(("after_kept_at", "timestamptz", "kept_at"), ("after_id", "bigint", "message_id")),
)
