"""The calls of transactions over several databases: the log of decisions, and branches that are prepared."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

import psycopg

from .call import Call, Row, scalar

GID = re.compile(r"howdah:xa:[0-9a-f-]{36}:[0-9a-f-]{36}:\d{1,3}")
"""How a branch is named: its transaction, a colon and its number."""


@dataclass(frozen=True)
class Logged:
    """A transaction in the log."""

    transaction_id: str
    outcome: str | None
    age: timedelta
    mine: bool


@dataclass(frozen=True)
class Prepared:
    """A branch that is prepared in a database."""

    gid: str
    age: timedelta

    @property
    def transaction_id(self) -> str:
        """The transaction that it is a branch of."""
        return self.gid.rpartition(":")[0]


def begin(factory: str) -> Call[str]:
    """Begin a transaction; its name."""
    return scalar("xa_begin", factory=("text", factory)).then(str)


def decide(transaction_id: str, outcome: str) -> Call[str]:
    """Decide; the result is the outcome that stands."""
    return scalar("xa_decide", transaction_id=("text", transaction_id), outcome=("text", outcome)).then(str)


def forget(transaction_id: str) -> Call[bool]:
    """Take it out of the log, after all its branches have ended."""
    return scalar("xa_forget", transaction_id=("text", transaction_id)).then(bool)


def logged(factory: str) -> Call[list[Logged]]:
    """Return the transactions that the log has of a factory."""
    return Call(
        "select transaction_id, outcome, age, mine from howdah.list_xa_transactions(%s::text)",
        (factory,),
        lambda rows: [Logged(*row) for row in rows],
    )


def prepared() -> Call[list[Prepared]]:
    """The branches that are prepared in a database."""
    return Call(
        "select gid, pg_catalog.clock_timestamp() - prepared from pg_catalog.pg_prepared_xacts"
        " where database = pg_catalog.current_database() and gid like %s",
        ("howdah:xa:%",),
        _named,
    )


def _named(rows: list[Row]) -> list[Prepared]:
    return [Prepared(gid, age) for gid, age in rows if GID.fullmatch(gid)]


def end(gid: str, outcome: str) -> Call[None]:
    """End a prepared branch, in a connection in autocommit. One that has ended already is ended."""
    if GID.fullmatch(gid) is None or outcome not in ("commit", "rollback"):
        raise ValueError(f"no branch of a transaction: {gid}")

    def run(cursor: psycopg.Cursor[Any] | psycopg.AsyncCursor[Any]) -> None:
        with suppress(psycopg.errors.UndefinedObject):
            cast("psycopg.Cursor[Any]", cursor).execute(f"{outcome} prepared '{gid}'".encode())

    # The statement returns no rows, which a call must.
    return Call("select true", (), lambda rows: None, run)
