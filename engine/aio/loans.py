"""A pool's connections, lent to sessions and given back as they were found."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

import psycopg
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout, TooManyRequests

from ..database.reconnection import Reconnection, is_gone
from ..errors import CannotConnect, ConnectionLost, IllegalState
from .tasks import sleep

AsyncPgConnection = psycopg.AsyncConnection[Any]


class AsyncLoans:
    """Lends connections of a pool, Howdah's own or the application's."""

    def __init__(self, pool: AsyncConnectionPool[AsyncPgConnection], reconnection: Reconnection | None = None) -> None:
        """reconnection: how to go on when connections are lost. None: the borrower sees the error."""
        self.pool = pool
        self.reconnection = reconnection
        #: The lent connections, and the autocommit of each: an application's pool may have either.
        self._lent: dict[AsyncPgConnection, bool] = {}
        self._lock = threading.Lock()

    async def borrow(self, *, autocommit: bool, timeout: float | None = None) -> AsyncPgConnection:
        """A connection, waited for up to ``timeout`` seconds (None: the pool's).

        Raises CannotConnect if none came free, ConnectionLost if a broken one did, IllegalState if the pool is closed.
        With a ``reconnection``, a broken one is replaced, and each error costs one attempt.
        """
        if self.reconnection is None:
            return await self._borrow(autocommit=autocommit, timeout=timeout)
        pauses = self.reconnection.pauses()
        while True:
            try:
                connection = await self._borrow(autocommit=autocommit, timeout=timeout)
            except (CannotConnect, ConnectionLost):
                pause = next(pauses, None)
                if pause is None:
                    raise
                await sleep(pause)
                continue
            if not is_gone(connection):
                return connection
            await connection.close()
            await self.give_back(connection)

    async def _borrow(self, *, autocommit: bool, timeout: float | None) -> AsyncPgConnection:
        try:
            connection = await self.pool.getconn(timeout)
        except PoolClosed as error:
            raise IllegalState(f"the pool is closed: {error}") from error
        except (PoolTimeout, TooManyRequests) as error:
            # The pool does not tell a borrower that came while it was being closed, until its time is up.
            if self.pool.closed:
                raise IllegalState("the pool is closed") from error
            raise CannotConnect(
                f"no database connection came free: {error}", "Check the DSN, or raise max_size."
            ) from error
        with self._lock:
            self._lent[connection] = connection.autocommit
        try:
            if connection.autocommit != autocommit:
                await connection.set_autocommit(autocommit)
        except psycopg.Error as error:
            await self.give_back(connection)
            raise ConnectionLost(str(error).strip()) from error
        return connection

    async def give_back(self, connection: AsyncPgConnection) -> None:
        """Roll back what is open and return the connection; a second call does nothing."""
        with self._lock:
            autocommit = self._lent.pop(connection, None)
        if autocommit is None:
            return
        try:
            if not connection.closed:
                await connection.rollback()
                if connection.autocommit != autocommit:
                    await connection.set_autocommit(autocommit)
        except psycopg.Error:
            await connection.close()
        lost = connection.closed
        await self.pool.putconn(connection)
        if lost:
            # Whatever ended this one (a restart, a failover) has probably ended the idle ones too.
            with suppress(psycopg.Error):
                await self.pool.check()
