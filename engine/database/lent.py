"""A pool's connection that waits for notifications while it is lent."""

from __future__ import annotations

from contextlib import suppress

import psycopg

from ..errors import HowdahError
from .loans import Loans, PgConnection
from .waking import Waking


class LentWaking(Waking):
    """Listens for one session alone, on a connection of its pool. Others do not share it."""

    def __init__(self, loans: Loans) -> None:
        """Borrow the connection. Raises CannotConnect if none came free."""
        super().__init__("")
        self._users = 1
        self._loans = loans
        self._lent = loans.borrow(autocommit=True)

    @property
    def connection(self) -> PgConnection:
        """The connection that waits."""
        return self._lent

    def give_back(self) -> None:
        """Listen no more, and give the connection back."""
        thread = self._thread
        self.release()
        if thread is not None:
            thread.join()
        with suppress(psycopg.Error):
            self._lent.execute("unlisten *")
        self._loans.give_back(self._lent)

    def _connect(self) -> PgConnection:
        """Return the lent connection, or another once it is lost. A block's end closes no connection of a pool."""
        if self._lent.closed:
            self._loans.give_back(self._lent)
            try:
                self._lent = self._loans.borrow(autocommit=True)
            except HowdahError as error:
                raise psycopg.OperationalError(str(error)) from error
        return self._lent
