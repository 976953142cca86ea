"""One listening connection wakes all of a process, is replaced when it is lost, and ends with the last."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from support import Db, column, one, stays, wait_until
from waking_receivers_support import receiving, wait_until_awaited

from howdah.engine import Connection
from howdah.engine import connect as connect_engine
from howdah.engine.database.waking import Waking

LISTENERS = "select pid from pg_stat_activity where application_name = 'howdah waking' and datname = current_database()"


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """Threads that receive."""
    with ThreadPoolExecutor(16) as executor:
        yield executor


def test_connections_of_a_process_share_one_listening_connection_and_close_it(
    connection: Connection, dsn: str, orders: str, db: Db
) -> None:
    connection.close()
    with connect_engine(dsn) as first, connect_engine(dsn) as second, ThreadPoolExecutor() as threads:
        assert first.waking is second.waking
        assert column(db, LISTENERS) == [], "nobody has waited"
        received = [receiving(threads, connection) for connection in (first, second, second)]
        wait_until_awaited(db)
        assert len(column(db, LISTENERS)) == 1
        one(db, "select howdah.send_batch('orders', array['a', 'b', 'c'])")
        assert all(one_of.result(10) for one_of in received)
    wait_until(lambda: column(db, LISTENERS) == [])


def test_the_listening_connection_is_replaced_when_it_is_killed(
    connection: Connection, orders: str, db: Db, threads: ThreadPoolExecutor
) -> None:
    received = receiving(threads, connection)
    wait_until(lambda: column(db, LISTENERS) != [])
    wait_until_awaited(db)
    (killed,) = column(db, LISTENERS)
    one(db, "select pg_terminate_backend(%s)", (killed,))
    one(db, "select howdah.send('orders', 'x')")
    assert received.result(60), "by the look that the loss causes, or if that came before the message by the next"
    received = receiving(threads, connection)
    wait_until(lambda: column(db, LISTENERS) not in ([], [killed]))
    wait_until_awaited(db)
    one(db, "select howdah.send('orders', 'y')")
    assert received.result(10)


@pytest.mark.slow
def test_where_listen_is_impossible_messages_arrive_and_nobody_asks(
    connection: Connection, orders: str, db: Db, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: Any, **more: Any) -> Any:
        raise psycopg.OperationalError("no more connections")

    monkeypatch.setattr(Waking, "_connect", refuse)
    received = receiving(threads, connection)
    asked = "select pg_sequence_last_value(waiting) from howdah.destinations where name = 'orders'"
    stays(lambda: one(db, asked) is None, 1)
    one(db, "select howdah.send('orders', 'x')")
    assert received.result(10)


def test_behind_a_pooler_nobody_listens(orders: str, db: Db, dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = threading.Event()
    original = Waking._connect

    class Pooled:
        """A connection whose backend is not the one it says, as with PgBouncer."""

        backend_pid = 1

    def through_a_pooler(self: Waking) -> Any:
        connection = original(self)
        monkeypatch.setattr(type(connection), "info", Pooled)
        tried.set()
        return connection

    waking = Waking.of(dsn)
    try:
        monkeypatch.setattr(Waking, "_connect", through_a_pooler)
        assert not waking.ready()
        assert tried.wait(20)
        wait_until(lambda: column(db, LISTENERS) == [])
        assert not waking.ready()
    finally:
        waking.release()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python 3.12's, of a process that forks beside threads
def test_a_process_that_was_forked_keeps_no_listener_alive(dsn: str, db: Db) -> None:
    waking = Waking.of(dsn)
    wait_until(waking.ready)
    thread = waking._thread
    assert thread is not None
    hold, held = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(held)
        os.read(hold, 1)
        os._exit(0)
    try:
        waking.release()
        thread.join(10)
        assert not thread.is_alive()
    finally:
        os.close(held)
        os.waitpid(child, 0)
    wait_until(lambda: one(db, "select count(*) from pg_stat_activity where application_name = 'howdah waking'") == 0)
