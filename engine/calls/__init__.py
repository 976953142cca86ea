"""The only door to the SQL API (``listening`` is its wing): each function here names a procedure, binds its arguments and
decodes its result.

A ``Call`` does nothing by itself. ``runner`` executes it, on any kind of connection, sync or async, so that no logic is
written twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar
from uuid import UUID

import psycopg

from ..errors import BadArgument
from .arrays import TextArray, with_arrays
from .bodies import Body, encode, encode_all, headers_array, to_json
from .message import COLUMNS, Message, as_messages
from .moments import lenient

T = TypeVar("T")
U = TypeVar("U")
Row = tuple[Any, ...]
Seconds = float | timedelta


@dataclass(frozen=True)
class Call(Generic[T]):
    """One statement with its arguments and the function that turns its rows into the result."""

    sql: str
    arguments: tuple[Any, ...]
    decode: Callable[[list[Any]], T]
    #: Tells the cursor how to send the arguments and fetch the rows, where that is not psycopg's own way.
    setup: Callable[[psycopg.Cursor[Any] | psycopg.AsyncCursor[Any]], None] | None = None

    def then(self, function: Callable[[T], U]) -> Call[U]:
        """The same call, with ``function`` applied to its result."""
        return Call(self.sql, self.arguments, lambda rows: function(self.decode(rows)), self.setup)


def _invoke(
    function: str, required: Mapping[str, tuple[str, Any]], optional: Mapping[str, tuple[str, Any]]
) -> tuple[str, Row]:
    """``howdah.function(name => %s::type, …)`` and its arguments; optional ones that are None are left to their default."""
    given = [*required.items(), *((name, pair) for name, pair in optional.items() if pair[1] is not None)]
    placeholders = ", ".join(f'"{name}" => %s::{sql_type}' for name, (sql_type, _) in given)
    return f"howdah.{function}({placeholders})", tuple(value for _, (_, value) in given)


def _scalar(rows: Sequence[Row]) -> Any:
    return rows[0][0]


def _nothing(rows: Sequence[Row]) -> None:
    return None


def _messages(rows: list[Message]) -> list[Message]:
    return rows


def interval(name: str, value: Seconds | None) -> timedelta | None:
    """A length of time in seconds or as a timedelta. Raises BadArgument."""
    if value is None or isinstance(value, timedelta):
        return value
    try:
        return timedelta(seconds=value)
    except (OverflowError, TypeError, ValueError) as error:
        raise BadArgument(f"{name} must be a number of seconds, not {value!r}") from error


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
    content_type: str | None = None,
    notify: bool = True,
    deduplication_key: str | None = None,
) -> Call[int]:
    """Send one message; the result is its number. time_to_live and delay are seconds or timedelta.

    notify False: for a transaction that is to be prepared (two-phase), which a NOTIFY would forbid. If a message with this
    deduplication_key was sent there within the queue's window, nothing is stored and the result is its number.
    """
    kind, value, needed = encode(body)
    invocation, arguments = _invoke(
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
            "content_type": ("text", content_type or needed),
            "notify": ("boolean", None if notify else False),
            "deduplication_key": ("text", deduplication_key),
        },
    )
    return Call(f"select {invocation}", arguments, _scalar)


def send_many(
    queue: str,
    bodies: Sequence[Body],
    *,
    headers: Sequence[Mapping[str, Any] | None] | None = None,
    priorities: Sequence[int | None] | None = None,
    correlation_ids: Sequence[str | None] | None = None,
    message_types: Sequence[str | None] | None = None,
    conversation_ids: Sequence[UUID | None] | None = None,
    reply_to: str | None = None,
    time_to_live: Seconds | None = None,
    delay: Seconds | None = None,
    delivery_mode: str | None = None,
    content_type: str | None = None,
    notify: bool = True,
    deduplication_keys: Sequence[str | None] | None = None,
) -> Call[list[int]]:
    """Send many messages of one kind of body in one statement, all or nothing; the result is their numbers in order."""
    kind, array, needed = encode_all(bodies)
    invocation, arguments = _invoke(
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
            "content_type": ("text", content_type or needed),
            "notify": ("boolean", None if notify else False),
            "deduplication_keys": ("text[]", None if deduplication_keys is None else TextArray(deduplication_keys)),
        },
    )
    return Call(f"select {invocation}", arguments, _scalar, with_arrays)


def send_count(queue: str, bodies: Sequence[Body], **options: Any) -> Call[int]:
    """As send_many, answered by the number of messages only."""
    many = send_many(queue, bodies, **options)
    return Call(many.sql.replace("select ", "select cardinality(", 1) + ")", many.arguments, _scalar, many.setup)


def receive(
    queue: str, max_messages: int = 1, *, locked: bool = False, selector: str | None = None, consumer: int | None = None
) -> Call[list[Message]]:
    """Take up to max_messages; with ``locked`` hold them without taking (see consume_locked)."""
    invocation, arguments = _invoke(
        "receive_locked" if locked else "receive",
        {"queue": ("text", queue), "max_messages": ("integer", max_messages)},
        {"selector": ("text", selector), "consumer": ("bigint", consumer)},
    )
    return Call(f"select {COLUMNS} from {invocation}", arguments, _messages, as_messages)


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt at delivery that is on record before its message is received."""

    attempt_id: UUID
    message_id: int
    priority: int
    position: int


def begin_attempts(queue: str, max_messages: int = 1, attempt_id: UUID | None = None) -> Call[list[Attempt]]:
    """Put attempts on record, for a hardened queue; commit, and then ``receive_attempt``."""
    return Call(
        'select attempt, message_id, priority, "position" from howdah.begin_attempts(%s::text, %s::integer, %s::uuid)',
        (queue, max_messages, attempt_id),
        lambda rows: [Attempt(*row) for row in rows],
    )


