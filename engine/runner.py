"""Runs calls on a connection that somebody else owns: psycopg's or SQLAlchemy's, sync or async.

Transactions are the owner's: nothing here begins, commits or rolls back, so that a business row and a message commit
together.
"""

from __future__ import annotations

from typing import Any, TypeVar

import psycopg
import sqlalchemy
from sqlalchemy import orm

from .calls import Call
from .errors import IllegalState, translated

T = TypeVar("T")

SyncConnection = psycopg.Connection[Any] | sqlalchemy.Connection | orm.Session


def driver(connection: SyncConnection) -> psycopg.Connection[Any]:
    """The psycopg connection beneath, with SQLAlchemy's transaction begun if it had not been.

    Raises IllegalState if SQLAlchemy uses another driver than psycopg 3.
    """
    if isinstance(connection, psycopg.Connection):
        return connection
    if isinstance(connection, orm.Session):
        connection.flush()
        connection = connection.connection()
    if not connection.in_transaction():
        connection.begin()
    raw = connection.connection.driver_connection
    if not isinstance(raw, psycopg.Connection):
        raise IllegalState(
            f"Howdah speaks through psycopg 3, not {type(raw).__module__}",
            "Use an engine made from postgresql+psycopg://…",
        )
    return raw


def run(connection: SyncConnection, call: Call[T]) -> T:
    """Run a call in the connection's transaction and return its result.

    Raises HowdahError by SQLSTATE; other database errors pass as the driver raised them.
    """
    with translated(), driver(connection).cursor(row_factory=psycopg.rows.tuple_row) as cursor:
        cursor.execute(call.sql, call.arguments)
        return call.decode(cursor.fetchall())


async def run_async(connection: psycopg.AsyncConnection[Any], call: Call[T]) -> T:
    """As run, on an asyncio connection."""
    with translated():
        async with connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
            await cursor.execute(call.sql, call.arguments)
            return call.decode(await cursor.fetchall())
