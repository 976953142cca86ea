"""The calls that receive, record attempts of hardened queues, wait for a message, and browse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from .call import Call, invoke, messages_of, nothing, single
from .message import Message


def receive(
    queue: str,
    max_messages: int = 1,
    *,
    locked: bool = False,
    selector: str | None = None,
    consumer: int | None = None,
    listener: str | None = None,
) -> Call[list[Message]]:
    """Receive up to max_messages. ``locked``: hold them without taking (see consume_locked).

    listener: receive through it, whatever ``queue`` is. Nothing comes while it is stopped or its sessions are all busy.
    """
    if listener is not None:
        return messages_of("howdah.receive_as(%s::text, %s::integer, %s::bigint)", (listener, max_messages, consumer))
    invocation, arguments = invoke(
        "receive_locked" if locked else "receive",
        {"queue": ("text", queue), "max_messages": ("integer", max_messages)},
        {"selector": ("text", selector), "consumer": ("bigint", consumer)},
    )
    return messages_of(invocation, arguments)


@dataclass(frozen=True, slots=True)
class Asked:
    """The answer to ``wait``: the notifications to expect, and whether an earlier send may be uncommitted."""

    #: A subscription has several: its own number and those of its topics, separated by commas.
    payload: str
    since: int
    unsettled: bool
    #: How long a rate leaves no room for the next message. None: no rate is spent, or nobody asked.
    limited_for: timedelta | None = None

    @property
    def payloads(self) -> list[str]:
        """Return the notifications, one by one."""
        return self.payload.split(",")


def wait(queue: str, since: int | None = None) -> Call[Asked]:
    """Ask to be woken by NOTIFY. since: the result of the same wait's first call."""
    return Call(
        "select payload, since, unsettled, limited_for from howdah.wait(%s::text, %s::bigint)",
        (queue, since),
        lambda rows: Asked(*rows[0]),
    )


@dataclass(frozen=True, slots=True)
class Looked:
    """The answer to ``wait_many`` for one queue."""

    asked: Asked
    #: Whether a receive would find nothing.
    empty: bool


def wait_many(since: Mapping[str, int | None]) -> Call[dict[str, Looked]]:
    """``wait`` for many queues at once: their names, each with the ``since`` of its last answer."""
    return Call(
        "select queue, payload, asked, unsettled, empty from howdah.wait_many(%s::text[], %s::bigint[])",
        (list(since), list(since.values())),
        lambda rows: {row[0]: Looked(Asked(*row[1:4]), row[4]) for row in rows},
    )


def consume_locked(queue: str, messages: Sequence[Message]) -> Call[None]:
    """Consume messages that were received with ``locked`` in the same transaction."""
    return Call(
        "select howdah.consume_locked(%s::text, %s::bigint[], %s::integer[], %s::bigint[])",
        (queue, *keys(messages)),
        nothing,
    )


def receive_message(queue: str, message_id: int) -> Call[list[Message]]:
    """Receive the message of that number; [] if it is not there, not due or in other hands."""
    return messages_of("howdah.receive_message(%s::text, %s::bigint)", (queue, message_id))


def receive_correlated(queue: str, correlation_id: str, max_messages: int = 1) -> Call[list[Message]]:
    """Receive up to max_messages with a correlation id, wherever in the queue they are."""
    return messages_of(
        "howdah.receive_correlated(%s::text, %s::text, %s::integer)", (queue, correlation_id, max_messages)
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
    """Browse ready messages. after: the last message of the previous page, or its priority and position.

    One of these at most says which: ``only_id``, ``selector``, ``correlation_id``.
    """
    priority, position = (after.priority, after.position) if isinstance(after, Message) else after or (None, None)
    invocation, arguments = invoke(
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
    return messages_of(invocation, arguments)


def keys(messages: Sequence[Message]) -> tuple[list[int], list[int], list[int]]:
    """Return numbers, priorities and positions, by which messages are found again."""
    return [m.message_id for m in messages], [m.priority for m in messages], [m.position for m in messages]


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt at delivery, recorded before its message is received."""

    attempt_id: UUID
    message_id: int
    priority: int
    position: int


def begin_attempts(
    queue: str, max_messages: int = 1, attempt_id: UUID | None = None, *, listener: str | None = None
) -> Call[list[Attempt]]:
    """Record attempts for a hardened queue. Commit, then call ``receive_attempt``. listener: as in ``receive``."""
    function, name = ("begin_attempts", queue) if listener is None else ("begin_attempts_as", listener)
    return Call(
        f'select attempt, message_id, priority, "position" from howdah.{function}(%s::text, %s::integer, %s::uuid)',
        (name, max_messages, attempt_id),
        lambda rows: [Attempt(*row) for row in rows],
    )


def receive_attempt(queue: str, attempt_id: UUID, *, listener: str | None = None) -> Call[list[Message]]:
    """Receive the message of a committed attempt. [] if it is gone or in other hands. listener: as in ``receive``."""
    function, name = ("receive_attempt", queue) if listener is None else ("receive_attempt_as", listener)
    return messages_of(f"howdah.{function}(%s::text, %s::uuid)", (name, attempt_id))


def cancel_attempt(queue: str, attempt_id: UUID) -> Call[bool]:
    """Take back an attempt that failed through no fault of its message."""
    return Call("select howdah.cancel_attempt(%s::text, %s::uuid)", (queue, attempt_id), single)
