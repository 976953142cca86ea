"""Leases: messages received for a time, without an open transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from .calls import Call, Seconds, interval, scalar, table
from .calls.message import COLUMNS, Message, as_messages
from .calls.verbs import Verbs


@dataclass(frozen=True)
class Lease:
    """What one call of ``lease`` got."""

    queue: str
    #: The fencing token: greater than any given out before.
    number: int
    #: When the messages go back, unless it is extended.
    until: datetime
    messages: list[Message] = field(repr=False)

    def ids(self, messages: Sequence[Message] | None = None) -> list[int]:
        """The numbers of its messages, or of some of them."""
        return [message.message_id for message in (self.messages if messages is None else messages)]


class Leases(Verbs):
    """The verbs of leasing over anything that runs a call, each in a transaction of its own."""

    def lease(
        self,
        queue: str,
        max_messages: int = 1,
        *,
        duration: Seconds = 30,
        selector: str | None = None,
        consumer: int | None = None,
        acknowledge: Lease | None = None,
    ) -> Lease | None:
        """Receive up to max_messages for a time (seconds or a timedelta); None if there is none.

        acknowledge: a lease of the same queue that is ended first, as by ``ack``, in the same transaction. Raises LeaseLost, also if all its
        messages were acknowledged or given back before (pass None then); nothing is leased. Any other error undoes the acknowledgement too:
        where the queue was paused or disabled, or the consumer closed, call ``ack`` alone.
        """
        return self._run(lease(queue, max_messages, duration, selector, consumer, acknowledge))

    def ack(self, lease: Lease, messages: Sequence[Message] | None = None) -> int:
        """Its messages, or some of them, are consumed; returns how many. Raises LeaseLost."""
        return self._run(acknowledge(lease, messages))

    def handed(self, lease: Lease, messages: Sequence[Message] | None = None) -> int:
        """Note that the application has them, for engines without redelivered_optimization; returns how many. Raises LeaseLost."""
        return self._run(scalar("handed", **_of(lease, messages)).then(int))

    def release(self, lease: Lease, messages: Sequence[Message] | None = None) -> int:
        """Give them back to their place, with nobody to blame; returns how many. Raises LeaseLost."""
        return self._run(scalar("release", **_of(lease, messages)).then(int))

    def nack(
        self,
        lease: Lease,
        messages: Sequence[Message] | None = None,
        *,
        error: BaseException | str | None = None,
        delay: Seconds | None = None,
        reject: bool = False,
    ) -> list[dict[str, Any]]:
        """Give them back as failed: message_id, attempt and outcome of each, as the queue's policy has it. Raises LeaseLost."""
        return self._run(
            table(
                "nack",
                "message_id, attempt, outcome",
                **_of(lease, messages),
                error_text=("text", None if error is None else str(error)),
                error_class=("text", type(error).__name__ if isinstance(error, BaseException) else None),
                delay=("interval", interval("delay", delay)),
                reject=("boolean", reject),
            )
        )

    def extend(self, lease: Lease, messages: Sequence[Message] | None = None, *, duration: Seconds = 30) -> datetime:
        """Let it last from now on for so long (seconds or a timedelta); returns its end. Raises LeaseLost."""
        length = interval("duration", duration)
        call: Call[datetime] = scalar("extend", **_of(lease, messages), duration=("interval", length))
        return self._run(call)


def lease(
    queue: str,
    max_messages: int,
    duration: Seconds,
    selector: str | None = None,
    consumer: int | None = None,
    acknowledge: Lease | None = None,
) -> Call[Lease | None]:
    """The call of ``Leases.lease``, for a session: it takes effect when its transaction commits."""
    return leasing(
        queue,
        "lease(%s::text, %s::integer, %s::interval, %s::text, %s::bigint, %s::bigint)",
        (queue, max_messages, interval("duration", duration), selector, consumer, acknowledge and acknowledge.number),
    )


def leasing(queue: str, invocation: str, arguments: tuple[Any, ...]) -> Call[Lease | None]:
    """A call of any function that returns what ``howdah.lease`` does."""

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
    """The call of ``Leases.ack``, for a session: so it commits with what the messages caused."""
    return scalar("ack", **_of(lease, messages)).then(int)


def _of(lease: Lease, messages: Sequence[Message] | None) -> dict[str, tuple[str, Any]]:
    return {
        "queue": ("text", lease.queue),
        "lease": ("bigint", lease.number),
        "message_ids": ("bigint[]", None if messages is None else lease.ids(messages)),
    }
