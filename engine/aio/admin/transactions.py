"""Prepared (two-phase) transactions of Howdah, and how an administrator ends them."""

from __future__ import annotations

from typing import Any, cast

import psycopg

from ...calls import AnyCursor, Call, Rows, table
from ...calls.columns import TRANSACTION_COLUMNS
from ...errors import BadArgument
from ..verbs import AsyncVerbs


class AsyncTransactions(AsyncVerbs):
    """Verbs over a connection in autocommit. PostgreSQL ends prepared transactions only there."""

    async def list(self) -> Rows:
        """List this database's prepared transactions with a gid howdah:… or with locks on Howdah's tables."""
        return await self._run(table("list_transactions", TRANSACTION_COLUMNS))

    async def commit(self, gid: str) -> None:
        """Commit one, as its owner or a superuser. Raises BadArgument if it is not there."""
        await self._end("commit_with", gid)

    async def rollback(self, gid: str) -> None:
        """Roll one back, likewise."""
        await self._end("rollback_with", gid)

    async def roll_back_old(self) -> Rows:
        """Roll back what was prepared before the server's start, if the engine's autorollback is on. Returns it."""
        old = [row for row in await self.list() if row["rolls_back"]]
        for row in old:
            await self._end("rollback_with", row["gid"])
        return old

    async def _end(self, how: str, gid: str) -> None:
        statements = [row[how] for row in await self.list() if row["gid"] == gid]
        if not statements:
            raise BadArgument(f"there is no prepared transaction {gid!r}", "See list().")

        async def end(cursor: AnyCursor) -> None:
            await cast("psycopg.AsyncCursor[Any]", cursor).execute(statements[0])

        # The statement returns no rows, which a call must.
        await self._run(Call("select true", (), lambda rows: None, end))
