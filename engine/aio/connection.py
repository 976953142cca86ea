"""Connections for asyncio: a pool of database connections that sessions are made from."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar, Unpack
from weakref import WeakSet

import psycopg
from psycopg_pool import AsyncConnectionPool

from .. import calls
from ..calls import Call, Incident
from ..calls.bodies import Body
from ..calls.levels import BY_SERVER, LevelMapping
from ..calls.message import Message
from ..calls.objects import FoundObject, overriding
from ..calls.objects import lookup as look_up
from ..calls.options import SendOptions
from ..calls.results import Result
from ..calls.services import Service
from ..connection import Connection
from ..database.client_id import ClaimedClientId
from ..database.reconnection import Reconnection
from ..database.runner import commit_whole_async
from ..database.waiting import Asks
from ..database.waking import Waking, conninfo_of
from ..errors import IllegalState, lost_translated
from ..handling.failure import recording
from ..handling.outcomes import Rule
from ..jms.modes import AckMode
from ..tracing.points import sending
from .admin import AsyncAdmin
from .admin.administration import AsyncAdministration
from .admin.transactions import AsyncTransactions
from .admin.users import AsyncUsers
from .jms import AsyncAckSession
from .leases import AsyncLeases
from .loans import AsyncLoans, AsyncPgConnection
from .opening import opened_on_thread
from .session import AsyncSession
from .shared import AsyncSharedConsumers

T = TypeVar("T")


class AsyncConnection(AsyncAdministration):
    """A pool of async connections; ``transaction`` gives a session that commits at the end of its block."""

    def __init__(
        self,
        pool: AsyncConnectionPool[AsyncPgConnection],
        threaded: Callable[[], Connection] | None = None,
        *,
        owns_pool: bool = True,
        started: bool = True,
        max_redeliveries: int | None = None,
        levels: LevelMapping = BY_SERVER,
        reconnection: Reconnection | None = None,
        claim: ClaimedClientId | None = None,
        service: Service | None = None,
    ) -> None:
        """threaded: makes the connection that all sessions with an acknowledge mode share, for the first of them."""
        self.pool = pool
        #: The most redeliveries of a message to its listeners, beside the queue's own limit. None: only the queue's
        #: limit.
        self.max_redeliveries = max_redeliveries
        #: The levels of reliability that delivery modes stand for.
        self.levels = levels
        self._owns_pool = owns_pool
        self._claim = claim
        #: The service that it has connected with; None: it named none.
        self.service = service
        self._threaded = threaded
        self._thread_connection: Connection | None = None
        self._making = asyncio.Lock()
        self._loans = AsyncLoans(pool, reconnection)
        self._sessions: set[AsyncSession] = set()
        self._shared: WeakSet[AsyncSharedConsumers] = WeakSet()
        self._started = started
        self._closed = False
        self._waking = Waking.of_pool(pool)
        self._asks = Asks()

    @property
    def client_id(self) -> str | None:
        """The claimed client id, under which the connection publishes and subscribes."""
        return None if self._claim is None else self._claim.name

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
        if self._thread_connection is not None:
            self._thread_connection.start()

    def stop(self) -> None:
        """Stop delivery to the sessions. Sending goes on; timeouts of waiting receives keep running.

        A receive that is under way gives back what it finds, unless its transaction was open before.
        """
        self._started = False
        if self._thread_connection is not None:
            self._thread_connection.stop()

    async def session(self, *, transacted: bool = True) -> AsyncSession:
        """Open a session on a pooled connection, as ``Connection.session``. Commit and close it yourself.

        Raises CannotConnect if none came free or the server does not answer.
        """
        await self._check_usable()
        session = await AsyncSession.owning(self, self._loans, transacted=transacted)
        self._sessions.add(session)
        if self._closed:  # in between
            await session.close()
            self._check_open()
        return session

    def _check_open(self) -> None:
        if self._closed:
            raise IllegalState("the connection is closed")

    async def _check_usable(self) -> None:
        self._check_open()
        if self._claim is not None:
            await self._claim.check_async()

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
                await commit_whole_async(connection)

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[tuple[AsyncPgConnection, AsyncSession]]:
        """Lend a pooled connection for the block, in autocommit, with a session on it. Raises CannotConnect."""
        async with self._borrowed(autocommit=True) as connection:
            yield connection, self._over(connection, Asks())

    @asynccontextmanager
    async def _borrowed(self, *, autocommit: bool) -> AsyncIterator[AsyncPgConnection]:
        await self._check_usable()
        connection = await self._loans.borrow(autocommit=autocommit)
        try:
            yield connection
        finally:
            await self._loans.give_back(connection)

    def _over(self, connection: AsyncPgConnection, asks: Asks) -> AsyncSession:
        session = AsyncSession(connection, self)
        session.share(self._waking, asks)
        return session

    async def lookup(self, name: str, overrides: Mapping[str, Any] | None = None) -> Any:
        """As ``Connection.lookup``. A factory that it returns is for ``connect_async(factory=…)``, too."""
        found = await self.call(look_up(name))
        if wanted := overriding(found, overrides):
            found = await self.call(look_up(name, wanted))
        return self.found(found)

    def found(self, found: FoundObject) -> Any:
        """Make a factory or a destination of an object that was found."""
        if not isinstance(self.pool.conninfo, str):
            raise IllegalState("this connection's pool does not say where it connects to", "Connect by DSN.")
        return Connection.naming.administered(self.pool.conninfo, found)

    async def call(self, call: Call[T]) -> T:
        """Run one call in its own transaction."""
        async with self.transaction() as session:
            return await session.call(call)

    async def send(self, queue: str, body: Body, **options: Unpack[SendOptions]) -> int:
        """Send one message in its own transaction. When this returns, the message is stored durably."""
        with sending(queue, options) as carried:
            return await self.call(calls.send(queue, body, **self.levels.stamped(queue, carried)))

    async def result(self, queue: str, message_id: int, *, wait: float = 0) -> Result:
        """As ``Connection.result``."""
        async with await self.session() as session:
            return await session.result(queue, message_id, wait=wait)

    async def record_failure(
        self, message: Message, error: BaseException, rules: Iterable[Rule] = ()
    ) -> Incident | None:
        """As ``Connection.record_failure``."""
        call = recording(message, error, rules, self.max_redeliveries)
        if call is None:
            return None
        return await self.call(call)

    @property
    def admin(self) -> AsyncAdmin:
        """Administration, each call in its own transaction."""
        return AsyncAdmin(self.call, client_id=self.client_id or "")

    @property
    def leases(self) -> AsyncLeases:
        """Receive without an open transaction: lease, ack, nack, release, extend."""
        return AsyncLeases(self.call, self.levels)

    @property
    def transactions(self) -> AsyncTransactions:
        """Prepared transactions: list, commit, rollback."""
        return AsyncTransactions(self._call_in_autocommit)

    @property
    def users(self) -> AsyncUsers:
        """Users and groups: roles of PostgreSQL. Each call is a transaction of its own."""
        return AsyncUsers(self.call)

    async def _call_in_autocommit(self, call: Call[T]) -> T:
        async with self.lent() as (_, session):
            return await session.call(call)

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

        Raises BadArgument, CannotConnect, and IllegalState for a connection over the application's own pool.
        """
        await self._check_usable()
        async with self._making:
            if self._threaded is None:
                raise IllegalState(
                    "a connection over the application's own pool has no sessions with an acknowledge mode",
                    "Connect by DSN.",
                )
            if self._thread_connection is None:
                self._thread_connection = await opened_on_thread(self._threaded)
                if not self._started:
                    self._thread_connection.stop()
        owner = self._thread_connection
        return AsyncAckSession(await opened_on_thread(lambda: owner.jms_session(transacted=transacted, mode=mode)))

    async def close(self) -> None:
        """Close every session and the connection's own pool, which is closed even if closing a session fails."""
        self._closed = True
        try:
            for consumers in list(self._shared):
                await consumers.close()
            if self._thread_connection is not None:
                await asyncio.to_thread(self._thread_connection.close)
            for session in list(self._sessions):
                await session.close()
        finally:
            waking, self._waking = self._waking, None
            if waking is not None:
                waking.release()
            try:
                if self._owns_pool:
                    await self.pool.close()
            finally:
                if self._claim is not None:
                    await asyncio.to_thread(self._claim.release)
