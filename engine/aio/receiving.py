"""How a session receives, waits for messages and for results, and opens consumers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Unpack

import psycopg

from .. import calls
from ..calls import consumers, results
from ..calls.message import Message
from ..calls.options import ConsumerOptions, ReceiveOptions
from ..calls.receiving import Asked
from ..calls.results import Result
from ..database.waiting import Idle
from ..errors import ConnectionLost, IllegalState
from .transacting import AsyncTransacting


def _wait_result(message_id: int, queue: str, since: int | None) -> calls.Call[Asked]:
    return results.wait_result(queue, message_id, since)


class AsyncReceiving(AsyncTransacting):
    """The verbs of a session that receive and wait."""

    async def receive(
        self,
        queue: str,
        max_messages: int = 1,
        *,
        wait: float = 0,
        selector: str | None = None,
        consumer: int | None = None,
    ) -> list[Message]:
        """Receive up to max_messages, waiting up to ``wait`` seconds for the first; [] if none came or on close.

        The transaction stays open: commit consumes them, rollback puts them back.

        - queue: it may be a wildcard, ``JOBS.>``. Nothing announces its messages, so the session looks four times a
          second.
        - selector: receive only what it selects.
        - consumer: a number from ``open_consumer``.
        """
        return await self.receive_until(queue, max_messages, wait, lambda: False, selector=selector, consumer=consumer)

    async def open_consumer(self, queue: str, **options: Unpack[ConsumerOptions]) -> int | None:
        """Register a consumer and commit; needed by unshared subscriptions and queues that tell consumers apart.

        Returns None for a shared subscription, which needs none.

        Options: exclusive, priority, own_session, timeout.
        """
        self._check(queue)
        wanted: ConsumerOptions = {"instance": self._levels.home, **options}
        return await self.call(consumers.open_consumer(queue, **wanted))

    async def close_consumer(self, consumer: int) -> bool:
        """End a consumer. The others get its share at commit. Returns False if it was not open."""
        return await self.call(consumers.close_consumer(consumer))

    async def receive_until(
        self,
        queue: str,
        max_messages: int,
        wait: float | None,
        given_up: Callable[[], bool],
        **which: Unpack[ReceiveOptions],
    ) -> list[Message]:
        """As receive, but ``wake`` also ends it once ``given_up`` is true. wait None: no limit."""
        with self.idle(wait) as idle:
            while not (self._closing or given_up()):
                try:
                    messages = await self.look(queue, max_messages, idle, **which)
                except IllegalState:
                    if not self._closing:
                        raise
                    return []
                pause = None if messages else idle.pause()
                if pause is None:
                    return messages
                await self.sleep(pause)
        return []

    async def look(self, queue: str, max_messages: int, idle: Idle, **which: Unpack[ReceiveOptions]) -> list[Message]:
        """As receive_now, but first ask to be woken if that is due."""
        async with self._in_use:
            ask = idle.ask(queue) if self._is_ready() else None
            if ask is not None:
                alone = self._is_idle()
                idle.asked(queue, await self.call(ask))
                if alone:
                    await self.commit()
            messages = await self.receive_now(queue, max_messages, **which)
            if messages:
                idle.found()
            return messages

    def _check(self, queue: str) -> None:
        """Refuse what this client may not use. It may use its own subscriptions."""
        if queue not in self._fleeting:
            self._levels.check(queue)

    def _is_ready(self) -> bool:
        """Whether it may receive: not while its connection is stopped."""
        return self._owner is None or self._owner.started

    async def receive_now(self, queue: str, max_messages: int = 1, **which: Unpack[ReceiveOptions]) -> list[Message]:
        """Receive up to max_messages that are there now. If there are none, leaves no new transaction open."""
        self._check(queue)
        if not self._is_ready():
            return []
        async with self._in_use:
            idle = self._is_idle()
            call = self._levels.received(calls.receive(queue, max_messages, **which))
            messages = await self._unless_stopped(idle, await self._received(queue, call))
            if idle and not messages:
                # Do not roll back: the receive may have disposed of expired messages and poison messages.
                await self.commit()
            return messages

    async def receive_message(self, queue: str, message_id: int) -> Message | None:
        """Receive the message of that number. None if it is not there, not due or in other hands."""
        self._check(queue)
        call = self._levels.received(calls.receive_message(queue, message_id))
        messages = await self._received_alone(queue, call)
        return messages[0] if messages else None

    async def receive_correlated(self, queue: str, correlation_id: str, max_messages: int = 1) -> list[Message]:
        """Receive messages with a correlation id, wherever in the queue they are, in this session's transaction."""
        self._check(queue)
        call = self._levels.received(calls.receive_correlated(queue, correlation_id, max_messages))
        return await self._received_alone(queue, call)

    async def _received_alone(self, queue: str, call: calls.Call[list[Message]]) -> list[Message]:
        if not self._is_ready():
            return []
        async with self._in_use:
            idle = self._is_idle()
            return await self._unless_stopped(idle, await self._received(queue, call))

    async def _unless_stopped(self, idle: bool, messages: list[Message]) -> list[Message]:
        """Give back what a receive found whose connection was stopped meanwhile: it may have been sent since.

        idle: no transaction was open before, so nothing else is undone. In an open one the messages stay.
        """
        if not messages or not idle or self._is_ready():
            return messages
        ended = self.committed
        with suppress(ConnectionLost, psycopg.Error):
            await self.rollback()
        self.committed = ended  # a listener's own transaction is another one
        return []

    async def keep_result(self, message: Message, value: Any = None) -> bool:
        """Keep the result of a received message, in this session's transaction. A value is JSON.

        Returns False if the queue keeps no results (keep_results_ms). Raises BadArgument for what JSON cannot hold.
        """
        return await self.call(results.keep_result(message, value, notify=self._levels.notify))

    async def result(self, queue: str, message_id: int, *, wait: float = 0) -> Result:
        """Tell what became of a message, waiting up to ``wait`` seconds until it is handled, has failed or expired.

        Commits while it waits if no transaction is open. In an open one nothing wakes it: it looks four times a second.
        """
        with Idle(self._waking, self.wake, wait) as idle:
            while True:
                found = await self._look_at_result(queue, message_id, idle)
                pause = idle.pause() if found.is_open and not self._closing else None
                if pause is None:
                    return found
                await self.sleep(pause)

    async def _look_at_result(self, queue: str, message_id: int, idle: Idle) -> Result:
        async with self._in_use:
            alone = self._is_idle()
            waiting = partial(_wait_result, message_id)
            ask = idle.ask(queue, waiting) if alone or not self._transacted else None
            if ask is not None:
                idle.asked(queue, await self.call(ask))
                if alone:
                    await self.commit()
            found = await self.call(results.result(queue, message_id))
            if alone:
                await self.commit()
            return found
