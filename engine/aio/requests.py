"""Requests and their answers for asyncio."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import suppress
from typing import Any, Self, Unpack

import psycopg

from .. import calls
from ..calls import temporary
from ..calls.bodies import Body
from ..calls.message import Message
from ..calls.options import RequestOptions
from ..database import runner
from ..database.waiting import Idle, limit_of
from ..errors import BadArgument, ConnectionLost, HowdahError, IllegalState, NoReply
from ..requests import BATCH, Outstanding
from .connection import AsyncConnection


class AsyncRequestor:
    """As Requestor.

    ``async with AsyncRequestor(connection, "prices") as requestor: reply = await requestor.request("IBM")``.
    """

    def __init__(self, connection: AsyncConnection, queue: str | None = None) -> None:
        self._connection = connection
        self.queue = queue
        self._outstanding: Outstanding[asyncio.Future[Message]] = Outstanding()
        self._opening = asyncio.Lock()
        self._expecting = asyncio.Event()
        self._made: asyncio.Future[str] | None = None
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    async def request(
        self,
        body: Body,
        timeout: float | None = 30,
        *,
        queue: str | None = None,
        correlation_id: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> Message:
        """Send a request and wait for its answer, as ``Requestor.request``. Raises NoReply."""
        limit = limit_of(timeout)
        target = self.queue if queue is None else queue
        if target is None:
            raise BadArgument("this requestor has no queue of its own", "Name one: request(body, queue=…).")
        correlation_id = correlation_id or uuid.uuid4().hex
        reply_to = await self.open()
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._outstanding.add(correlation_id, future)
        try:
            await self._connection.send(target, body, correlation_id=correlation_id, reply_to=reply_to, **options)
            self._expecting.set()
            async with asyncio.timeout(limit):
                return await future
        except TimeoutError as error:
            raise NoReply(f"no answer within {timeout} seconds") from error
        finally:
            self._outstanding.forget(correlation_id)

    @property
    def late(self) -> int:
        """Number of answers that came after nobody waited for them any more."""
        return self._outstanding.late

    async def open(self) -> str:
        """Return the name of the temporary queue. Creates it if it is missing."""
        async with self._opening:
            if self._closed:
                raise IllegalState("the requestor is closed")
            if self._task is None or self._task.done() or self._made is None:
                self._made = asyncio.get_running_loop().create_future()
                self._task = asyncio.create_task(self._run(self._made), name="howdah-requestor")
            return await asyncio.shield(self._made)  # a cancelled caller leaves the queue to the next one

    async def _run(self, made: asyncio.Future[str]) -> None:
        """Receive from a new temporary queue until cancelled or until its connection is lost."""
        error: BaseException = ConnectionLost("the connection that waits for answers was lost")
        try:
            async with self._connection.lent() as (connection, session):
                backend = await session.call(temporary.BACKEND)
                token = None if temporary.is_direct(connection, backend) else uuid.uuid4().hex
                queue = await _say(connection, token, temporary.create())
                made.set_result(queue)
                idle = Idle(None, self._expecting.set)
                try:
                    while not self._closed:
                        if token is None:
                            self._hand_over(await session.receive(queue, BATCH, wait=3600))
                        else:
                            self._hand_over(await self._look(connection, token, queue, idle))
                finally:
                    with suppress(HowdahError, psycopg.Error):
                        await asyncio.shield(_say(connection, token, temporary.close()))
        except (HowdahError, psycopg.Error) as caught:
            error = caught
            if not made.done():
                made.set_exception(caught)
        finally:
            if self._closed:
                error = IllegalState("the requestor was closed")
            if not made.done():
                made.set_exception(error)
                made.exception()  # nobody may be waiting for it any more
            self._lost(error)

    async def _look(
        self, connection: psycopg.AsyncConnection[Any], token: str, queue: str, idle: Idle
    ) -> list[Message]:
        """Look often for a while after each request, because nothing announces an answer behind a pooler."""
        messages = await _say(connection, token, calls.receive(queue, BATCH))
        if not messages:
            with suppress(TimeoutError):
                async with asyncio.timeout(idle.pause()):
                    await self._expecting.wait()
                self._expecting.clear()
                idle.reset()
        return messages

    def _hand_over(self, messages: list[Message]) -> None:
        for message in messages:
            future = self._outstanding.take(message.correlation_id)
            if future is not None and not future.done():
                future.set_result(message)

    def _lost(self, error: BaseException) -> None:
        for future in self._outstanding.take_all():
            if not future.done():
                future.set_exception(error)

    async def close(self) -> None:
        """Drop the temporary queue. Waiting callers get IllegalState. A second call does nothing."""
        self._closed = True
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()


async def _say(connection: psycopg.AsyncConnection[Any], token: str | None, call: calls.Call[calls.T]) -> calls.T:
    """Run a call. Behind a pooler, run it in a transaction that first says which connection it belongs to."""
    if token is None:
        return await runner.run_async(connection, call)
    async with connection.transaction():
        await runner.run_async(connection, temporary.set_connection(token, local=True))
        return await runner.run_async(connection, call)
