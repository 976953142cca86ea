# Written by tools/make_sync.py from engine/aio/transacting.py: change that, and run make sync.
"""The connection, transaction and life of a session, beneath its verbs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Self, TypeVar

import psycopg

from ..calls import Call, temporary, topics
from ..calls.levels import BY_SERVER, LevelMapping
from ..calls.message import Message
from ..database.loans import Loans, PgConnection
from ..database.reconnection import is_gone
from ..database.runner import AnyConnection, commit_whole, raw, run
from ..database.threads import Lock
from ..database.waiter import Waiter
from ..errors import ConnectionLost, HowdahError, IllegalState, NoReply, lost_translated
from ..tracing.points import Unsettled, receiving
from .dispatch import Dispatcher
from .owner import SessionOwner

T = TypeVar("T")


class Transacting(Waiter):
    """One connection, the session's or its caller's, with one transaction at a time."""

    def __init__(self, connection: AnyConnection, owner: SessionOwner | None = None) -> None:
        """owner: the connection of Howdah's that it belongs to."""
        super().__init__()
        self._connection: AnyConnection | None = connection
        self._owner = owner
        self._loans: Loans | None = None
        self._transacted = True
        self._own_levels = BY_SERVER
        self._dispatcher: Dispatcher[object] | None = None
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
        self._in_use = Lock()

    @classmethod
    def owning(cls, owner: SessionOwner, loans: Loans, *, transacted: bool) -> Self:
        """A session that commits and rolls back itself and gives its connection back when it is closed.

        Not transacted: every call commits at once, so a received message is gone before ``receive`` returns.
        """
        session = cls(loans.borrow(autocommit=not transacted), owner)
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

    def _live(self) -> AnyConnection:
        if self._connection is None or self._closing:
            raise IllegalState("the session is closed")
        dispatcher = self._dispatcher
        if dispatcher is not None and dispatcher.is_alive() and not dispatcher.is_current():
            raise IllegalState("a session with listeners belongs to their thread", "Make another session.")
        return self._connection

    def call(self, call: Call[T]) -> T:
        """Run any call in this session's transaction. If the first call fails, it leaves no broken transaction."""
        with self._in_use:
            fresh = self._reached()
            connection = self._live()
            idle = self._is_idle()
            try:
                return run(connection, call)
            except ConnectionLost:
                if not self._regained() or not (fresh and self._transacted):
                    raise
                return run(self._live(), call)  # only this call was lost, and it had not committed
            except BaseException:
                if idle:
                    with suppress(ConnectionLost, psycopg.Error):
                        self.rollback()
                raise

    def _received(self, queue: str, call: Call[list[Message]]) -> list[Message]:
        """Run a call that receives from a queue."""
        with receiving(queue, connection=self._connection) as found:
            messages = found(self.call(call))
        if self._transacted and self._loans is not None:
            self._unsettled.note(queue, messages)
        return messages

    def _reached(self) -> bool:
        """Replace a connection that is gone and had no transaction, where the client reconnects.

        Returns whether no transaction is open.
        """
        connection = self._connection
        if self._loans is None or self._loans.reconnection is None or self._closing:
            return False
        if not isinstance(connection, psycopg.Connection):
            return False
        if not connection.closed and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            return False
        if is_gone(connection):
            connection.close()
            self.renew()
        return True

    def _regained(self) -> bool:
        """Get another connection in place of a lost one, where the client reconnects. Returns whether it does."""
        if self._loans is None or self._loans.reconnection is None or self._closing:
            return False
        self.renew()
        return True

    def _within(self, seconds: float, call: Call[T]) -> T:
        """Run a call that may take up to ``seconds``. Raises NoReply."""
        with self._in_use:
            self._reached()
            connection = raw(self._live())
            try:
                with connection.transaction():
                    cursor = connection.execute(
                        "select current_setting('statement_timeout'), set_config('statement_timeout', %s, true)",
                        (f"{max(1, round(seconds * 1000))}ms",),
                    )
                    before = ((cursor.fetchone()) or ("0",))[0]
                    result = run(connection, call)
                    connection.execute("select set_config('statement_timeout', %s, true)", (before,))
            except psycopg.errors.QueryCanceled as error:
                raise NoReply(f"no answer within {seconds:g} seconds") from error
            return result

    def _load(self, load: Callable[[psycopg.Connection[Any]], int]) -> int:
        with self._in_use:
            connection, idle = self._live(), self._is_idle()
            try:
                return load(raw(connection))
            except BaseException:
                if idle:
                    with suppress(ConnectionLost, psycopg.Error):
                        self.rollback()
                raise

    def _client_id(self) -> str | None:
        return None if self._owner is None else self._owner.client_id

    # -- transaction ----------------------------------------------------------------------------------------------

    def _own(self) -> PgConnection:
        connection = self._live()
        if self._loans is None or not isinstance(connection, psycopg.Connection):
            raise IllegalState("the transaction belongs to the caller's connection", "Commit or roll back there.")
        return connection

    def _is_idle(self) -> bool:
        """Whether this session owns its transaction and none is open."""
        connection = self._connection
        if self._loans is None or not self._transacted or not isinstance(connection, psycopg.Connection):
            return False
        return connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE

    def _end(self, how: Callable[[PgConnection], None]) -> None:
        with self._in_use:
            connection = self._own()
            if not self._transacted:
                raise IllegalState("a session that is not transacted has no transaction to end")
            committed = False
            try:
                with lost_translated():
                    how(connection)
                committed = how is commit_whole
            finally:
                self.committed = committed if self.committed is None else self.committed

    def commit(self) -> None:
        """Make permanent what was sent, received and written since the last commit.

        Raises TransactionRolledBack if a statement had failed, whoever caught its error: all is undone then.
        """
        with self._unsettled.settling("commit", connection=self._connection):
            self._end(commit_whole)

    def rollback(self) -> None:
        """Undo what was sent, received and written since the last commit. Messages return to their place."""
        with self._unsettled.settling("rollback", connection=self._connection):
            self._end(psycopg.Connection.rollback)

    @contextmanager
    def transaction(self) -> Iterator[Self]:
        """Commit at the end of the block, or roll back if it raises."""
        if not self._transacted:
            raise IllegalState("a session that is not transacted has no transactions")
        self._own()
        try:
            yield self
        except BaseException:
            # Callers must see the block's own error.
            with suppress(ConnectionLost, IllegalState, psycopg.Error):
                self.rollback()
            raise
        self.commit()

    # -- its life -------------------------------------------------------------------------------------------------

    def renew(self, timeout: float | None = None) -> None:
        """Replace a broken connection. The server rolls back what was open on it.

        Raises CannotConnect if there is none within ``timeout`` seconds.
        """
        with self._in_use:
            connection = self._own()
            if self._loans is not None and connection.closed:
                self.committed = False if self.committed is None else self.committed
                self._loans.give_back(connection)
                self._connection = self._loans.borrow(autocommit=not self._transacted, timeout=timeout)

    def close(self) -> None:
        """Roll back, give the connection back and end waiting ``receive`` calls with []. A second call does nothing.

        Listeners finish the message they have in hand; one that closes its own session closes it after that.
        """
        if self._dispatcher is None or self._dispatcher.end():
            self.finish()

    def finish(self) -> None:
        """The end of ``close``, once no listener runs any more."""
        self._closing = True  # set before waiting for a running call, so that none follows it
        self._wake.set()
        # A cancelled task must return its connection.
        self._return()

    def _return(self) -> None:
        """End what ends with the session, and give the connection back, once no call is under way."""
        with self._in_use:
            connection, self._connection = self._connection, None
        loans, owner = self._loans, self._owner
        if loans is None or owner is None or not isinstance(connection, psycopg.Connection):
            return
        owner.forget(self)
        # Maintenance ends what cannot be ended now, a minute after its last receive.
        with suppress(HowdahError, psycopg.Error):
            connection.rollback()
            for name in self._fleeting:
                run(connection, topics.unsubscribe(name))
                if self._transacted:
                    connection.commit()
            if self._temporary:
                run(connection, temporary.close())
                if self._transacted:
                    connection.commit()
        loans.give_back(connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
