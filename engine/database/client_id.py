"""A client id that a connection has claimed: nobody else claims it while the connection lives."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import psycopg

from ..calls import scalar
from ..errors import cannot_connect
from .loans import PgConnection
from .reconnection import is_readable
from .runner import run


class ClaimedClientId:
    """A claim by a database connection of its own, which does nothing else. It claims the id again after a loss."""

    def __init__(self, client_id: str, connect: Callable[[], PgConnection]) -> None:
        """connect: makes the database connection, in autocommit. Raises BadName, ClientIdInUse, CannotConnect."""
        self.name = client_id
        self._connect = connect
        self._lock = threading.Lock()
        self._closed = False
        self._held = self._claim()

    def check(self) -> None:
        """Claim it anew if the server has ended the connection that held it. Raises as the first time."""
        with self._lock:
            if not self._closed and self._is_lost():
                self._held.close()
                self._held = self._claim()

    async def check_async(self) -> None:
        """As ``check``, but it waits in a thread. It costs no thread while nothing tells of a loss."""
        if self._may_be_lost():
            await asyncio.to_thread(self.check)

    def lent(self) -> LentClientId:
        """Return it for a connection that works under it too, and may not give it back."""
        return LentClientId(self)

    def release(self) -> None:
        """Give it back."""
        with self._lock:
            self._closed = True
            self._held.close()

    def _may_be_lost(self) -> bool:
        # An idle connection has something to read only once the server has closed it or is gone.
        return bool(self._held.closed) or is_readable(self._held)

    def _is_lost(self) -> bool:
        if self._may_be_lost():
            try:
                self._held.execute("select")
            except psycopg.Error:
                return True
        return False

    def _claim(self) -> PgConnection:
        try:
            connection = self._connect()
        except psycopg.Error as error:
            raise cannot_connect(error) from error
        try:
            run(connection, scalar("claim_client_id", client_id=("text", self.name)))
        except BaseException:
            connection.close()
            raise
        return connection


class LentClientId:
    """A claim that somebody else keeps."""

    def __init__(self, claim: ClaimedClientId) -> None:
        self.name = claim.name
        self.check = claim.check

    def release(self) -> None:
        """Leave it with whom it belongs to."""
