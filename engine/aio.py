"""The same calls for asyncio: sessions over psycopg's or SQLAlchemy's async connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import psycopg
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout, TooManyRequests

from . import calls, runner, topics
from .admin import Admin
from .bodies import Body
from .calls import Call, Incident
from .errors import CannotConnect, IllegalState, lost_translated
from .factory import cannot_connect, check_sizes, complete, pool_settings
from .failure import recording
from .leases import Leases
from .message import Message
from .outcomes import Rule
from .waiting import Asks, Idle
from .waking import Waking

T = TypeVar("T")


class AsyncSession:
    """Verbs over an async connection, psycopg's or SQLAlchemy's, whose transaction the caller ends."""

    def __init__(
        self, connection: runner.AsyncConnection, waking: Waking | None = None, asks: Asks | None = None
    ) -> None:
        """waking, asks: what wakes a waiting receive; sessions of a ``connect_async`` have and share them."""
        self.connection = connection
        self._waking = waking
        self._asks = Asks() if asks is None else asks

    async def call(self, call: Call[T]) -> T:
        """Run any call in the connection's transaction."""
        return await runner.run_async(self.connection, call)

    async def send(self, queue: str, body: Body, **options: Any) -> int:
        """As ``Session.send``."""
        return await self.call(calls.send(queue, body, **options))

    async def send_many(self, queue: str, bodies: Sequence[Body], **options: Any) -> list[int]:
        """As ``Session.send_many``."""
        return await self.call(calls.send_many(queue, bodies, **options))

    async def receive(self, queue: str, max_messages: int = 1, *, wait: float = 0) -> list[Message]:
        """As ``Session.receive``: up to ``wait`` seconds for the first message."""
        woken = asyncio.Event()
        loop = asyncio.get_running_loop()
        with Idle(self._waking, lambda: loop.call_soon_threadsafe(woken.set), wait, self._asks) as idle:
            while True:
                if (ask := idle.ask(queue)) is not None:
                    idle.asked(queue, await self.call(ask))
                messages = await self.call(calls.receive(queue, max_messages))
                if messages:
                    idle.found()
                pause = None if messages else idle.pause()
                if pause is None:
                    return messages
                with suppress(TimeoutError):
                    await asyncio.wait_for(woken.wait(), pause)
                woken.clear()

    async def set_client_id(self, client_id: str | None) -> None:
        """As ``Session.set_client_id``."""
        await self.call(topics.set_client_id(client_id))

    async def browse(self, queue: str, max_messages: int = 100, *, after: Message | None = None) -> list[Message]:
        """As ``Session.browse``."""
        return await self.call(calls.browse(queue, max_messages, after=after))

    @property
    def admin(self) -> AsyncAdmin:
        """The administrator's verbs in the connection's transaction."""
        return AsyncAdmin(self.call)


class AsyncAdmin:
    """The verbs of Admin, each to be awaited: ``await connection.admin.create_queue("orders")``."""

    def __init__(self, run: Callable[[Call[Any]], Awaitable[Any]]) -> None:
        self._admin = Admin(run)

    def __getattr__(self, verb: str) -> Callable[..., Awaitable[Any]]:
        method: Callable[..., Awaitable[Any]] = getattr(self._admin, verb)
        return method


class AsyncLeases:
    """The verbs of Leases, each to be awaited: ``await connection.leases.lease("orders")``."""

    def __init__(self, run: Callable[[Call[Any]], Awaitable[Any]]) -> None:
        self._leases = Leases(run)

    def __getattr__(self, verb: str) -> Callable[..., Awaitable[Any]]:
        method: Callable[..., Awaitable[Any]] = getattr(self._leases, verb)
        return method


class AsyncConnection:
    """A pool of async connections; ``transaction`` gives a session that commits at the end of its block."""

    def __init__(self, pool: AsyncConnectionPool[psycopg.AsyncConnection[Any]]) -> None:
        self.pool = pool
        self._waking = Waking.of_pool(pool)
        self._asks = Asks()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        """A session in a transaction: committed at the end of the block, rolled back if it raises.

        Raises CannotConnect if no connection came free, ConnectionLost if it broke.
        """
        try:
            connection = await self.pool.getconn()
        except PoolClosed as error:
            raise IllegalState("the connection is closed") from error
        except (PoolTimeout, TooManyRequests) as error:
            raise CannotConnect(
                f"no database connection came free: {error}", "Check the DSN, or raise max_size."
            ) from error
        try:
            try:
                yield AsyncSession(connection, self._waking, self._asks)
            except BaseException:
                with suppress(psycopg.Error):
                    await connection.rollback()
                raise
            with lost_translated():
                await connection.commit()
        finally:
            lost = connection.closed
            await self.pool.putconn(connection)
            if lost:
                with suppress(psycopg.Error):
                    await self.pool.check()

    async def call(self, call: Call[T]) -> T:
        """Run one call in a transaction of its own."""
        async with self.transaction() as session:
            return await session.call(call)

    async def send(self, queue: str, body: Body, **options: Any) -> int:
        """Send one message in a transaction of its own; when this returns, the message is stored durably."""
        return await self.call(calls.send(queue, body, **options))

    async def record_failure(
        self, message: Message, error: BaseException, rules: Iterable[Rule] = ()
    ) -> Incident | None:
        """As ``Connection.record_failure``."""
        call = recording(message, error, rules)
        if call is None:
            return None
        return await self.call(call)

    @property
    def admin(self) -> AsyncAdmin:
        """The administrator's verbs, each in a transaction of its own."""
        return AsyncAdmin(self.call)

    @property
    def leases(self) -> AsyncLeases:
        """Receiving without an open transaction: lease, ack, nack, release, extend."""
        return AsyncLeases(self.call)

    async def close(self) -> None:
        """Close the pool."""
        waking, self._waking = self._waking, None
        if waking is not None:
            waking.release()
        await self.pool.close()


@asynccontextmanager
async def connect_async(
    dsn: str | None = None, *, min_size: int = 0, max_size: int = 10, timeout: float = 30, prepare: bool = True
) -> AsyncIterator[AsyncConnection]:
    """Connect by DSN, as ``connect``; the pool is closed at the end of the block. Raises CannotConnect, BadArgument."""
    check_sizes(min_size, max_size)
    conninfo = complete(dsn, timeout)
    try:
        await (await psycopg.AsyncConnection.connect(conninfo)).close()
    except psycopg.Error as error:
        raise cannot_connect(error) from error
    pool: AsyncConnectionPool[psycopg.AsyncConnection[Any]] = AsyncConnectionPool(
        conninfo,
        kwargs=pool_settings(prepare),
        min_size=min_size,
        max_size=max_size,
        timeout=timeout,
        open=False,
        name="howdah",
    )
    async with pool:
        connection = AsyncConnection(pool)
        try:
            yield connection
        finally:
            await connection.close()
