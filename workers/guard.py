"""The connection that handlers get: statements on it cannot commit the worker's transaction behind its back.

A handler's own COMMIT would consume the rest of its batch unhandled, so it is refused before it is sent. A rollback is
harmless and allowed; the worker learns of it, so that what follows is not committed as if nothing had happened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, cast

import psycopg
from psycopg import generators, sql
from psycopg.abc import Params, PQGen, Query
from psycopg.pq import Format, TransactionStatus
from psycopg.pq.abc import PGresult
from psycopg.transaction import OutOfOrderTransactionNesting

from ..engine.database.reliability import Begins
from ..engine.errors import IllegalState
from .home import Home

if TYPE_CHECKING:  # from psycopg 3.3 on
    from psycopg.abc import QueryNoTemplate

_ENDS = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/|;)*(?:(?P<commit>commit|end|prepare\s+transaction)"
    r"|(?:rollback|abort)(?!\s+(?:work\s+|transaction\s+)?to\b))\b",
    re.IGNORECASE | re.DOTALL,
)
#: Text in which a semicolon does not separate statements.
_QUOTED = re.compile(r"""\$(\w*)\$.*?\$\1\$|'[^']*'|"[^"]*"|--[^\n]*|/\*.*?\*/""", re.DOTALL)


class GuardedCursor(psycopg.Cursor[Any]):
    """Refuses COMMIT, notices ROLLBACK, and remembers the last error of a statement."""

    def execute(
        self, query: Query, params: Params | None = None, *, prepare: bool | None = None, binary: bool | None = None
    ) -> Self:
        """As psycopg's. Raises IllegalState for a statement that would commit the worker's transaction."""
        connection = self.connection
        assert isinstance(connection, HandlerConnection)
        rolled_back = _rolls_back(query, params, connection)
        try:
            super().execute(cast(Any, query), params, prepare=prepare, binary=binary)
        except psycopg.Error as error:
            if not isinstance(
                error, psycopg.errors.InFailedSqlTransaction
            ):  # it only repeats that an earlier statement failed
                connection.last_error = error
            raise
        connection.rolled_back = connection.rolled_back or rolled_back
        return self


class HandlerConnection(Begins, psycopg.Connection[Any]):
    """A connection whose transaction is the worker's."""

    #: Whether the handler rolled the transaction back.
    rolled_back = False
    #: The error of the last statement that failed.
    last_error: psycopg.Error | None = None
    #: The instance that its worker belongs to.
    home: Home | None = None
    #: What cancels an async handler, while one runs; called from any thread.
    interrupt: Callable[[], object] | None = None

    @classmethod
    def open(
        cls, dsn: str, name: str, *, commit_by_reliability: bool = False, home: Home | None = None
    ) -> HandlerConnection:
        """Connect. The server is told to check for a vanished client: a killed worker's message waits for that."""
        connection = cls.connect(dsn, application_name=name[-63:], cursor_factory=GuardedCursor)
        try:
            with connection.transaction():
                connection.execute("select set_config('client_connection_check_interval', '1s', false)")
        except psycopg.DataError:  # the server's system cannot check
            pass
        connection.commits_by_reliability = commit_by_reliability
        connection.home = home
        return connection

    @property
    def fence(self) -> bytes | None:
        """The statement that goes with each COMMIT, if there is one."""
        return None if self.home is None else self.home.fence

    def _exec_command(self, command: QueryNoTemplate, result_format: Format = Format.TEXT) -> PQGen[PGresult | None]:
        """As psycopg's. A COMMIT goes with the fence in one message: a process that is paused sends both or none."""
        if command != b"COMMIT" or self.fence is None:
            return (yield from super()._exec_command(command, result_format))
        if self._pipeline:
            yield from super()._exec_command(self.fence, result_format)
            return (yield from super()._exec_command(command, result_format))
        self._check_connection_ok()
        self.pgconn.send_query(self.fence + b"; COMMIT")
        results = yield from generators.execute(self.pgconn)
        for result in results:
            if result.status not in self._FINE:
                error = psycopg.errors.error_from_result(result, encoding=self.info.encoding)
                if self.pgconn.transaction_status == TransactionStatus.INERROR:
                    yield from super()._exec_command(b"ROLLBACK")
                raise error
        last: PGresult = results[-1]
        return last

    @property
    def depth(self) -> int:
        """How many nested ``transaction()`` blocks of the driver are open."""
        return self._num_transactions

    @property
    def is_over(self) -> bool:
        """Whether the transaction is gone, and not only a statement of it failed."""
        return self.rolled_back or self.info.transaction_status in (TransactionStatus.IDLE, TransactionStatus.UNKNOWN)

    @contextmanager
    def block(self) -> Iterator[None]:
        """Begin a block of the worker's own, which handlers are called in. Raises what is raised inside.

        If a handler has left a block of its own open, the driver ends neither. Then the connection is closed: the
        server rolls back, and nothing that is done next becomes part of this transaction.
        """
        failed: BaseException | None = None
        try:
            with self.transaction():
                try:
                    yield
                except BaseException as error:
                    failed = error
                    raise
        except OutOfOrderTransactionNesting:
            self.close()
            if failed is None:
                raise
            if not isinstance(failed, psycopg.Rollback):
                raise failed  # noqa: B904 - this has its own cause

    def rollback(self) -> None:
        """Roll back the worker's transaction. A handler may do so; its message then counts as failed."""
        self.execute("rollback")

    def watch(self) -> None:
        """Forget what earlier transactions did."""
        self.rolled_back, self.last_error = False, None


def _rolls_back(query: Query, params: Params | None, connection: psycopg.Connection[Any]) -> bool:
    """Whether the statement is a ROLLBACK. Raises IllegalState if it commits, or hides either among others."""
    if isinstance(query, sql.Composable):
        query = query.as_bytes(connection)
    text = query.decode("latin-1") if isinstance(query, bytes) else str(query)
    ends = _ENDS.match(text)
    several = ";" in text.rstrip("; \n") and params is None  # with parameters there can be one statement only
    if several and ends is None:
        ends = next(filter(None, map(_ENDS.match, _QUOTED.sub("''", text).split(";"))), None)
    if ends is None:
        return False
    if not several and ends["commit"] is None:
        return True
    raise IllegalState(
        "a handler cannot end its worker's transaction", "Return to commit it, raise or set_rollback_only() otherwise."
    )
