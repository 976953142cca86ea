"""The transaction in which a message is handled."""

from __future__ import annotations

from psycopg.pq import TransactionStatus

from ..engine import HowdahError, Session
from ..engine.errors import ConnectionLost
from .guard import HandlerConnection
from .home import levels_at

# A plain int: comparing the driver's enum after each handler is slow.
_OPEN = int(TransactionStatus.INTRANS)


class RollbackOnly(HowdahError):
    """The handler asked to roll back its transaction."""


class Transaction:
    """The open transaction of a received message. What a handler does here commits with the consumption."""

    def __init__(self, connection: HandlerConnection, worker: str) -> None:
        #: psycopg's connection, for the application's own statements. Commit is the worker's.
        self.connection = connection
        #: Howdah's verbs in the same transaction: a message sent here is sent if this one is consumed.
        self.session = Session(connection)
        self.session.decide(levels_at(getattr(connection, "home", None)))
        #: Name of the session that handles the message, unique among those alive.
        self.worker = worker
        self.rollback_only = False
        self._depth = getattr(connection, "depth", 0)

    def set_rollback_only(self) -> None:
        """Roll back when the handler returns, and count a failed delivery."""
        self.rollback_only = True

    def check(self) -> None:
        """Check that this can be committed after the handler returned. Raises RollbackOnly or ConnectionLost."""
        connection = self.connection
        if (
            connection.pgconn.transaction_status == _OPEN
            and not self.rollback_only
            and not connection.rolled_back
            and connection.depth == self._depth
        ):
            return
        if self.rollback_only:
            raise RollbackOnly("the handler set its transaction to roll back only")
        if connection.closed and connection.broken:
            raise ConnectionLost("the connection was lost while the handler ran")
        if connection.closed:
            raise RollbackOnly("the handler closed its worker's connection", "It is not the handler's to close.")
        if connection.is_over:
            raise RollbackOnly("the handler ended the transaction itself", "Leave commit and rollback to the worker.")
        if connection.info.transaction_status is TransactionStatus.INERROR:
            raise RollbackOnly(
                "a statement failed, and the handler returned as if it had not",
                "Wrap statements that may fail: with transaction.connection.transaction(): …",
            ) from connection.last_error
        if connection.depth > self._depth:
            raise RollbackOnly(
                "the handler left a block of transaction() open", "End it in the handler, as a with statement does."
            )
