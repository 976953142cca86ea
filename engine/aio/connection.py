"""Connections for asyncio: a pool of database connections that sessions are made from."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import TypeVar, Unpack
from weakref import WeakSet

import psycopg
from psycopg_pool import AsyncConnectionPool

from .. import calls
from ..calls import Call, Incident
from ..calls.bodies import Body
from ..calls.levels import BY_SERVER
from ..calls.message import Message
from ..calls.options import SendOptions
from ..calls.services import Service
from ..connection import Connection
from ..database.pooling import Beginning, Sizes
from ..database.reliability import AsyncReliabilityConnection
from ..database.waiting import Asks
from ..database.waking import Waking, conninfo_of
from ..errors import IllegalState, cannot_connect, lost_translated
from ..factory import check_duration, complete, connect, pool_settings
from ..handling.failure import recording
from ..handling.outcomes import Rule
from ..jms.modes import AckMode
from ..jms.prefetch import Prefetch
from .admin import AsyncAdmin
from .admin.archives import AsyncArchives
from .admin.audits import AsyncAudits
from .admin.links import AsyncLinks
from .admin.schedules import AsyncSchedules
from .admin.services import AsyncServices
from .jms import AsyncAckSession
from .leases import AsyncLeases
from .loans import AsyncLoans, AsyncPgConnection
from .session import AsyncSession
from .shared import AsyncSharedConsumers

T = TypeVar("T")


class AsyncConnection:
    """A pool of async connections; ``transaction`` gives a session that commits at the end of its block."""

    #: Redeliveries at most of what listeners get; None: the queue's own limit.
    max_redeliveries: int | None = None
    #: The levels of reliability that delivery modes stand for.
    levels = BY_SERVER
    #: The client id that the connection has claimed: none.
    client_id: str | None = None

    def __init__(
        self,
        pool: AsyncConnectionPool[AsyncPgConnection],
        threaded: Callable[[], Connection] | None = None,
        service: Service | None = None,
    ) -> None:
        """threaded: makes the connection that all sessions with an acknowledge mode share, for the first of them."""
        self.pool = pool
        #: The service that it has connected with; None: it named none.
        self.service = service
        self._threaded = threaded
        self._thread_connection: Connection | None = None
        self._making = asyncio.Lock()
        self._loans = AsyncLoans(pool)
        self._sessions: set[AsyncSession] = set()
        self._shared: WeakSet[AsyncSharedConsumers] = WeakSet()
        self._started = True
        self._closed = False
        self._waking = Waking.of_pool(pool)
        self._asks = Asks()

    @property
    def waking(self) -> Waking | None:
        """The object that wakes waiting receives; None: there is none."""
        return self._waking

    @property
    def started(self) -> bool:
        """Whether sessions may receive."""
        return self._started

    def start(self) -> None:
        """Start delivery to the sessions."""
        self._started = True

    def stop(self) -> None:
        """Stop the delivery to sessions of ``session``. Sending goes on; timeouts of waiting receives keep running."""
        self._started = False

    async def session(self, *, transacted: bool = True) -> AsyncSession:
        """Open a session on a pooled connection, as ``Connection.session``. Commit and close it yourself.

        Raises CannotConnect if none came free or the server does not answer.
        """
        self._check_open()
        session = await AsyncSession.owning(self, self._loans, transacted=transacted)
        self._sessions.add(session)
        if self._closed:  # in between
            await session.close()
            self._check_open()
        return session

    def _check_open(self) -> None:
        if self._closed:
            raise IllegalState("the connection is closed")

    def forget(self, session: object) -> None:
        """Note that a session was closed."""
        if isinstance(session, AsyncSession):
            self._sessions.discard(session)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        """Open a session in a transaction. The block's end commits it; an exception rolls it back.

        Raises CannotConnect if no connection came free, ConnectionLost if it broke.
        """
        async with self._borrowed(autocommit=False) as connection:
            try:
                yield self._over(connection, self._asks)
            except BaseException:
                with suppress(psycopg.Error):
                    await connection.rollback()
                raise
            with lost_translated():
                await connection.commit()

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[tuple[AsyncPgConnection, AsyncSession]]:
        """Lend a pooled connection for the block, in autocommit, with a session on it. Raises CannotConnect."""
        async with self._borrowed(autocommit=True) as connection:
            yield connection, self._over(connection, Asks())

    @asynccontextmanager
    async def _borrowed(self, *, autocommit: bool) -> AsyncIterator[AsyncPgConnection]:
        self._check_open()
        connection = await self._loans.borrow(autocommit=autocommit)
        try:
            yield connection
        finally:
            await self._loans.give_back(connection)

    def _over(self, connection: AsyncPgConnection, asks: Asks) -> AsyncSession:
        session = AsyncSession(connection)
        session.share(self._waking, asks)
        return session

    async def call(self, call: Call[T]) -> T:
        """Run one call in its own transaction."""
        async with self.transaction() as session:
            return await session.call(call)

    async def send(self, queue: str, body: Body, **options: Unpack[SendOptions]) -> int:
        """Send one message in its own transaction. When this returns, the message is stored durably."""
        return await self.call(calls.send(queue, body, **self.levels.applied(queue, options)))

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
        """Administration, each call in its own transaction."""
        return AsyncAdmin(self.call)

    @property
    def leases(self) -> AsyncLeases:
        """Receive without an open transaction: lease, ack, nack, release, extend."""
        return AsyncLeases(self.call)

    @property
    def schedules(self) -> AsyncSchedules:
        """Schedules: add, list, cancel, pause, resume. Also delayed messages."""
        return AsyncSchedules(self.call)

    @property
    def links(self) -> AsyncLinks:
        """Links to other engines: create, alter, list, pause, resume, rebase, drop. Also links that lead here."""
        return AsyncLinks(self.call)

    @property
    def services(self) -> AsyncServices:
        """Services: list, alter."""
        return AsyncServices(self.call)

    @property
    def archives(self) -> AsyncArchives:
        """The archive: its finished runs, and messages restored from it."""
        return AsyncArchives(self.call)

    @property
    def audits(self) -> AsyncAudits:
        """Recorded audits: list, last, record. Also the right to audit."""
        return AsyncAudits(self.call)

    def shared_consumers(self, *, monitor_limit: int | None = None) -> AsyncSharedConsumers:
        """Return consumers that share the pool: thousands over a few database connections.

        monitor_limit: consumers that one listening connection serves at most, 0 is any number. None: as the service
        has it, and any number without one.
        """
        self._check_open()
        of_service = 0 if self.service is None else self.service.monitor_limit
        limit = of_service if monitor_limit is None else monitor_limit
        consumers = AsyncSharedConsumers(self, self._loans, conninfo_of(self.pool), limit)
        self._shared.add(consumers)
        return consumers

    async def jms_session(self, *, transacted: bool = False, mode: int = AckMode.AUTO) -> AsyncAckSession:
        """Open a session with an acknowledge mode, as ``Connection.jms_session``, with its own thread and connections.

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
        """Close the pool and every session."""
        self._closed = True
        for consumers in list(self._shared):
            await consumers.close()
        if self._thread_connection is not None:
            await asyncio.to_thread(self._thread_connection.close)
        for session in list(self._sessions):
            await session.close()
        waking, self._waking = self._waking, None
        if waking is not None:
            waking.release()
        await self.pool.close()


