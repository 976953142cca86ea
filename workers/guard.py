"""The connection that handlers get: statements on it cannot commit the worker's transaction behind its back.

A handler's own COMMIT would consume the rest of its batch unhandled, so it is refused before it is sent. A rollback does
no such harm and is allowed; the worker learns of it, so that what follows it is not committed as if nothing had been.
"""

from __future__ import annotations

import re
from typing import Any, Self, cast

import psycopg
from psycopg import sql
from psycopg.abc import Params, Query

from ..engine.errors import IllegalState

_BLANK = r"(?:\s|--[^\n]*\n|/\*.*?\*/|;)*"
_BEGINS = re.compile(
    _BLANK + r"(?:(?P<commit>commit|end|prepare\s+transaction)"
    r"|(?P<rollback>(?:rollback|abort)(?!\s+(?:work\s+|transaction\s+)?to\b)))\b",
    re.IGNORECASE | re.DOTALL,
)
#: As one of several statements, which only go together without parameters. END is left out: it ends blocks of code too.
_CONTAINS = re.compile(
    r";\s*(?:commit|rollback|abort)(?:\s+(?:work|transaction))?(?:\s+and\s+(?:no\s+)?chain)?\s*(?:;|$)", re.IGNORECASE
)


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
            ):  # which only repeats that one failed before
                connection.last_error = error
            raise
        connection.rolled_back = connection.rolled_back or rolled_back
        return self


class HandlerConnection(psycopg.Connection[Any]):
    """A connection whose transaction is the worker's."""

    #: Whether the handler rolled the transaction back.
    rolled_back = False
    #: The error of the last statement that failed.
    last_error: psycopg.Error | None = None

    @classmethod
    def open(cls, dsn: str, name: str) -> HandlerConnection:
        """Connect. The server is asked to look for a vanished client, for a killed worker's message waits for that."""
        connection = cls.connect(dsn, application_name=name[-63:], cursor_factory=GuardedCursor)
        try:
            with connection.transaction():
                connection.execute("select set_config('client_connection_check_interval', '1s', false)")
        except psycopg.DataError:  # a server on a system that cannot look
            pass
        return connection

    def rollback(self) -> None:
        """Roll the worker's transaction back: allowed in a handler, whose message then counts as failed."""
        self.execute("rollback")

    def watch(self) -> None:
        """Forget what earlier transactions did."""
        self.rolled_back, self.last_error = False, None


def _rolls_back(query: Query, params: Params | None, connection: psycopg.Connection[Any]) -> bool:
    """Whether the statement is a ROLLBACK. Raises IllegalState if it commits, or hides either behind other statements."""
    if isinstance(query, sql.Composable):
        query = query.as_bytes(connection)
    text = query.decode("latin-1") if isinstance(query, bytes) else str(query)
    found = _BEGINS.match(text)
    if found is None and (params is not None or _CONTAINS.search(text) is None):
        return False
    if found is not None and found["rollback"] and ";" not in text.rstrip("; \n"):
        return True
    raise IllegalState(
        "a handler cannot end its worker's transaction", "Return to commit it, raise or set_rollback_only() otherwise."
    )
