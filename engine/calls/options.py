"""Options of the calls that send, receive and browse messages, which the verbs pass on by name.

A test holds each to the arguments of its call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict
from uuid import UUID

from .call import Seconds


class SharedOptions(TypedDict, total=False):
    """Options for every message of a batch, a stream or a load."""

    reply_to: str | None
    time_to_live: Seconds | None
    delay: Seconds | None
    delivery_mode: str | None
    reliability: str | None
    content_type: str | None


class SendOptions(SharedOptions, total=False):
    """Options of ``calls.send``."""

    headers: Mapping[str, Any] | None
    priority: int | None
    correlation_id: str | None
    message_type: str | None
    conversation_id: UUID | None
    notify: bool
    deduplication_key: str | None


class SendManyOptions(SharedOptions, total=False):
    """Options of ``calls.send_many``."""

    headers: Sequence[Mapping[str, Any] | None] | None
    priorities: Sequence[int | None] | int | None
    correlation_ids: Sequence[str | None] | None
    message_types: Sequence[str | None] | None
    conversation_ids: Sequence[UUID | None] | None
    notify: bool
    deduplication_keys: Sequence[str | None] | None


class StreamOptions(SharedOptions, total=False):
    """Options of ``Session.send_stream``."""

    batch: int


class CopyOptions(SharedOptions, total=False):
    """Options of ``Session.send_copy``."""

    columns: Sequence[str]


class RequestOptions(TypedDict, total=False):
    """Options of ``calls.send``, except those that identify answers and say where they go."""

    headers: Mapping[str, Any] | None
    priority: int | None
    message_type: str | None
    conversation_id: UUID | None
    time_to_live: Seconds | None
    delay: Seconds | None
    delivery_mode: str | None
    reliability: str | None
    content_type: str | None
    notify: bool
    deduplication_key: str | None


class RespondOptions(TypedDict, total=False):
    """Options of ``temporary.respond``."""

    headers: Mapping[str, Any] | None
    message_type: str | None
    time_to_live: Seconds | None
    delivery_mode: str | None
    reliability: str | None
    content_type: str | None
    notify: bool


class ReceiveOptions(TypedDict, total=False):
    """Options of receiving: which messages, and by whom."""

    selector: str | None
    consumer: int | None


class BrowseOptions(TypedDict, total=False):
    """Options of ``calls.browse``: which messages are shown."""

    only_id: int | None
    selector: str | None
    correlation_id: str | None


class BrowserOptions(BrowseOptions, total=False):
    """Options of a browser: which messages are shown, and the priority and position to start behind."""

    after: tuple[int, int] | None


class ConsumerOptions(TypedDict, total=False):
    """Options of ``consumers.open_consumer``."""

    exclusive: bool
    priority: int
    own_session: bool
    timeout: Seconds
    instance: str | None


class ScheduleOptions(TypedDict, total=False):
    """Options of ``schedules.schedule``, except its name."""

    cron: str | None
    period: Seconds | None
    repeat: int | None
    starts_at: datetime | None
    ends_at: datetime | None
    delay: Seconds | None
    time_zone: str | None
    catch_up: bool | None
    misfire_grace: Seconds | None
    headers: Mapping[str, Any] | None
    priority: int | None
    correlation_id: str | None
    reply_to: str | None
    message_type: str | None
    conversation_id: UUID | None
    time_to_live: Seconds | None
    delivery_mode: str | None
    reliability: str | None
    content_type: str | None


class NamedScheduleOptions(ScheduleOptions, total=False):
    """Options of ``schedules.schedule``."""

    name: str | None


class LinkOptions(TypedDict, total=False):
    """Options of ``Links.create`` and ``Links.alter``."""

    service: str | None
    dsn_env: str | None
    selector: str | None
    batch_size: int | None
    retry_ms_max: int | None
    transformation: str | None
