"""Runs calls on a connection that somebody else owns: psycopg's or SQLAlchemy's, sync or async.

Transactions are the owner's: nothing here begins, commits or rolls back. So a business row and a message commit
together. Only the connection beneath SQLAlchemy is used, once its transaction has begun.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import psycopg

from ..calls import Call
from ..errors import ConnectionLost, IllegalState, TransactionRolledBack, translated
from .reliability import says_so

T = TypeVar("T")

if TYPE_CHECKING:
    # At run time only where a caller brings such an object. The import is half of a worker's start, and asyncio's
    # part of it needs greenlet, which the bare install does not have.
    import sqlalchemy
    from sqlalchemy import orm
    from sqlalchemy.ext import asyncio as sqlalchemy_asyncio

    AnyConnection: TypeAlias = psycopg.Connection[Any] | sqlalchemy.Connection | orm.Session | orm.scoped_session[Any]
    AnyAsyncConnection: TypeAlias = (
        psycopg.AsyncConnection[Any] | sqlalchemy_asyncio.AsyncConnection | sqlalchemy_asyncio.AsyncSession
    )
else:
    AnyConnection = AnyAsyncConnection = Any


def run(connection: AnyConnection, call: Call[T]) -> T:
    """Run a call in the connection's transaction and return its result.

    Raises HowdahError by SQLSTATE; other database errors pass as the driver raised them.
    """
    if isinstance(connection, psycopg.Connection):
        return _execute(connection, call)
    connection = _flushed(connection)
    try:
        return _execute(driver(connection), call)
    except ConnectionLost as error:
        connection.invalidate(error)
        raise


def raw(connection: AnyConnection) -> psycopg.Connection[Any]:
    """The psycopg connection, with SQLAlchemy's transaction begun where there is one."""
    return connection if isinstance(connection, psycopg.Connection) else driver(_flushed(connection))


def _flushed(connection: sqlalchemy.Connection | orm.Session | orm.scoped_session[Any]) -> sqlalchemy.Connection:
    from sqlalchemy import Connection

    if isinstance(connection, Connection):
        return connection
    connection.flush()
    return connection.connection()


def driver(connection: sqlalchemy.Connection) -> psycopg.Connection[Any]:
    """The psycopg connection beneath, with SQLAlchemy's transaction begun if it had not been.

    Raises IllegalState if SQLAlchemy uses another driver than psycopg 3.
    """
    if not connection.in_transaction():
        connection.begin()
    raw = connection.connection.driver_connection
    if not isinstance(raw, psycopg.Connection):
        raise _other_driver(raw, "postgresql+psycopg://…")
    return raw


def commit_whole(connection: psycopg.Connection[Any]) -> None:
    """Commit. Raises TransactionRolledBack, after a rollback, if a statement of the transaction had failed.

    PostgreSQL answers COMMIT by ROLLBACK then, which the driver takes for success.
    """
    if connection.info.transaction_status is psycopg.pq.TransactionStatus.INERROR:
        connection.rollback()
        raise _rolled_back()
    connection.commit()


def _rolled_back() -> TransactionRolledBack:
    return TransactionRolledBack(
        "nothing was committed: a statement of the transaction had failed",
        "If an error is to be survived, run its statement within connection.transaction().",
    )


def _execute(connection: psycopg.Connection[Any], call: Call[T]) -> T:
    kind = connection.cursor_factory
    if issubclass(kind, psycopg.ClientCursor | psycopg.RawCursor):
        kind = psycopg.Cursor  # ours is the common way to bind arguments, and the binary format
    with translated(), kind(connection, row_factory=psycopg.rows.tuple_row) as cursor:
        if call.setup is not None:
            call.setup(cursor)
        if _needs_begin(connection):
            with connection.pipeline(), connection.transaction():
                cursor.execute(call.sql, call.arguments)
        else:
            cursor.execute(call.sql, call.arguments)
        return call.decode(cursor.fetchall())


def _needs_begin(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> bool:
    """Whether the call would be a transaction of its own that could not say that it commits by reliability."""
    return (
        says_so(connection)
        and connection.autocommit
        and connection.info.transaction_status is psycopg.pq.TransactionStatus.IDLE
    )


async def run_async(connection: AnyAsyncConnection, call: Call[T]) -> T:
    """As run, on an asyncio connection."""
    if isinstance(connection, psycopg.AsyncConnection):
        return await _execute_async(connection, call)
    connection = await _flushed_async(connection)
    try:
        return await _execute_async(await driver_async(connection), call)
    except ConnectionLost as error:
        await connection.invalidate(error)
        raise


async def raw_async(connection: AnyAsyncConnection) -> psycopg.AsyncConnection[Any]:
    """As raw, for asyncio."""
    if isinstance(connection, psycopg.AsyncConnection):
        return connection
    return await driver_async(await _flushed_async(connection))


async def _flushed_async(
    connection: sqlalchemy_asyncio.AsyncConnection | sqlalchemy_asyncio.AsyncSession,
) -> sqlalchemy_asyncio.AsyncConnection:
    from sqlalchemy.ext import asyncio as sqlalchemy_asyncio

    if isinstance(connection, sqlalchemy_asyncio.AsyncSession):
        await connection.flush()
        return await connection.connection()
    return connection


async def driver_async(connection: sqlalchemy_asyncio.AsyncConnection) -> psycopg.AsyncConnection[Any]:
    """As driver, for asyncio."""
    if not connection.in_transaction():
        await connection.begin()
    raw = (await connection.get_raw_connection()).driver_connection
    if not isinstance(raw, psycopg.AsyncConnection):
        raise _other_driver(raw, "postgresql+psycopg_async://…")
    return raw


async def _execute_async(connection: psycopg.AsyncConnection[Any], call: Call[T]) -> T:
    kind = connection.cursor_factory
    if issubclass(kind, psycopg.AsyncClientCursor | psycopg.AsyncRawCursor):
        kind = psycopg.AsyncCursor
    with translated():
        async with kind(connection, row_factory=psycopg.rows.tuple_row) as cursor:
            if call.setup is not None and (prepared := call.setup(cursor)) is not None:
                await prepared
            if _needs_begin(connection):
                async with connection.pipeline(), connection.transaction():
                    await cursor.execute(call.sql, call.arguments)
            else:
                await cursor.execute(call.sql, call.arguments)
            return call.decode(await cursor.fetchall())


async def commit_whole_async(connection: psycopg.AsyncConnection[Any]) -> None:
    """As commit_whole, for asyncio."""
    if connection.info.transaction_status is psycopg.pq.TransactionStatus.INERROR:
        await connection.rollback()
        raise _rolled_back()
    await connection.commit()


def _other_driver(raw: object, url: str) -> IllegalState:
    return IllegalState(
        f"Howdah speaks through psycopg 3, not {type(raw).__module__}", f"Use an engine made from {url}"
    )
