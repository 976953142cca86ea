"""Temporary queues and answers: the calls of request and reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg

from .bodies import Body, encode, to_json
from .call import Call, Seconds, interval, scalar
from .message import Message


def create() -> Call[str]:
    """Create a temporary queue of the connection that the session belongs to; its name."""
    return scalar("create_temporary_queue").then(str)


def drop(queue: str) -> Call[None]:
    """Drop one. Raises QueueInUse."""
    return scalar("drop_temporary_queue", queue=("text", queue)).then(lambda _: None)


def set_connection(token: str, *, local: bool) -> Call[None]:
    """Say which connection of a client the session, or with local the transaction, belongs to."""
    return scalar("set_connection", connection=("text", token), local=("boolean", local)).then(lambda _: None)


def keep() -> Call[int]:
    """Say that the connection lives; how many temporary queues it has."""
    return scalar("keep_connection").then(int)


def close() -> Call[int]:
    """Drop the temporary queues of the session's connection; how many there were."""
    return scalar("close_connection").then(int)


def respond(
    request: Message,
    body: Body,
    *,
    headers: Mapping[str, Any] | None = None,
    message_type: str | None = None,
    time_to_live: Seconds | None = None,
    delivery_mode: str | None = None,
    reliability: str | None = None,
    content_type: str | None = None,
    notify: bool = True,
) -> Call[int | None]:
    """Answer a request where it wants its answer, under its correlation id, else ID: and its number.

    Non-persistent unless delivery_mode or reliability says otherwise; the result is None if nobody waits any more.
    """
    kind, value, needed = encode(body)
    call: Call[int | None] = scalar(
        "respond",
        reply_to=("text", request.reply_to or ""),
        body=(kind, value),
        correlation_id=("text", request.correlation_id or f"ID:{request.message_id}"),
        headers=("jsonb", None if headers is None else to_json(headers)),
        message_type=("text", message_type),
        time_to_live=("interval", interval("time_to_live", time_to_live)),
        delivery_mode=("text", delivery_mode),
        reliability=("text", reliability),
        content_type=("text", content_type or needed),
        notify=("boolean", None if notify else False),
    )
    return call


#: Asks for the number of the backend, to be compared with the one that the driver was told of.
BACKEND: Call[int] = Call("select pg_catalog.pg_backend_pid()", (), lambda rows: int(rows[0][0]))


def is_direct(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any], backend: int) -> bool:
    """Whether the connection is the backend's alone: a pooler says another number than the backend."""
    return connection.info.backend_pid == backend
