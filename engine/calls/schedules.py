"""The call that has the clock send messages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from .bodies import Body, encode, to_json
from .call import Call, Seconds, interval, scalar

COLUMNS = (
    "schedule_id, name, queue_name, state, cron, time_zone, period, remaining, next_at, starts_at, ends_at, catch_up,"
    " misfire_grace, fired, missed, last_fired_at, last_error, parent_id, message_type, correlation_id, created_at,"
    " created_by"
)


DELAYED_COLUMNS = (
    "message_id, due_at, sent_at, expires_at, priority, message_type, correlation_id, headers, bytes, reason"
)


def schedule(
    queue: str,
    body: Body,
    *,
    cron: str | None = None,
    period: Seconds | None = None,
    repeat: int | None = None,
    starts_at: datetime | None = None,
    ends_at: datetime | None = None,
    delay: Seconds | None = None,
    name: str | None = None,
    time_zone: str | None = None,
    catch_up: bool | None = None,
    misfire_grace: Seconds | None = None,
    headers: Mapping[str, Any] | None = None,
    priority: int | None = None,
    correlation_id: str | None = None,
    reply_to: str | None = None,
    message_type: str | None = None,
    conversation_id: UUID | None = None,
    time_to_live: Seconds | None = None,
    delivery_mode: str | None = None,
    reliability: str | None = None,
    content_type: str | None = None,
) -> Call[int]:
    """The call of howdah.schedule; lengths of time are seconds or timedelta, points in time have a time zone."""
    kind, value, needed = encode(body)
    lengths: dict[str, timedelta | None] = {
        "period": interval("period", period),
        "delay": interval("delay", delay),
        "misfire_grace": interval("misfire_grace", misfire_grace),
        "time_to_live": interval("time_to_live", time_to_live),
    }
    words = {
        "cron": cron,
        "name": name,
        "time_zone": time_zone,
        "correlation_id": correlation_id,
        "reply_to": reply_to,
        "message_type": message_type,
        "delivery_mode": delivery_mode,
        "reliability": reliability,
        "content_type": content_type or needed,
    }
    given: dict[str, tuple[str, Any]] = {
        "queue": ("text", queue),
        "body": (kind, value),
        **{key: ("interval", length) for key, length in lengths.items()},
        **{key: ("text", word) for key, word in words.items()},
        "repeat": ("integer", repeat),
        "priority": ("integer", priority),
        "starts_at": ("timestamptz", starts_at),
        "ends_at": ("timestamptz", ends_at),
        "catch_up": ("boolean", catch_up),
        "headers": ("jsonb", None if headers is None else to_json(headers)),
        "conversation_id": ("uuid", conversation_id),
    }
    return scalar("schedule", **given).then(int)
