"""The calls that keep what became of a message, tell it, and wait for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg
from psycopg.types.json import JsonbLoader

from .bodies import to_json
from .call import Call, single
from .message import Message
from .moments import lenient
from .receiving import Asked

OPEN = ("waiting", "running")


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a message: ``state`` is waiting, running, done, failed, expired or unknown."""

    state: str
    #: What the handler returned; None also if it returned nothing or has not returned yet.
    value: Any
    #: Its failed deliveries so far, with the class and the text of the last error.
    failures: int
    error_class: str | None
    error_text: str | None
    finished_at: datetime | None
    #: Until when this is known.
    kept_until: datetime | None
    #: The text of the message while it waits, and if it failed or expired; None if the caller may not browse the queue.
    body: str | None
    #: The last 20 failures on record, oldest first: at, class, text, worker, traceback (None as for the body).
    errors: list[dict[str, Any]]

    @property
    def is_open(self) -> bool:
        """Whether it is still to be handled."""
        return self.state in OPEN


def _as_sent(cursor: psycopg.Cursor[Any] | psycopg.AsyncCursor[Any]) -> None:
    """Load JSON and times as psycopg does: Django's connections leave JSON as text."""
    cursor.adapters.register_loader("jsonb", JsonbLoader)
    lenient(cursor)


def result(queue: str, message_id: int) -> Call[Result]:
    """Tell what became of a message that was sent to a queue."""
    return Call(
        "select state, value, failures, error_class, error_text, finished_at, kept_until, body, errors"
        " from howdah.result(%s::text, %s::bigint)",
        (queue, message_id),
        lambda rows: Result(*rows[0]),
        _as_sent,
    )


def wait_result(queue: str, message_id: int, since: int | None = None) -> Call[Asked]:
    """Ask to be woken by NOTIFY when a result is kept. since: the result of the same wait's first call."""
    return Call(
        "select payload, since, unsettled from howdah.wait_result(%s::text, %s::bigint, %s::bigint)",
        (queue, message_id, since),
        lambda rows: Asked(*rows[0]),
    )


def keeps_results(queue: str) -> Call[bool]:
    """Whether a queue keeps the results of its messages."""
    return Call("select howdah.keeps_results(%s::text)", (queue,), single)


def keep_result(message: Message, value: Any = None, *, notify: bool = True) -> Call[bool]:
    """Keep the result of a message. False if its queue keeps no results. Raises BadArgument if it is not JSON."""
    return Call(
        "select howdah.keep_result(%s::text, %s::bigint, %s::jsonb, %s::boolean, %s::integer)",
        (message.queue, message.message_id, None if value is None else to_json(value), notify, message.stage),
        single,
    )
