"""Leases, and the calls that take and acknowledge one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from .call import Call, Seconds, interval, scalar
from .message import COLUMNS, Message, as_messages


@dataclass(frozen=True)
class Lease:
    """The result of one call of ``lease``."""

    queue: str
    #: The fencing token: greater than any given out before.
    number: int
    #: When the messages go back, unless it is extended.
    until: datetime
    messages: list[Message] = field(repr=False)

    def ids(self, messages: Sequence[Message] | None = None) -> list[int]:
        """Return the numbers of its messages, or of some of them."""
        return [message.message_id for message in (self.messages if messages is None else messages)]


def lease(
    queue: str,
    max_messages: int,
    duration: Seconds,
    selector: str | None = None,
    consumer: int | None = None,
    acknowledge: Lease | None = None,
) -> Call[Lease | None]:
    """Return the call of ``Leases.lease`` for a session. It takes effect at the session's commit."""
    return leasing(
        queue,
        "lease(%s::text, %s::integer, %s::interval, %s::text, %s::bigint, %s::bigint)",
        (queue, max_messages, interval("duration", duration), selector, consumer, acknowledge and acknowledge.number),
    )


def leasing(queue: str, invocation: str, arguments: tuple[Any, ...]) -> Call[Lease | None]:
    """Return a call of any function that returns what ``howdah.lease`` returns."""

    def decode(rows: list[Message]) -> Lease | None:
        if not rows:
            return None
        # Behind the fields of a message: the lease's, the same in every row.
        width = len(rows[0]._row) - 2
        number, until = rows[0]._row[width:]
        messages = [Message(message._row[:width]) for message in rows]
        wildcard = ":" not in queue and ("*" in queue or ">" in queue)
        whose = messages[0].queue if wildcard else queue
        return Lease(whose, number, datetime.fromtimestamp(until, UTC), messages)

    columns = COLUMNS.replace("queue,", "queue_name,", 1)
    return Call(
        f"select {columns}, lease, extract(epoch from leased_until)::float8 from howdah.{invocation}",
        arguments,
        decode,
        as_messages,
    )


def acknowledge(lease: Lease, messages: Sequence[Message] | None = None) -> Call[int]:
    """Return the call of ``Leases.ack`` for a session, so that it commits with what the messages caused."""
    return scalar("ack", **named(lease, messages)).then(int)


def named(lease: Lease, messages: Sequence[Message] | None) -> dict[str, tuple[str, Any]]:
    return {
        "queue": ("text", lease.queue),
        "lease": ("bigint", lease.number),
        "message_ids": ("bigint[]", None if messages is None else lease.ids(messages)),
    }
