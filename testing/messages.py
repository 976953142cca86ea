"""Handmade messages, for handlers that are called without a queue."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from ..engine import Body, Message
from ..engine.calls.bodies import encode, json_text

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_CONTENT_TYPES = {"text": "text/plain", "bytea": "application/octet-stream", "jsonb": "application/json"}
_numbers = itertools.count(1)


def make_message(
    body: Body = "",
    *,
    queue: str = "test",
    message_type: str | None = None,
    headers: Mapping[str, Any] | None = None,
    content_type: str | None = None,
    priority: int = 4,
    correlation_id: str | None = None,
    reply_to: str | None = None,
    conversation_id: UUID | None = None,
    delivery_mode: str = "persistent",
    reliability: str | None = None,
    sent_at: datetime | None = None,
    expires_at: datetime | None = None,
    delivery_count: int = 1,
    message_id: int | None = None,
    position: int | None = None,
    stage: int = 0,
    origin_queue: str | None = None,
    dead_reason: str | None = None,
    dead_at: datetime | None = None,
) -> Message:
    """Return a message as a handler gets it, with any body that can be sent. No queue holds it.

    By default it was sent just now and is delivered for the first time; a greater ``delivery_count`` makes it
    redelivered. Message ids are unique in the process. Raises BadArgument for a body or headers that could not be sent.
    """
    kind, value, needed = encode(body)
    number = next(_numbers)
    text = None if kind == "bytea" else value if kind == "text" else value.dumps(value.obj)
    return Message(
        (
            number if message_id is None else message_id,
            queue,
            text,
            value if kind == "bytea" else None,
            content_type or needed or _CONTENT_TYPES[kind],
            None if headers is None else json_text(dict(headers)),
            priority,
            correlation_id,
            reply_to,
            message_type,
            conversation_id,
            delivery_mode,
            _micros(datetime.now(UTC) if sent_at is None else sent_at),
            _micros(expires_at),
            delivery_count,
            delivery_count > 1,
            number if position is None else position,
            stage,
            origin_queue,
            dead_reason,
            _micros(dead_at),
            reliability or ("ASSURED_PERSISTENT" if delivery_mode == "persistent" else "EXPRESS_NONPERSISTENT"),
        )
    )


def _micros(moment: datetime | None) -> int | None:
    """Return PostgreSQL's count of microseconds. A time without zone is local."""
    return None if moment is None else (moment.astimezone(UTC) - _EPOCH) // timedelta(microseconds=1)
