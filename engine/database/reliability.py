"""Database connections whose transactions commit by reliability: they say so in the same round trip as BEGIN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import psycopg
from psycopg import generators
from psycopg.abc import PQGen
from psycopg.pq import ExecStatus, Format
from psycopg.pq.abc import PGresult

if TYPE_CHECKING:  # from psycopg 3.3 on
    from psycopg.abc import QueryNoTemplate

SET = b"set local howdah.commit_by_reliability = on"


class Begins(psycopg.BaseConnection[Any]):
    """Says it with each BEGIN of the driver, never for the session: a pooler would hand that to a stranger."""

    commits_by_reliability = False
    _FINE: ClassVar = (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK)

    def _exec_command(self, command: QueryNoTemplate, result_format: Format = Format.TEXT) -> PQGen[PGresult | None]:
        if not self.commits_by_reliability or command != self._get_tx_start_command():
            return (yield from super()._exec_command(command, result_format))
        if self._pipeline:
            yield from super()._exec_command(command, result_format)
            return (yield from super()._exec_command(SET, result_format))
        # Two statements, which the driver's own method refuses.
        self._check_connection_ok()
        self.pgconn.send_query(self._get_tx_start_command() + b"; " + SET)
        results = yield from generators.execute(self.pgconn)
        for result in results:
            if result.status not in self._FINE:
                raise psycopg.errors.error_from_result(result, encoding=self.info.encoding)
        first: PGresult = results[0]
        return first


class ReliabilityConnection(Begins, psycopg.Connection[Any]):
    """A connection of a pool of ``connect(commit_by_reliability=True)``."""

    commits_by_reliability = True


class AsyncReliabilityConnection(Begins, psycopg.AsyncConnection[Any]):
    """The same for asyncio."""

    commits_by_reliability = True


def says_so(connection: object) -> bool:
    """Whether the connection's transactions commit by reliability."""
    return isinstance(connection, Begins) and connection.commits_by_reliability
