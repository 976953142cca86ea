# Written by tools/make_sync.py from engine/aio/admin/transactions.py: change that, and run make sync.
"""Prepared (two-phase) transactions of Howdah, and how an administrator ends them."""

from __future__ import annotations

from typing import Any, cast

import psycopg

from ..calls import AnyCursor, Call, Rows, table
from ..calls.columns import TRANSACTION_COLUMNS
from ..calls.verbs import Verbs
from ..errors import BadArgument


class Transactions(Verbs):
    """Verbs over a connection in autocommit. PostgreSQL ends prepared transactions only there."""

    def list(self) -> Rows:
        """List this database's prepared transactions with a gid howdah:… or with locks on Howdah's tables."""
        return self._run(table("list_transactions", TRANSACTION_COLUMNS))

    def commit(self, gid: str) -> None:
        """Commit one, as its owner or a superuser. Raises BadArgument if it is not there."""
        self._end("commit_with", gid)

    def rollback(self, gid: str) -> None:
        """Roll one back, likewise."""
        self._end("rollback_with", gid)

    def roll_back_old(self) -> Rows:
        """Roll back what was prepared before the server's start, if the engine's autorollback is on. Returns it."""
        old = [row for row in self.list() if row["rolls_back"]]
        for row in old:
            self._end("rollback_with", row["gid"])
        return old

    def _end(self, how: str, gid: str) -> None:
        statements = [row[how] for row in self.list() if row["gid"] == gid]
        if not statements:
            raise BadArgument(f"there is no prepared transaction {gid!r}", "See list().")

        def end(cursor: AnyCursor) -> None:
            cast("psycopg.Cursor[Any]", cursor).execute(statements[0])

        # The statement returns no rows, which a call must.
        self._run(Call("select true", (), lambda rows: None, end))
