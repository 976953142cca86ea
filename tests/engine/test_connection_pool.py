"""A connection's pool keeps to its sizes, and the application's own pool stays as it was."""

from __future__ import annotations

import threading
import time

import psycopg_pool
import pytest
from support import Db, one, stays, wait_until

from howdah.engine import Session, connect
from howdah.engine.errors import BadArgument, CannotConnect, IllegalState


def backends(db: Db) -> int:
    """Connections to the test's database other than this one."""
    count: int = one(
        db,
        "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        " and backend_type = 'client backend'",
    )
    return count


@pytest.mark.own_database
@pytest.mark.behaviour("AMQ-66")
@pytest.mark.behaviour("IMQ-11")
def test_the_pool_honours_its_maximum_and_a_further_session_waits(dsn: str, db: Db) -> None:
    before = backends(db)
    with connect(dsn, max_size=2, timeout=10) as connection:
        first, _second = connection.session(), connection.session()
        third: list[Session] = []
        waiting = threading.Thread(target=lambda: third.append(connection.session()))
        waiting.start()
        stays(lambda: third == [], 0.3)
        assert backends(db) - before == 2
        first.close()
        waiting.join(20)
        assert len(third) == 1
        assert one(third[0].connection, "select 1") == 1
        assert backends(db) - before == 2
    with connect(dsn, max_size=1, timeout=0.3) as connection, connection.session():
        began = time.monotonic()
        with pytest.raises(CannotConnect):
            connection.session()
        assert 0.3 <= time.monotonic() - began < 20  # without a timeout of its own it would wait for 30 seconds


@pytest.mark.behaviour("IMQ-12")
@pytest.mark.parametrize(("min_size", "max_size"), [(0, 0), (1, 1), (3, 2), (0, -1), (-1, 5)])
def test_the_maximum_must_be_positive_and_above_the_minimum(dsn: str, min_size: int, max_size: int) -> None:
    with pytest.raises(BadArgument):
        connect(dsn, min_size=min_size, max_size=max_size)


def test_one_connection_at_most_is_possible(dsn: str) -> None:
    with connect(dsn, max_size=1) as connection:
        connection.admin.create_queue("orders")
        connection.send("orders", "x")


def test_the_applications_own_pool_is_used_and_left_as_it_was(dsn: str, orders: str) -> None:
    with psycopg_pool.ConnectionPool(dsn, min_size=1, max_size=2, kwargs={"autocommit": True}) as pool:
        with connect(pool=pool) as connection:
            connection.send(orders, "x")
            with connection.session() as session, session.transaction():
                assert len(session.receive(orders)) == 1
        with pool.connection() as own:
            assert own.autocommit
        assert not pool.closed
    with pytest.raises(IllegalState):
        connect(pool=pool).send(orders, "x")


@pytest.mark.behaviour("IMQ-10")
def test_a_pool_grows_to_its_maximum_under_load_and_shrinks_to_its_minimum_when_idle(dsn: str, orders: str) -> None:
    with (
        psycopg_pool.ConnectionPool(dsn, min_size=1, max_size=4, max_idle=0.2, open=True) as pool,
        connect(pool=pool) as connection,
    ):
        sessions = [connection.session() for _ in range(4)]
        waiting = [threading.Thread(target=connection.send, args=(orders, "x")) for _ in range(16)]
        for thread in waiting:
            thread.start()
        wait_until(lambda: pool.get_stats()["requests_waiting"] == 16)
        assert pool.get_stats()["pool_size"] == 4
        for session in sessions:
            session.close()
        for thread in waiting:
            thread.join(20)
        wait_until(lambda: pool.get_stats()["pool_size"] == 1)
        with connection.session() as session, session.transaction():
            assert len(session.receive(orders, 99)) == 16
