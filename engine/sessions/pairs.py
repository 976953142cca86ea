"""Sessions of the dedicated model: each has two database connections. One waits, one holds the transaction."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..database.lent import LentWaking
from ..database.loans import Loans
from ..database.waiting import Asks
from ..errors import BadArgument, CannotConnect
from .session import Session


class Pairs:
    """A pool's connections in pairs: half as many sessions as connections. A further session waits for a pair."""

    def __init__(self, loans: Loans) -> None:
        self._loans = loans
        self._most = loans.pool.max_size // 2
        # Two halves of different pairs could wait for each other.
        self._free = threading.BoundedSemaphore(self._most)
        self._waking: dict[Session, LentWaking] = {}

    def open(self, make: Callable[[], Session]) -> Session:
        """A session on a pair; ``make`` gives it the one for its transaction.

        Raises CannotConnect if none came free, BadArgument for a pool that has no two connections.
        """
        if self._most == 0:
            raise BadArgument(
                "a service of the dedicated model needs two connections for a session",
                "Raise max_size, or have an administrator set the service's model to shared.",
            )
        timeout = self._loans.pool.timeout
        if not self._free.acquire(timeout=timeout):
            raise CannotConnect(
                f"no pair of database connections came free within {timeout:g} s",
                "Close a session, or raise max_size: each session takes two connections.",
            )
        try:
            waking = LentWaking(self._loans)
            try:
                session = make()
            except BaseException:
                waking.give_back()
                raise
        except BaseException:
            self._free.release()
            raise
        session.share(waking, Asks())
        self._waking[session] = waking
        return session

    def leave(self, session: object) -> None:
        """Give the waiting connection of a closed session back."""
        waking = self._waking.pop(session, None) if isinstance(session, Session) else None
        if waking is not None:
            waking.give_back()
            self._free.release()
