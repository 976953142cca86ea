# Written by tools/make_sync.py from engine/aio/loans.py: change that, and run make sync.
"""A pool's connections, lent to sessions and given back as they were found."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout, TooManyRequests

from ..errors import CannotConnect, ConnectionLost, IllegalState
from .reconnection import Reconnection, is_gone
from .threads import sleep

PgConnection = psycopg.Connection[Any]


class Loans:
    """Lends connections of a pool, Howdah's own or the application's."""

    def __init__(self, pool: ConnectionPool[PgConnection], reconnection: Reconnection | None = None) -> None:
        """reconnection: how to go on when connections are lost. None: the borrower sees the error."""
        self.pool = pool
        self.reconnection = reconnection
        #: The lent connections, and the autocommit of each: an application's pool may have either.
        self._lent: dict[PgConnection, bool] = {}
        self._lock = threading.Lock()

    def borrow(self, *, autocommit: bool, timeout: float | None = None) -> PgConnection:
        """A connection, waited for up to ``timeout`` seconds (None: the pool's).

        Raises CannotConnect if none came free, ConnectionLost if a broken one did, IllegalState if the pool is closed.
        With a ``reconnection``, a broken one is replaced, and each error costs one attempt.
        """
        if self.reconnection is None:
            return self._borrow(autocommit=autocommit, timeout=timeout)
        pauses = self.reconnection.pauses()
        while True:
            try:
                connection = self._borrow(autocommit=autocommit, timeout=timeout)
            except (CannotConnect, ConnectionLost):
                pause = next(pauses, None)
                if pause is None:
                    raise
                sleep(pause)
                continue
            if not is_gone(connection):
                return connection
            connection.close()
            self.give_back(connection)

    def _borrow(self, *, autocommit: bool, timeout: float | None) -> PgConnection:
        try:
            connection = self.pool.getconn(timeout)
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
                connection.set_autocommit(autocommit)
        except psycopg.Error as error:
            self.give_back(connection)
            raise ConnectionLost(str(error).strip()) from error
        return connection

    def give_back(self, connection: PgConnection) -> None:
        """Roll back what is open and return the connection; a second call does nothing."""
        with self._lock:
            autocommit = self._lent.pop(connection, None)
        if autocommit is None:
            return
        try:
            if not connection.closed:
                connection.rollback()
                if connection.autocommit != autocommit:
                    connection.set_autocommit(autocommit)
        except psycopg.Error:
            connection.close()
        lost = connection.closed
        self.pool.putconn(connection)
        if lost:
            # Whatever ended this one (a restart, a failover) has probably ended the idle ones too.
            with suppress(psycopg.Error):
                self.pool.check()