def receive_attempt(queue: str, attempt_id: UUID) -> Call[list[Message]]:
    """Take the message of an attempt that was committed; [] if it is gone or in other hands."""
    return Call(
        f"select {COLUMNS} from howdah.receive_attempt(%s::text, %s::uuid)", (queue, attempt_id), _messages, as_messages
    )


def cancel_attempt(queue: str, attempt_id: UUID) -> Call[bool]:
    """Take an attempt back that ended for no fault of its message."""
    return Call("select howdah.cancel_attempt(%s::text, %s::uuid)", (queue, attempt_id), _scalar)


@dataclass(frozen=True, slots=True)
class Asked:
    """The answer to ``wait``: the notifications to expect, and whether an earlier send may not be committed yet."""

    #: Of a subscription several: its own number and those of its topics, with commas between.
    payload: str
    since: int
    unsettled: bool

    @property
    def payloads(self) -> list[str]:
        """The notifications, one by one."""
        return self.payload.split(",")


def wait(queue: str, since: int | None = None) -> Call[Asked]:
    """Ask to be woken by NOTIFY; ``since`` is what the first call of the same wait gave."""
    return Call(
        "select payload, since, unsettled from howdah.wait(%s::text, %s::bigint)",
        (queue, since),
        lambda rows: Asked(*rows[0]),
    )


def consume_locked(queue: str, messages: Sequence[Message]) -> Call[None]:
    """Take messages that were received with ``locked``, in the same transaction."""
    return Call(
        "select howdah.consume_locked(%s::text, %s::bigint[], %s::integer[], %s::bigint[])",
        (queue, *_keys(messages)),
        _nothing,
    )


def receive_message(queue: str, message_id: int) -> Call[list[Message]]:
    """Take the message of that number; [] if it is not there, not due or in other hands."""
    return Call(
        f"select {COLUMNS} from howdah.receive_message(%s::text, %s::bigint)",
        (queue, message_id),
        _messages,
        as_messages,
    )


def receive_correlated(queue: str, correlation_id: str, max_messages: int = 1) -> Call[list[Message]]:
    """Take up to max_messages of that correlation id, wherever in the queue they lie."""
    return Call(
        f"select {COLUMNS} from howdah.receive_correlated(%s::text, %s::text, %s::integer)",
        (queue, correlation_id, max_messages),
        _messages,
        as_messages,
    )


def browse(
    queue: str,
    max_messages: int = 100,
    *,
    after: Message | tuple[int, int] | None = None,
    only_id: int | None = None,
    selector: str | None = None,
    correlation_id: str | None = None,
) -> Call[list[Message]]:
    """Look at ready messages; ``after`` is the last one of the page before, or its priority and position.

    One of these at most says which: ``only_id``, ``selector``, ``correlation_id``.
    """
    priority, position = (after.priority, after.position) if isinstance(after, Message) else after or (None, None)
    invocation, arguments = _invoke(
        "browse",
        {"queue": ("text", queue), "max_messages": ("integer", max_messages)},
        {
            "after_priority": ("integer", priority),
            "after_position": ("bigint", position),
            "only_id": ("bigint", only_id),
            "selector": ("text", selector),
            "correlation_id": ("text", correlation_id),
        },
    )
    return Call(f"select {COLUMNS} from {invocation}", arguments, _messages, as_messages)


@dataclass(frozen=True, slots=True)
class Incident:
    """What became of a recorded failure: which failure of the message it was, and what followed."""

    message_id: int
    incident_id: int
    attempt: int
    #: returned, delayed, blocked, moved, discarded, quarantined, ended, held or gone.
    outcome: str


def record_failures(
    queue: str, failures: Sequence[Mapping[str, Any]], *, in_hand: bool = False
) -> Call[list[Incident]]:
    """Record failed deliveries, outside the transaction that failed. Keys are the arguments of howdah.record_failure.

    in_hand: the transaction that received them is still open; call ``settle_failures`` afterwards.
    """
    return Call(
        "select message_id, incident_id, attempt, outcome from howdah.record_failures(%s::text, %s::jsonb, %s::boolean)",
        (queue, to_json([dict(failure) for failure in failures]), in_hand),
        lambda rows: [Incident(*row) for row in rows],
    )


def settle_failures(queue: str, messages: Sequence[Message]) -> Call[dict[int, str]]:
    """Apply the queue's policy to messages whose failures were recorded in hand; the result is what was done, by number."""
    return Call(
        "select message_id, outcome from howdah.settle_failures(%s::text, %s::bigint[], %s::integer[], %s::bigint[])",
        (queue, *_keys(messages)),
        lambda rows: {message_id: outcome for message_id, outcome in rows},
    )


def _keys(messages: Sequence[Message]) -> tuple[list[int], list[int], list[int]]:
    """Numbers, priorities and positions: what finds messages again."""
    return [m.message_id for m in messages], [m.priority for m in messages], [m.position for m in messages]


def table(function: str, columns: str, **arguments: tuple[str, Any]) -> Call[list[dict[str, Any]]]:
    """Rows of a set-returning procedure as dictionaries; arguments are (SQL type, value), None meaning the default.

    A time that Python has not, before the year 1 or after 9999, is text.
    """
    invocation, values = _invoke(function, {}, arguments)
    names = [name.strip().strip('"') for name in columns.split(",")]
    return Call(
        f"select {columns} from {invocation}",
        values,
        lambda rows: [dict(zip(names, row, strict=True)) for row in rows],
        lenient,
    )


def scalar(function: str, **arguments: tuple[str, Any]) -> Call[Any]:
    """The single value of a procedure; arguments as for ``table``."""
    invocation, values = _invoke(function, {}, arguments)
    return Call(f"select {invocation}", values, _scalar)
