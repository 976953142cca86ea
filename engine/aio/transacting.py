"""The connection, transaction and life of a session, beneath its verbs."""

from __future__ import annotations

import asyncio  # async
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Self, TypeVar

import psycopg

from ..calls import Call, temporary, topics
from ..calls.levels import BY_SERVER, LevelMapping
from ..calls.message import Message
from ..database.reconnection import is_gone
from ..database.runner import AnyAsyncConnection, commit_whole_async, raw_async, run_async
from ..errors import ConnectionLost, HowdahError, IllegalState, NoReply, lost_translated
from ..sessions.owner import SessionOwner
from ..tracing.points import Unsettled, receiving
from .dispatch import AsyncDispatcher
from .loans import AsyncLoans, AsyncPgConnection
from .tasks import AsyncLock
from .waiter import AsyncWaiter

T = TypeVar("T")


class AsyncTransacting(AsyncWaiter):
    """One connection, the session's or its caller's, with one transaction at a time."""

    def __init__(self, connection: AnyAsyncConnection, owner: SessionOwner | None = None) -> None:
        """owner: the connection of Howdah's that it belongs to."""
        super().__init__()
        self._connection: AnyAsyncConnection | None = connection
        self._owner = owner
        self._loans: AsyncLoans | None = None
        self._transacted = True
        self._own_levels = BY_SERVER
        self._dispatcher: AsyncDispatcher[object] | None = None
        self._closing = False
        #: Whether the first transaction that ended since somebody set this to None was committed.
        self.committed: bool | None = None
        #: Subscriptions that end with the session.
        self._fleeting: list[str] = []
        #: Whether it has temporary queues, which end with it.
        self._temporary = False
        #: What its transaction has received.
        self._unsettled = Unsettled()
        #: A running statement holds it, so that close does not give the connection away meanwhile.
        self._in_use = AsyncLock()

    @classmethod
    async def owning(cls, owner: SessionOwner, loans: AsyncLoans, *, transacted: bool) -> Self:
        """A session that commits and rolls back itself and gives its connection back when it is closed.

        Not transacted: every call commits at once, so a received message is gone before ``receive`` returns.
        """
        session = cls(await loans.borrow(autocommit=not transacted), owner)
        session._loans, session._waking, session._transacted = loans, owner.waking, transacted
        return session

    @property
    def _levels(self) -> LevelMapping:
        """The levels that delivery modes stand for."""
        return self._own_levels if self._owner is None else self._owner.levels

    def decide(self, levels: LevelMapping) -> None:
        """Apply the settings of a connection that does not own the session."""
        self._own_levels = levels

    @property
    def max_redeliveries(self) -> int | None:
        """The connection's limit of redeliveries. None: only the queue's limit holds."""
        return None if self._owner is None else self._owner.max_redeliveries

    @property
    def transacted(self) -> bool:
        """Whether a transaction spans several calls."""
        return self._transacted

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._closing

    @property
    def connection(self) -> Any:
        """The connection beneath, for the application's statements in the same transaction."""
        return self._live()

    def _live(self) -> AnyAsyncConnection:
        if self._connection is None or self._closing:
            raise IllegalState("the session is closed")
        dispatcher = self._dispatcher
        if dispatcher is not None and dispatcher.is_alive() and not dispatcher.is_current():
            raise IllegalState("a session with listeners belongs to their task", "Make another session.")  # async
            # sync: raise IllegalState("a session with listeners belongs to their thread", "Make another session.")
        return self._connection

    async def call(self, call: Call[T]) -> T:
        """Run any call in this session's transaction. If the first call fails, it leaves no broken transaction."""
        async with self._in_use:
            fresh = await self._reached()
            connection = self._live()
            idle = self._is_idle()
            try:
                return await run_async(connection, call)
            except ConnectionLost:
                if not await self._regained() or not (fresh and self._transacted):
                    raise
                return await run_async(self._live(), call)  # only this call was lost, and it had not committed
            except BaseException:
                if idle:
                    with suppress(ConnectionLost, psycopg.Error):
                        await self.rollback()
                raise

    async def _received(self, queue: str, call: Call[list[Message]]) -> list[Message]:
        """Run a call that receives from a queue."""
        with receiving(queue, connection=self._connection) as found:
            messages = found(await self.call(call))
        if self._transacted and self._loans is not None:
            self._unsettled.note(queue, messages)
        return messages

    async def _reached(self) -> bool:
        """Replace a connection that is gone and had no transaction, where the client reconnects.

        Returns whether no transaction is open.
        """
        connection = self._connection
        if self._loans is None or self._loans.reconnection is None or self._closing:
            return False
        if not isinstance(connection, psycopg.AsyncConnection):
            return False
        if not connection.closed and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            return False
        if is_gone(connection):
            await connection.close()
            await self.renew()
        return True

    async def _regained(self) -> bool:
        """Get another connection in place of a lost one, where the client reconnects. Returns whether it does."""
        if self._loans is None or self._loans.reconnection is None or self._closing:
            return False
        await self.renew()
        return True

    async def _within(self, seconds: float, call: Call[T]) -> T:
        """Run a call that may take up to ``seconds``. Raises NoReply."""
        async with self._in_use:
            await self._reached()
            connection = await raw_async(self._live())
            try:
                async with connection.transaction():
                    cursor = await connection.execute(
                        "select current_setting('statement_timeout'), set_config('statement_timeout', %s, true)",
                        (f"{max(1, round(seconds * 1000))}ms",),
                    )
                    before = ((await cursor.fetchone()) or ("0",))[0]
                    result = await run_async(connection, call)
                    await connection.execute("select set_config('statement_timeout', %s, true)", (before,))
            except psycopg.errors.QueryCanceled as error:
                raise NoReply(f"no answer within {seconds:g} seconds") from error
            return result

    async def _load(self, load: Callable[[psycopg.AsyncConnection[Any]], Awaitable[int]]) -> int:
        async with self._in_use:
            connection, idle = self._live(), self._is_idle()
            try:
                return await load(await raw_async(connection))
            except BaseException:
                if idle:
                    with suppress(ConnectionLost, psycopg.Error):
                        await self.rollback()
                raise

    def _client_id(self) -> str | None:
        return None if self._owner is None else self._owner.client_id

    # -- transaction ----------------------------------------------------------------------------------------------

    def _own(self) -> AsyncPgConnection:
        connection = self._live()
        if self._loans is None or not isinstance(connection, psycopg.AsyncConnection):
            raise IllegalState("the transaction belongs to the caller's connection", "Commit or roll back there.")
        return connection

    def _is_idle(self) -> bool:
        """Whether this session owns its transaction and none is open."""
        connection = self._connection
        if self._loans is None or not self._transacted or not isinstance(connection, psycopg.AsyncConnection):
            return False
        return connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE

    async def _end(self, how: Callable[[AsyncPgConnection], Awaitable[None]]) -> None:
        async with self._in_use:
            connection = self._own()
            if not self._transacted:
                raise IllegalState("a session that is not transacted has no transaction to end")
            committed = False
            try:
                with lost_translated():
                    await how(connection)
                committed = how is commit_whole_async
            finally:
                self.committed = committed if self.committed is None else self.committed

    async def commit(self) -> None:
        """Make permanent what was sent, received and written since the last commit.

        Raises TransactionRolledBack if a statement had failed, whoever caught its error: all is undone then.
        """
        with self._unsettled.settling("commit", connection=self._connection):
            await self._end(commit_whole_async)

    async def rollback(self) -> None:
        """Undo what was sent, received and written since the last commit. Messages return to their place."""
        with self._unsettled.settling("rollback", connection=self._connection):
            await self._end(psycopg.AsyncConnection.rollback)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Self]:
        """Commit at the end of the block, or roll back if it raises."""
        if not self._transacted:
            raise IllegalState("a session that is not transacted has no transactions")
        self._own()
        try:
            yield self
        except BaseException:
            # Callers must see the block's own error.
            with suppress(ConnectionLost, IllegalState, psycopg.Error):
                await self.rollback()
            raise
        await self.commit()

    # -- its life -------------------------------------------------------------------------------------------------

    async def renew(self, timeout: float | None = None) -> None:
        """Replace a broken connection. The server rolls back what was open on it.

        Raises CannotConnect if there is none within ``timeout`` seconds.
        """
        async with self._in_use:
            connection = self._own()
            if self._loans is not None and connection.closed:
                self.committed = False if self.committed is None else self.committed
                await self._loans.give_back(connection)
                self._connection = await self._loans.borrow(autocommit=not self._transacted, timeout=timeout)

    async def close(self) -> None:
        """Roll back, give the connection back and end waiting ``receive`` calls with []. A second call does nothing.

        Listeners finish the message they have in hand; one that closes its own session closes it after that.
        """
        if self._dispatcher is None or await self._dispatcher.end():
            await self.finish()

    async def finish(self) -> None:
        """The end of ``close``, once no listener runs any more."""
        self._closing = True  # set before waiting for a running call, so that none follows it
        self._wake.set()
        # A cancelled task must return its connection.
        await asyncio.shield(self._return())  # async
        # sync: self._return()

    async def _return(self) -> None:
        """End what ends with the session, and give the connection back, once no call is under way."""
        async with self._in_use:
            connection, self._connection = self._connection, None
        loans, owner = self._loans, self._owner
        if loans is None or owner is None or not isinstance(connection, psycopg.AsyncConnection):
            return
        owner.forget(self)
        # Maintenance ends what cannot be ended now, a minute after its last receive.
        with suppress(HowdahError, psycopg.Error):
            await connection.rollback()
            for name in self._fleeting:
                await run_async(connection, topics.unsubscribe(name))
                if self._transacted:
                    await connection.commit()
            if self._temporary:
                await run_async(connection, temporary.close())
                if self._transacted:
                    await connection.commit()
        await loans.give_back(connection)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()
