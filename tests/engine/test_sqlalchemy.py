"""Howdah inside SQLAlchemy's transactions: Connection, Session, and both for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
import sqlalchemy
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import orm
from sqlalchemy.ext import asyncio as sqlalchemy_asyncio
from support import Db, column, one

from howdah.engine import Session
from howdah.engine.aio import AsyncSession
from howdah.engine.errors import ConnectionLost, IllegalState, NoSuchQueue


class Base(orm.DeclarativeBase):
    """The application's own tables."""


class Account(Base):
    """A business row."""

    __tablename__ = "account"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    balance: orm.Mapped[int]


def url_of(dsn: str, dialect: str) -> sqlalchemy.URL:
    parts = {name: str(value) for name, value in conninfo_to_dict(dsn).items()}
    return sqlalchemy.URL.create(
        dialect, parts["user"], parts.get("password"), parts["host"], int(parts["port"]), parts["dbname"]
    )


@pytest.fixture
def sqla(dsn: str) -> Iterator[sqlalchemy.Engine]:
    """An engine on the test's database, with the application's table."""
    engine = sqlalchemy.create_engine(url_of(dsn, "postgresql+psycopg"))
    Base.metadata.create_all(engine)
    yield engine
    engine.dispose()


def waiting(db: Db, queue: str) -> list[str]:
    return column(db, "select body from howdah.browse(%s)", (queue,))


@pytest.mark.first_case
@pytest.mark.parametrize("begun", [False, True])
def test_a_connection_commits_row_and_message_together(
    sqla: sqlalchemy.Engine, db: Db, orders: str, begun: bool
) -> None:
    insert = sqlalchemy.insert(Account).values(id=1, balance=10)
    with sqla.connect() as own:
        session = Session(own)
        if begun:
            own.execute(insert)
        session.send(orders, "undone")  # as the first statement too: SQLAlchemy's transaction begins with it
        assert own.in_transaction()
        own.rollback()
        session.send(orders, "done")
        own.execute(insert)
        assert waiting(db, orders) == []
        own.commit()
        assert waiting(db, orders) == ["done"]
        (message,) = session.receive(orders)
        own.execute(sqlalchemy.update(Account).values(balance=20))
        own.rollback()
        assert waiting(db, orders) == ["done"]
        assert own.scalar(sqlalchemy.select(Account.balance)) == 10
        assert session.receive(orders) == [message]
        own.commit()
    assert waiting(db, orders) == []


def test_an_engines_begin_block_and_a_savepoint(sqla: sqlalchemy.Engine, db: Db, orders: str) -> None:
    with sqla.begin() as own:
        Session(own).send(orders, "outer")
        with pytest.raises(NoSuchQueue), own.begin_nested():
            Session(own).send("nowhere", "x")
        savepoint = own.begin_nested()
        Session(own).send(orders, "inner")
        savepoint.rollback()
    assert waiting(db, orders) == ["outer"]


def test_an_orm_session_commits_object_and_message_together(sqla: sqlalchemy.Engine, db: Db, orders: str) -> None:
    make = orm.sessionmaker(sqla)
    with make() as own:
        own.add(Account(id=1, balance=10))
        Session(own).send(orders, "undone")
        own.rollback()
    assert waiting(db, orders) == []
    with make.begin() as own:
        own.add(Account(id=2, balance=20))
        Session(own).send(orders, "done")
        # What the session holds is flushed before, as by its own statements.
        idle = (
            "select count(*) from pg_stat_activity where state = 'idle in transaction' and datname = current_database()"
        )
        assert one(db, idle) == 1
    assert waiting(db, orders) == ["done"]
    with make() as own, own.begin():
        (message,) = Session(own).receive(orders)
        account = own.get_one(Account, 2)
        account.balance += len(str(message.body))
    assert one(db, "select balance from account where id = 2") == 24
    assert waiting(db, orders) == []
    scoped = orm.scoped_session(make)
    Session(scoped).send(orders, "scoped")
    scoped.commit()
    scoped.remove()
    assert waiting(db, orders) == ["scoped"]


def test_autocommit_connections_commit_each_call(sqla: sqlalchemy.Engine, db: Db, orders: str) -> None:
    with sqla.connect().execution_options(isolation_level="AUTOCOMMIT") as own:
        Session(own).send(orders, "x")
        assert waiting(db, orders) == ["x"]
        assert len(Session(own).receive(orders)) == 1
        assert waiting(db, orders) == []


@pytest.mark.first_case
@pytest.mark.parametrize("kind", ["connection", "session"])
def test_a_lost_connection_is_not_used_again(sqla: sqlalchemy.Engine, db: Db, orders: str, kind: str) -> None:
    @contextmanager
    def opened() -> Iterator[tuple[Session, Callable[[str], Any]]]:
        if kind == "connection":
            with sqla.connect() as own:
                yield Session(own), lambda text: own.scalar(sqlalchemy.text(text))
        else:
            with orm.Session(sqla) as own_session:
                yield Session(own_session), lambda text: own_session.scalar(sqlalchemy.text(text))

    with opened() as (session, scalar):
        db.execute("select pg_terminate_backend(%s, 5000)", (scalar("select pg_backend_pid()"),))
        with pytest.raises(ConnectionLost):
            session.send(orders, "x")
    with opened() as (session, scalar):
        session.send(orders, "x")


def test_another_driver_is_refused() -> None:
    with sqlalchemy.create_engine("sqlite://").connect() as own, pytest.raises(IllegalState, match="psycopg 3"):
        Session(own).send("orders", "x")


# -- asyncio ----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def opened_async(dsn: str, kind: str) -> AsyncIterator[Any]:
    engine = sqlalchemy_asyncio.create_async_engine(url_of(dsn, "postgresql+psycopg_async"))
    try:
        if kind == "connection":
            async with engine.connect() as connection:
                yield connection
        else:
            async with sqlalchemy_asyncio.AsyncSession(engine) as session:
                yield session
    finally:
        await engine.dispose()


@pytest.mark.first_case
@pytest.mark.parametrize("kind", ["connection", "session"])
def test_asyncio_commits_row_and_message_together(
    sqla: sqlalchemy.Engine, dsn: str, db: Db, orders: str, kind: str
) -> None:
    insert = sqlalchemy.insert(Account).values(id=1, balance=10)

    async def scenario() -> None:
        async with opened_async(dsn, kind) as own:
            session = AsyncSession(own)
            await session.send(orders, "undone")
            await own.execute(insert)
            await own.rollback()
            assert await session.send_many(orders, ["a", "b"])
            await own.execute(insert)
            assert waiting(db, orders) == []
            await own.commit()
            assert waiting(db, orders) == ["a", "b"]
            assert len(await session.receive(orders, 5)) == 2
            await own.rollback()
            assert len(await session.receive(orders, 5)) == 2
            await own.commit()
            assert waiting(db, orders) == []
            assert await session.send_stream(orders, ["s"]) == 1
            assert await session.send_copy(orders, ["t"]) == 1
            await own.commit()
            assert waiting(db, orders) == ["s", "t"]
            with pytest.raises(NoSuchQueue):
                await session.send("nowhere", "x")
            await own.rollback()
            pid = await own.scalar(sqlalchemy.text("select pg_backend_pid()"))
            db.execute("select pg_terminate_backend(%s, 5000)", (pid,))
            with pytest.raises(ConnectionLost):
                await session.send(orders, "x")

    asyncio.run(scenario())
    assert one(db, "select balance from account") == 10
