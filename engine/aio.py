"""The same calls for asyncio: sessions over psycopg's async connections."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import psycopg
from psycopg_pool import AsyncConnectionPool

from . import calls
from .calls import Body, Call
from .errors import CannotConnect
from .message import Message
from .runner import run_async
from .session import POLL_SECONDS_MAX, POLL_SECONDS_MIN

T = TypeVar("T")


class AsyncSession:
    """Verbs over an async connection whose transaction the caller ends."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self.connection = connection

    async def call(self, call: Call[T]) -> T:
        """Run any call in the connection's transaction."""
        return await run_async(self.connection, call)

    async def send(self, queue: str, body: Body, **options: Any) -> int:
        """As ``Session.send``."""
        return await self.call(calls.send(queue, body, **options))

    async def send_many(self, queue: str, bodies: Sequence[Body], **options: Any) -> list[int]:
        """As ``Session.send_many``."""
        return await self.call(calls.send_many(queue, bodies, **options))

    async def receive(self, queue: str, max_messages: int = 1, *, wait: float = 0) -> list[Message]:
        """As ``Session.receive``: up to ``wait`` seconds for the first message."""
        deadline = time.monotonic() + wait
        pause = POLL_SECONDS_MIN
        while True:
            messages = await self.call(calls.receive(queue, max_messages))
            left = deadline - time.monotonic()
            if messages or left <= 0:
                return messages
            await asyncio.sleep(min(pause, left))
            pause = min(pause * 2, POLL_SECONDS_MAX)

    async def browse(self, queue: str, max_messages: int = 100, *, after: Message | None = None) -> list[Message]:
        """As ``Session.browse``."""
        return await self.call(calls.browse(queue, max_messages, after=after))


class AsyncConnection:
    """A pool of async connections; ``transaction`` gives a session that commits at the end of its block."""

    def __init__(self, pool: AsyncConnectionPool[psycopg.AsyncConnection[Any]]) -> None:
        self.pool = pool

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        """A session in a transaction: committed at the end of the block, rolled back if it raises."""
        async with self.pool.connection() as connection:
            yield AsyncSession(connection)

    async def close(self) -> None:
        """Close the pool."""
        await self.pool.close()


@asynccontextmanager
async def connect_async(
    dsn: str, *, min_size: int = 1, max_size: int = 10, timeout: float = 30
) -> AsyncIterator[AsyncConnection]:
    """Connect by DSN; the pool is closed at the end of the block. Raises CannotConnect."""
    pool: AsyncConnectionPool[psycopg.AsyncConnection[Any]] = AsyncConnectionPool(
        dsn, min_size=min_size, max_size=max_size, timeout=timeout, open=False
    )
    try:
        await pool.open(wait=True, timeout=timeout)
    except psycopg.Error as error:
        await pool.close()
        raise CannotConnect(f"cannot connect: {str(error).strip()}", "Check the DSN.") from error
    try:
        yield AsyncConnection(pool)
    finally:
        await pool.close()
