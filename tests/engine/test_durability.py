"""When a send returns: after the durable commit, or at once with a future."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future

import psycopg
import pytest
from support import Connect, Db, column, one, stays, wait_until

from howdah.engine import Connection, connect
from howdah.engine.embedded import EmbeddedServer
from howdah.engine.errors import BadPriority, ConnectionLost, NoSuchQueue

TIMEOUT = 20


@pytest.fixture
def blocked(connect: Connect) -> Iterator[Db]:
    """The tables of messages are locked until this connection rolls back."""
    blocker = connect()
    blocker.execute("begin; lock table howdah.msgs, howdah.msgs_nonpersistent")
    yield blocker
    blocker.execute("rollback")


@pytest.mark.slow
@pytest.mark.behaviour("IMQ-121")
def test_a_persistent_send_returns_after_the_durable_commit(private_server: EmbeddedServer) -> None:
    dsn = private_server.start().dsn
    with connect(dsn) as connection, psycopg.connect(dsn, autocommit=True) as admin:
        connection.admin.create_queue("orders")
        # A standby that is not there: no commit is confirmed.
        admin.execute("alter system set synchronous_standby_names = 'missing'")
        admin.execute("select pg_reload_conf()")
        wait_until(lambda: one(admin, "show synchronous_standby_names") == "missing")
        sent: list[int] = []
        sending = threading.Thread(target=lambda: sent.append(connection.send("orders", "x")))
        sending.start()
        wait_until(lambda: one(admin, "select count(*) from pg_stat_activity where wait_event = 'SyncRep'") == 1)
        stays(lambda: sent == [], 0.5)
        admin.execute("alter system reset synchronous_standby_names")
        admin.execute("select pg_reload_conf()")
        sending.join(TIMEOUT)
        assert sent == column(admin, "select message_id from howdah.msgs")


def test_send_async_does_not_wait(connection: Connection, db: Db, blocked: Db, orders: str) -> None:
    began = time.monotonic()
    futures = [connection.send_async(orders, n, delivery_mode="non-persistent") for n in range(100)]
    assert time.monotonic() - began < TIMEOUT / 2  # whoever waited for one of them would wait forever
    stays(lambda: not any(future.done() for future in futures), 0.2)
    blocked.execute("rollback")
    numbers = [future.result(TIMEOUT) for future in futures]
    assert column(db, "select message_id from howdah.msgs_nonpersistent order by seq") == numbers


def test_a_persistent_one_may_go_without_waiting_too(connection: Connection, db: Db, blocked: Db, orders: str) -> None:
    body = {"n": 1}
    future = connection.send_async(orders, body, priority=9)
    body["n"] = 2  # what was handed over was taken then
    assert not future.done()
    blocked.execute("rollback")
    assert future.result(TIMEOUT) == one(db, "select message_id from howdah.browse(%s)", (orders,))
    with connection.session() as session:
        assert [message.data for message in session.receive(orders)] == [{"n": 1}]


def test_errors_come_in_the_future_and_stop_nothing(connection: Connection, db: Db, orders: str) -> None:
    bad = connection.send_async("nowhere", "x")
    worse = connection.send_async(orders, "x", priority=10)
    unsendable = connection.send_async(orders, {1, 2})  # type: ignore[arg-type]
    good = connection.send_async(orders, "x")
    assert good.result(TIMEOUT) == one(db, "select message_id from howdah.msgs")
    assert isinstance(bad.exception(TIMEOUT), NoSuchQueue)
    assert isinstance(worse.exception(TIMEOUT), BadPriority)
    assert unsendable.exception(TIMEOUT) is not None


def test_one_that_was_cancelled_in_time_is_not_sent(connection: Connection, db: Db, blocked: Db, orders: str) -> None:
    first, second, third = (connection.send_async(orders, n) for n in range(3))
    wait_until(first.running)
    assert second.cancel()
    blocked.execute("rollback")
    numbers = [first.result(TIMEOUT), third.result(TIMEOUT)]
    assert column(db, "select message_id from howdah.msgs order by seq") == numbers


def test_close_sends_what_is_left(dsn: str, db: Db, blocked: Db, orders: str) -> None:
    connection = connect(dsn, max_size=1)
    futures = [connection.send_async(orders, n) for n in range(50)]
    closing = threading.Thread(target=connection.close)
    closing.start()
    stays(closing.is_alive, 0.2)
    blocked.execute("rollback")
    closing.join(TIMEOUT)
    assert not closing.is_alive()
    assert all(future.done() for future in futures)
    assert one(db, "select count(*) from howdah.msgs") == 50


def test_a_lost_connection_fails_one_and_the_next_goes(
    connection: Connection, db: Db, blocked: Db, orders: str
) -> None:
    lost, following = connection.send_async(orders, 1), connection.send_async(orders, 2)
    waiting = "select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    wait_until(lambda: column(db, waiting))
    for pid in column(db, waiting):
        db.execute("select pg_terminate_backend(%s, 5000)", (pid,))
    assert isinstance(lost.exception(TIMEOUT), ConnectionLost)
    blocked.execute("rollback")
    assert [following.result(TIMEOUT)] == column(db, "select message_id from howdah.msgs")


def test_the_database_connection_is_given_back_when_all_is_sent(dsn: str, orders: str) -> None:
    with connect(dsn, max_size=1, timeout=5) as connection:
        futures: list[Future[int]] = []
        for n in range(5):
            futures.append(connection.send_async(orders, n))
            with connection.session() as session:
                session.browse(orders)
        assert len({future.result(TIMEOUT) for future in futures}) == 5
