"""Connections whose transactions say that they commit by reliability: with each BEGIN, and never for the session."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg_pool import ConnectionPool
from support import Db, column, one

from howdah.engine import AckMode, Connection, ConnectionFactory, Session, connect
from howdah.engine.aio import connect_async
from howdah.engine.errors import BadArgument, NoSuchQueue

RELIABLE, ASSURED = "RELIABLE_PERSISTENT", "ASSURED_PERSISTENT"
SAID = "select current_setting('howdah.commit_by_reliability', true), current_setting('synchronous_commit')"


@pytest.fixture
def noted(db: Db) -> str:
    """A queue whose messages note how long their commits wait."""
    one(db, "select howdah.create_queue('noted')")
    db.execute("create table waits (reliability smallint, waits text)")
    # Deferred, so that it sees what the whole transaction came to.
    db.execute(
        "create function note() returns trigger language plpgsql security definer as $$begin"
        " insert into public.waits values (new.reliability, current_setting('synchronous_commit'));"
        " return null; end$$"
    )
    db.execute(
        "create constraint trigger note after insert on howdah.msgs deferrable initially deferred"
        " for each row execute function note()"
    )
    return "noted"


def waits(db: Db) -> list[str]:
    return column(db, "with gone as (delete from waits returning waits) select waits from gone")


def said(session: Session) -> Any:
    return session.connection.execute(SAID).fetchone()


def test_each_transaction_of_a_session_says_so_and_no_session_does(dsn: str, noted: str) -> None:
    with connect(dsn, max_size=1, commit_by_reliability=True) as connection, connection.session() as session:
        for end in (session.commit, session.rollback, session.commit):
            assert said(session) == ("on", "on")
            session.send(noted, "x", reliability=RELIABLE)
            assert said(session) == ("on", "off")
            session.send(noted, "x")
            assert said(session) == ("on", "on")
            end()
        raw = session.connection
        raw.autocommit = True
        assert raw.execute(SAID).fetchone() == ("", "on")
        raw.autocommit = False


def test_without_the_option_nothing_is_said(dsn: str, noted: str) -> None:
    with connect(dsn) as connection, connection.session() as session:
        session.send(noted, "x", reliability=RELIABLE)
        assert said(session) == (None, "on")


def test_a_factory_has_the_option(dsn: str, db: Db, noted: str) -> None:
    with ConnectionFactory(dsn, commit_by_reliability=True).create_connection() as connection:
        connection.send(noted, "x", reliability=RELIABLE)
    assert waits(db) == ["off"]


def test_a_pool_of_the_applications_own_is_refused(dsn: str) -> None:
    with ConnectionPool(dsn, open=False) as pool, pytest.raises(BadArgument):
        connect(pool=pool, commit_by_reliability=True)


def _one_call(connection: Connection, queue: str, level: str) -> None:
    connection.send(queue, "x", reliability=level)


def _asynchronous(connection: Connection, queue: str, level: str) -> None:
    connection.send_async(queue, "x", reliability=level).result(30)


def _windowed(connection: Connection, queue: str, level: str) -> None:
    with connection.windowed_producer(queue) as producer:
        producer.send("x", reliability=level)


def _untransacted(connection: Connection, queue: str, level: str) -> None:
    with connection.session(transacted=False) as session:
        session.send(queue, "x", reliability=level)


def _acknowledged(connection: Connection, queue: str, level: str) -> None:
    with connection.jms_session(mode=AckMode.AUTO) as session:
        session.send(queue, "x", reliability=level)


@pytest.mark.first_case
@pytest.mark.parametrize("level", [RELIABLE, ASSURED])
@pytest.mark.parametrize("way", [_one_call, _asynchronous, _windowed, _untransacted, _acknowledged])
def test_calls_that_are_transactions_of_their_own_say_so(dsn: str, db: Db, noted: str, way: Any, level: str) -> None:
    with connect(dsn, commit_by_reliability=True) as connection:
        way(connection, noted, level)
        assert waits(db) == ["off" if level == RELIABLE else "on"]
        with pytest.raises(NoSuchQueue):
            connection.send("nowhere", "x")
        way(connection, noted, level)
    assert waits(db) == ["off" if level == RELIABLE else "on"]


def test_asyncio_says_so_too(dsn: str, db: Db, noted: str) -> None:
    async def scenario() -> None:
        async with connect_async(dsn, commit_by_reliability=True) as connection:
            await connection.send(noted, "x", reliability=RELIABLE)
            session = await connection.session(transacted=False)
            await session.send(noted, "x", reliability=RELIABLE)
            with pytest.raises(NoSuchQueue):
                await session.send("nowhere", "x")
            await session.send(noted, "x", reliability=ASSURED)
            await session.close()
            jms = await connection.jms_session()
            await jms.send(noted, "x", reliability=RELIABLE)
            await jms.close()

    asyncio.run(scenario())
    assert waits(db) == ["off", "off", "on", "off"]


def test_it_takes_no_round_trip_of_its_own(dsn: str, noted: str, tmp_path: Path) -> None:
    def messages(by_reliability: bool) -> int:
        """Synchronous answers of the server to a transaction."""
        trace = tmp_path / str(by_reliability)
        with (
            connect(dsn, max_size=1, commit_by_reliability=by_reliability) as connection,
            connection.session() as session,
        ):
            session.send(noted, "x")  # types are known, and nothing is begun
            session.commit()
            raw: psycopg.Connection[Any] = session.connection
            with trace.open("w") as file:
                raw.pgconn.trace(file.fileno())
                session.send(noted, "x")
                session.commit()
                raw.pgconn.untrace()
        return sum("ReadyForQuery" in line for line in trace.read_text().splitlines())

    assert messages(by_reliability=True) == messages(by_reliability=False) == 3