@asynccontextmanager
async def connect_async(
    dsn: str | None = None,
    *,
    min_size: int | None = None,
    max_size: int | None = None,
    timeout: float = 30,
    prepare: bool = True,
    prefetch: Prefetch | None = None,
    lease_duration: float = 60,
    commit_by_reliability: bool = False,
    service: str | None = None,
) -> AsyncIterator[AsyncConnection]:
    """Connect by DSN, as ``connect``. The block's end closes the pool. Raises as ``connect``.

    prefetch, lease_duration: for sessions with an acknowledge mode, which have up to ``max_size`` connections besides.
    commit_by_reliability, service: as of ``connect``. The sessions of a service always share what waits.
    """
    check_duration(lease_duration)
    if service is None:
        Sizes.of(min_size, max_size)
    conninfo = complete(dsn, timeout)
    beginning = Beginning(service=service)
    chosen = await _probed(conninfo, beginning)
    sizes = Sizes.of(min_size, max_size, chosen)
    pool: AsyncConnectionPool[AsyncPgConnection] = AsyncConnectionPool(
        conninfo,
        kwargs=pool_settings(prepare),
        min_size=sizes.min_size,
        max_size=sizes.max_size,
        max_idle=sizes.max_idle,
        timeout=timeout,
        open=False,
        configure=beginning.configure_async,
        connection_class=AsyncReliabilityConnection if commit_by_reliability else psycopg.AsyncConnection,
        name="howdah",
    )
    async with pool:
        connection = AsyncConnection(
            pool,
            lambda: connect(
                conninfo,
                max_size=sizes.max_size,
                timeout=timeout,
                prepare=prepare,
                prefetch=prefetch,
                lease_duration=lease_duration,
                commit_by_reliability=commit_by_reliability,
                service=service,
            ),
            chosen,
        )
        try:
            yield connection
        finally:
            await connection.close()


async def _probed(conninfo: str, beginning: Beginning) -> Service | None:
    """The service of a first connection, by which errors show at once."""
    try:
        probe = await psycopg.AsyncConnection.connect(conninfo)
    except psycopg.Error as error:
        raise cannot_connect(error) from error
    async with probe:
        return await beginning.begin_async(probe)
