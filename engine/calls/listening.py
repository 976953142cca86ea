"""Receiving through a listener: the calls of a consumer that stops when deliveries fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from . import Attempt, Call, Incident, scalar
from .bodies import to_json
from .message import COLUMNS, Message, as_messages


def receive_as(listener: str, max_messages: int = 1, consumer: int | None = None) -> Call[list[Message]]:
    """As ``calls.receive``; nothing if the listener is stopped or all its sessions are at work."""
    return Call(
        f"select {COLUMNS} from howdah.receive_as(%s::text, %s::integer, %s::bigint)",
        (listener, max_messages, consumer),
        lambda rows: list(rows),
        as_messages,
    )


def begin_attempts_as(listener: str, max_messages: int = 1, attempt_id: UUID | None = None) -> Call[list[Attempt]]:
    """As ``calls.begin_attempts``; nothing if the listener is stopped or all its sessions are at work."""
    return Call(
        'select attempt, message_id, priority, "position" from howdah.begin_attempts_as(%s::text, %s::integer, %s::uuid)',
        (listener, max_messages, attempt_id),
        lambda rows: [Attempt(*row) for row in rows],
    )


def receive_attempt_as(listener: str, attempt_id: UUID) -> Call[list[Message]]:
    """As ``calls.receive_attempt``; nothing if the listener is stopped or all its sessions are at work."""
    return Call(
        f"select {COLUMNS} from howdah.receive_attempt_as(%s::text, %s::uuid)",
        (listener, attempt_id),
        lambda rows: list(rows),
        as_messages,
    )


def handled_as(listener: str) -> Call[None]:
    """Count the listener's failures from 0 again: in the transaction that received, just before its commit."""
    return scalar("handled_as", listener=("text", listener)).then(lambda _: None)


def record_failures_as(
    listener: str, failures: Sequence[Mapping[str, Any]], *, in_hand: bool = False
) -> Call[list[Incident]]:
    """As ``calls.record_failures``, counted by the listener too."""
    return Call(
        "select message_id, incident_id, attempt, outcome from howdah.record_failures_as(%s::text, %s::jsonb, %s::boolean)",
        (listener, to_json([dict(failure) for failure in failures]), in_hand),
        lambda rows: [Incident(*row) for row in rows],
    )
