"""Leases: messages received for a time, without an open transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any

from ..calls import Call, Seconds, interval, scalar, table
from ..calls.leases import Lease, acknowledge, lease, named
from ..calls.levels import BY_SERVER, LevelMapping
from ..calls.message import Message
from ..handling.failure import storable, text_of
from ..tracing.points import receiving, settling
from .verbs import AsyncVerbs


def _of(lease: Lease, messages: Sequence[Message] | None) -> Sequence[Message]:
    return lease.messages if messages is None else messages


def _told(error: BaseException | str | None) -> str | None:
    return text_of(error) if isinstance(error, BaseException) else None if error is None else storable(error)


class AsyncLeases(AsyncVerbs):
    """The verbs of leasing over anything that runs a call, each in its own transaction."""

    def __init__(self, run: Callable[[Call[Any]], Awaitable[Any]], levels: LevelMapping = BY_SERVER) -> None:
        super().__init__(run)
        self._levels = levels

    async def lease(
        self,
        queue: str,
        max_messages: int = 1,
        *,
        duration: Seconds = 30,
        selector: str | None = None,
        consumer: int | None = None,
        acknowledge: Lease | None = None,
    ) -> Lease | None:
        """Receive up to max_messages for a time (seconds or a timedelta). Returns None if there are none.

        acknowledge: a lease of the same queue to end first, as by ``ack``, in the same transaction. Raises LeaseLost,
        also if all its messages were acknowledged or given back before (pass None then). Nothing is leased then. Any
        other error undoes the acknowledgement too: where the queue was paused or disabled, or the consumer closed, call
        ``ack`` alone.
        """
        self._levels.check(queue)
        call = lease(queue, max_messages, duration, selector, consumer, acknowledge)
        with receiving(queue) as found:
            leased = await self._run(self._levels.received(call, consumed=False))
            found([] if leased is None else leased.messages)
        return leased

    async def ack(self, lease: Lease, messages: Sequence[Message] | None = None) -> int:
        """Consume the lease's messages, or some of them. Returns how many. Raises LeaseLost."""
        with settling("ack", lease.queue, _of(lease, messages)):
            return await self._run(acknowledge(lease, messages))

    async def handed(self, lease: Lease, messages: Sequence[Message] | None = None) -> int:
        """Note that the application has the messages, for engines without redelivered_optimization. Raises LeaseLost.

        Returns how many.
        """
        return await self._run(scalar("handed", **named(lease, messages)).then(int))

    async def release(self, lease: Lease, messages: Sequence[Message] | None = None) -> int:
        """Give messages back to their place without a failure. Returns how many. Raises LeaseLost."""
        with settling("release", lease.queue, _of(lease, messages)):
            return await self._run(scalar("release", **named(lease, messages)).then(int))

    async def nack(
        self,
        lease: Lease,
        messages: Sequence[Message] | None = None,
        *,
        error: BaseException | str | None = None,
        delay: Seconds | None = None,
        reject: bool = False,
    ) -> list[dict[str, Any]]:
        """Give messages back as failed. Returns message_id, attempt and outcome of each. Raises LeaseLost."""
        call = table(
            "nack",
            "message_id, attempt, outcome",
            **named(lease, messages),
            error_text=("text", _told(error)),
            error_class=("text", type(error).__name__ if isinstance(error, BaseException) else None),
            delay=("interval", interval("delay", delay)),
            reject=("boolean", reject),
        )
        with settling("nack", lease.queue, _of(lease, messages)):
            return await self._run(call)

    async def extend(
        self, lease: Lease, messages: Sequence[Message] | None = None, *, duration: Seconds = 30
    ) -> datetime:
        """Extend the lease by a time from now (seconds or a timedelta). Returns its end. Raises LeaseLost."""
        length = interval("duration", duration)
        call: Call[datetime] = scalar("extend", **named(lease, messages), duration=("interval", length))
        return await self._run(call)
