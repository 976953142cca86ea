"""Translates kombu's messages to Howdah's and back.

The body is the body, Celery's headers are the headers, and what Howdah has a field for is in that field. So console,
selectors and plain SQL see a task as it is. What only kombu uses stands under the header ``kombu``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from typing import Any

from kombu.utils.json import dumps, loads
from psycopg.types.json import Jsonb

from ..engine.calls import Call
from ..engine.calls.bodies import encode
from ..engine.calls.call import invoke, single
from ..engine.calls.message import Message

KOMBU = "kombu"
HIGHEST = 9
"""The highest priority."""
TRANSIENT = 1
"""AMQP's delivery mode of a message that a restart may lose."""
OURS = ("body_encoding", "correlation_id", "delivery_info", "delivery_mode", "delivery_tag", "expiration", "priority")
"""Properties that have a field of Howdah's, or mean nothing outside the process."""

_once: ContextVar[bool] = ContextVar("howdah_kombu_once", default=False)


@contextmanager
def once() -> Iterator[None]:
    """Send each task only if none with its id was sent within the queue's window, until the block ends."""
    token = _once.set(True)
    try:
        yield
    finally:
        _once.reset(token)


def outgoing(place: str, message: Mapping[str, Any], *, topic: bool = False, **own: Any) -> Call[int]:
    """The call that sends a message. own: more under the header ``kombu``. A topic takes no delay."""
    headers, properties = dict(message["headers"] or {}), message["properties"]
    info = properties.get("delivery_info") or {}
    rest = {name: value for name, value in properties.items() if name not in OURS and value not in (None, "")}
    reply_to = rest.pop("reply_to", None)
    headers[KOMBU] = {
        "encoding": message.get("content-encoding"),
        "exchange": info.get("exchange") or "",
        "routing_key": info.get("routing_key") or "",
        "properties": rest,
        **own,
    }
    delay = None
    if topic:
        headers["routing_key"] = headers[KOMBU]["routing_key"]
    elif (delay := _delay(headers)) is not None:
        headers[KOMBU]["delayed"] = True
    kind, body, needed = encode(_body(message["body"], message.get("content-encoding")))
    milliseconds = properties.get("expiration")
    task = headers.get("task")
    invocation, arguments = invoke(
        "send",
        {"queue": ("text", place), "body": (kind, body), "headers": ("jsonb", Jsonb(headers, dumps=dumps))},
        {
            "priority": ("integer", _priority(properties.get("priority"))),
            "correlation_id": ("text", properties.get("correlation_id")),
            "reply_to": ("text", reply_to),
            "message_type": ("text", task if isinstance(task, str) else None),
            # An expired message is never delivered. A time to live of 0 would not say that.
            "time_to_live": ("interval", None if milliseconds is None else _seconds(max(1, int(milliseconds)) / 1000)),
            "delay": ("interval", _seconds(delay)),
            "delivery_mode": ("text", "non-persistent" if properties.get("delivery_mode") == TRANSIENT else None),
            "content_type": ("text", message.get("content-type") or needed),
            "deduplication_key": ("text", headers.get("id") if _once.get() else None),
        },
    )
    return Call(f"select {invocation}", arguments, single)


def incoming(message: Message, tag: str) -> dict[str, Any]:
    """A message as kombu's channels deliver it."""
    row_headers = message._row[5]
    headers = {} if row_headers is None else loads(row_headers)
    own = _dict(headers.pop(KOMBU, None))
    headers.pop("routing_key", None)
    info = {
        "exchange": _text(own.get("exchange"), ""),
        "routing_key": _text(own.get("routing_key"), message.queue),
        "priority": message.priority,
        "redelivered": message.redelivered,
    }
    properties = {
        **_dict(own.get("properties")),
        "delivery_tag": tag,
        "delivery_info": info,
        "priority": message.priority,
        "correlation_id": message.correlation_id,
        "reply_to": message.reply_to or "",
        "body_encoding": None,
    }
    if own.get("delayed"):
        _come_due(headers)
    return {
        "body": message.body,
        "content-type": message.content_type,
        "content-encoding": own["encoding"] if own.get("encoding", 0) is None else _text(own.get("encoding"), "utf-8"),
        "headers": headers,
        "properties": properties,
        KOMBU: own,
    }


def _dict(given: Any) -> dict[str, Any]:
    """What other senders wrote may be anything."""
    return given if isinstance(given, dict) else {}


def _text(given: Any, default: str) -> str:
    return given if isinstance(given, str) else default


def _body(body: Any, encoding: str | None) -> str | bytes:
    """Text where it is text, so that people can read it. PostgreSQL's text has no NUL."""
    text: str | None = body if isinstance(body, str) else None
    if text is None and encoding == "utf-8":
        with suppress(UnicodeDecodeError):
            text = bytes(body).decode()
    if text is None:
        return bytes(body)
    return text.encode("utf-8", "surrogatepass") if "\0" in text else text


def _priority(given: int | None) -> int | None:
    """As kombu's other channels and RabbitMQ do it, a greater number counts as the highest priority."""
    return None if given is None else max(0, min(int(given), HIGHEST))


def _seconds(value: float | None) -> timedelta | None:
    return None if value is None else timedelta(seconds=value)


def _eta(headers: Mapping[str, Any]) -> datetime | None:
    eta = headers.get("eta")
    with suppress(TypeError, ValueError):
        moment = eta if isinstance(eta, datetime) else datetime.fromisoformat(eta)  # type: ignore[arg-type]
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return None


def _delay(headers: Mapping[str, Any]) -> float | None:
    """Seconds until a task is due, so that it waits in the database and not in a worker's memory."""
    eta = _eta(headers)
    seconds = 0.0 if eta is None else (eta - datetime.now(UTC)).total_seconds()
    return seconds if seconds > 0 else None


def _come_due(headers: dict[str, Any]) -> None:
    """The database has said that the task is due. A worker whose clock lags must not hold it once more."""
    eta = _eta(headers)
    if eta is not None and eta > datetime.now(UTC):
        headers["eta"] = None
