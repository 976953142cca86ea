"""The same calls for asyncio: sessions over psycopg's or SQLAlchemy's async connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar, Unpack

import psycopg
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout, TooManyRequests

from .. import calls
from ..admin import Admin
from ..admin.schedules import Schedules
from ..calls import Call, Incident, consumers, temporary, topics
from ..calls.bodies import Body
from ..calls.message import Message
from ..calls.options import BrowseOptions, ConsumerOptions, RespondOptions, SendManyOptions, SendOptions
from ..connection import Connection
from ..database import runner
from ..database.waiting import Asks, Idle
from ..database.waking import Waking
from ..errors import CannotConnect, IllegalState, cannot_connect, lost_translated
from ..factory import check_duration, check_sizes, complete, connect, pool_settings
from ..handling.failure import recording
from ..handling.outcomes import Rule
from ..jms.modes import AckMode
from ..jms.prefetch import Prefetch
from ..sessions.leases import Leases
from .jms import AsyncAckSession

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

    async def send(self, queue: str, body: Body, **options: Unpack[SendOptions]) -> int:
        """As ``Session.send``."""
        return await self.call(calls.send(queue, body, **options))

    async def send_many(self, queue: str, bodies: Sequence[Body], **options: Unpack[SendManyOptions]) -> list[int]:
        """As ``Session.send_many``."""
        return await self.call(calls.send_many(queue, bodies, **options))

    async def receive(
        self,
        queue: str,
        max_messages: int = 1,
        *,
        wait: float = 0,
        selector: str | None = None,
        consumer: int | None = None,
    ) -> list[Message]:
        """As ``Session.receive``: up to ``wait`` seconds for the first message."""
        woken = asyncio.Event()
        loop = asyncio.get_running_loop()
        with Idle(self._waking, lambda: loop.call_soon_threadsafe(woken.set), wait, self._asks) as idle:
            while True:
                if (ask := idle.ask(queue)) is not None:
                    idle.asked(queue, await self.call(ask))
                messages = await self.call(calls.receive(queue, max_messages, selector=selector, consumer=consumer))
                if messages:
                    idle.found()
                pause = None if messages else idle.pause()
                if pause is None:
                    return messages
                with suppress(TimeoutError):
                    await asyncio.wait_for(woken.wait(), pause)
                woken.clear()

    async def open_consumer(self, queue: str, **options: Unpack[ConsumerOptions]) -> int | None:
        """As ``Session.open_consumer``."""
        return await self.call(consumers.open_consumer(queue, **options))

    async def close_consumer(self, consumer: int) -> bool:
        """As ``Session.close_consumer``."""
        return await self.call(consumers.close_consumer(consumer))

    async def respond(self, request: Message, body: Body, **options: Unpack[RespondOptions]) -> int | None:
        """As ``Session.respond``."""
        return await self.call(temporary.respond(request, body, **options))

    async def set_client_id(self, client_id: str | None) -> None:
        """As ``Session.set_client_id``."""
        await self.call(topics.set_client_id(client_id))

    async def receive_message(self, queue: str, message_id: int) -> Message | None:
        """As ``Session.receive_message``."""
        messages = await self.call(calls.receive_message(queue, message_id))
        return messages[0] if messages else None

    async def receive_correlated(self, queue: str, correlation_id: str, max_messages: int = 1) -> list[Message]:
        """As ``Session.receive_correlated``."""
        return await self.call(calls.receive_correlated(queue, correlation_id, max_messages))

    async def browse(
        self,
        queue: str,
        max_messages: int = 100,
        *,
        after: Message | tuple[int, int] | None = None,
        **which: Unpack[BrowseOptions],
    ) -> list[Message]:
        """As ``Session.browse``."""
        return await self.call(calls.browse(queue, max_messages, after=after, **which))

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


class AsyncSchedules:
    """The verbs of Schedules, each to be awaited: ``await connection.schedules.add("orders", "x", cron="0 3 * * *")``."""

    def __init__(self, run: Callable[[Call[Any]], Awaitable[Any]]) -> None:
        self._schedules = Schedules(run)

    def __getattr__(self, verb: str) -> Callable[..., Awaitable[Any]]:
        method: Callable[..., Awaitable[Any]] = getattr(self._schedules, verb)
        return method


class AsyncConnection:
    """A pool of async connections; ``transaction`` gives a session that commits at the end of its block."""

    def __init__(
        self, pool: AsyncConnectionPool[psycopg.AsyncConnection[Any]], threaded: Callable[[], Connection] | None = None
    ) -> None:
        """threaded: makes the connection that sessions with an acknowledge mode have in common, when the first one is made."""
        self.pool = pool
        self._threaded = threaded
        self._thread_connection: Connection | None = None
        self._making = asyncio.Lock()
        self._waking = Waking.of_pool(pool)
        self._asks = Asks()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        """A session in a transaction: committed at the end of the block, rolled back if it raises.

        Raises CannotConnect if no connection came free, ConnectionLost if it broke.
        """
        async with self._borrowed() as connection:
            try:
                yield AsyncSession(connection, self._waking, self._asks)
            except BaseException:
                with suppress(psycopg.Error):
                    await connection.rollback()
                raise
            with lost_translated():
                await connection.commit()

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[tuple[psycopg.AsyncConnection[Any], AsyncSession]]:
        """A connection of the pool for one use in the block, each statement a transaction, and a session over it. Raises CannotConnect."""
        async with self._borrowed() as connection:
            await connection.set_autocommit(True)
            try:
                yield connection, AsyncSession(connection, self._waking, Asks())
            finally:
                with suppress(psycopg.Error):
                    await connection.set_autocommit(False)

    @asynccontextmanager
    async def _borrowed(self) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        try:
            connection = await self.pool.getconn()
        except PoolClosed as error:
            raise IllegalState("the connection is closed") from error
        except (PoolTimeout, TooManyRequests) as error:
            raise CannotConnect(
                f"no database connection came free: {error}", "Check the DSN, or raise max_size."
            ) from error
        try:
            yield connection
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

    async def send(self, queue: str, body: Body, **options: Unpack[SendOptions]) -> int:
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

    @property
    def schedules(self) -> AsyncSchedules:
        """What is sent by the clock: add, list, cancel, pause, resume; and delayed messages."""
        return AsyncSchedules(self.call)

    async def jms_session(self, *, transacted: bool = False, mode: int = AckMode.AUTO) -> AsyncAckSession:
        """As ``Connection.jms_session``: a session with an acknowledge mode, on a thread and database connections of its own.

        Raises BadArgument, CannotConnect, and IllegalState for a connection that was not made by ``connect_async``.
        """
        async with self._making:
            if self._threaded is None:
                raise IllegalState("only a connection by connect_async has sessions with an acknowledge mode")
            if self._thread_connection is None:
                self._thread_connection = await asyncio.to_thread(self._threaded)
        owner = self._thread_connection
        return AsyncAckSession(await asyncio.to_thread(lambda: owner.jms_session(transacted=transacted, mode=mode)))

    async def close(self) -> None:
        """Close the pool, and the sessions with an acknowledge mode."""
        if self._thread_connection is not None:
            await asyncio.to_thread(self._thread_connection.close)
        waking, self._waking = self._waking, None
        if waking is not None:
            waking.release()
        await self.pool.close()


@asynccontextmanager
async def connect_async(
    dsn: str | None = None,
    *,
    min_size: int = 0,
    max_size: int = 10,
    timeout: float = 30,
    prepare: bool = True,
    prefetch: Prefetch | None = None,
    lease_duration: float = 60,
) -> AsyncIterator[AsyncConnection]:
    """Connect by DSN, as ``connect``; the pool is closed at the end of the block. Raises CannotConnect, BadArgument.

    prefetch, lease_duration: for sessions with an acknowledge mode, which have up to ``max_size`` connections besides.
    """
    check_sizes(min_size, max_size)
    check_duration(lease_duration)
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
        connection = AsyncConnection(
            pool,
            lambda: connect(
                conninfo,
                max_size=max_size,
                timeout=timeout,
                prepare=prepare,
                prefetch=prefetch,
                lease_duration=lease_duration,
            ),
        )
        try:
            yield connection
        finally:
            await connection.close()
