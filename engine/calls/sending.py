"""The calls that send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack
from uuid import UUID

from .arrays import TextArray, with_arrays
from .bodies import Body, encode, encode_all, headers_array, to_json
from .call import Call, Seconds, interval, invoke, single
from .options import SendManyOptions
from .stamps import StampedBatch, StampedHeaders


def send(
    queue: str,
    body: Body,
    *,
    headers: Mapping[str, Any] | None = None,
    priority: int | None = None,
    correlation_id: str | None = None,
    reply_to: str | None = None,
    message_type: str | None = None,
    conversation_id: UUID | None = None,
    time_to_live: Seconds | None = None,
    delay: Seconds | None = None,
    delivery_mode: str | None = None,
    reliability: str | None = None,
    content_type: str | None = None,
    notify: bool = True,
    deduplication_key: str | None = None,
) -> Call[int]:
    """Send one message; the result is its number. time_to_live and delay are seconds or timedelta.

    notify False: for a transaction that will be prepared (two-phase), which forbids NOTIFY. If a message with this
    deduplication_key was sent there within the queue's window, nothing is stored and the result is its number.
    """
    kind, value, needed = encode(body)
    invocation, arguments = invoke(
        "send",
        {"queue": ("text", queue), "body": (kind, value)},
        {
            "headers": ("jsonb", None if headers is None else to_json(headers)),
            "priority": ("integer", priority),
            "correlation_id": ("text", correlation_id),
            "reply_to": ("text", reply_to),
            "message_type": ("text", message_type),
            "conversation_id": ("uuid", conversation_id),
            "time_to_live": ("interval", interval("time_to_live", time_to_live)),
            "delay": ("interval", interval("delay", delay)),
            "delivery_mode": ("text", delivery_mode),
            "reliability": ("text", reliability),
            "content_type": ("text", content_type or needed),
            "notify": ("boolean", None if notify else False),
            "deduplication_key": ("text", deduplication_key),
        },
    )
    if type(headers) is StampedHeaders:
        invocation = headers.stamps.stamped(invocation)
    return Call(f"select {invocation}", arguments, single)


def send_many(
    queue: str,
    bodies: Sequence[Body],
    *,
    headers: Sequence[Mapping[str, Any] | None] | None = None,
    priorities: Sequence[int | None] | int | None = None,
    correlation_ids: Sequence[str | None] | None = None,
    message_types: Sequence[str | None] | None = None,
    conversation_ids: Sequence[UUID | None] | None = None,
    reply_to: str | None = None,
    time_to_live: Seconds | None = None,
    delay: Seconds | None = None,
    delivery_mode: str | None = None,
    reliability: str | None = None,
    content_type: str | None = None,
    notify: bool = True,
    deduplication_keys: Sequence[str | None] | None = None,
) -> Call[list[int]]:
    """Send many messages of one kind of body in one statement, all or nothing; the result is their numbers in order.

    priorities: one number is that of all.
    """
    if type(headers) is StampedBatch and not headers:
        headers.extend([None] * len(bodies))
    if isinstance(priorities, int):
        priorities = [priorities] * len(bodies)
    kind, array, needed = encode_all(bodies)
    invocation, arguments = invoke(
        "send_batch",
        {"queue": ("text", queue), "bodies": (kind, array)},
        {
            "headers": ("jsonb[]", None if headers is None else headers_array(headers)),
            "priorities": ("integer[]", None if priorities is None else list(priorities)),
            "correlation_ids": ("text[]", None if correlation_ids is None else TextArray(correlation_ids)),
            "message_types": ("text[]", None if message_types is None else TextArray(message_types)),
            "conversation_ids": ("uuid[]", None if conversation_ids is None else list(conversation_ids)),
            "reply_to": ("text", reply_to),
            "time_to_live": ("interval", interval("time_to_live", time_to_live)),
            "delay": ("interval", interval("delay", delay)),
            "delivery_mode": ("text", delivery_mode),
            "reliability": ("text", reliability),
            "content_type": ("text", content_type or needed),
            "notify": ("boolean", None if notify else False),
            "deduplication_keys": ("text[]", None if deduplication_keys is None else TextArray(deduplication_keys)),
        },
    )
    if type(headers) is StampedBatch:
        invocation = headers.stamps.stamped(invocation, "stamp_all_headers", "jsonb[]")
    return Call(f"select {invocation}", arguments, single, with_arrays)


def send_count(queue: str, bodies: Sequence[Body], **options: Unpack[SendManyOptions]) -> Call[int]:
    """As send_many, answered by the number of messages only."""
    many = send_many(queue, bodies, **options)
    return Call(many.sql.replace("select ", "select cardinality(", 1) + ")", many.arguments, single, many.setup)
