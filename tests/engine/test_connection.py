"""Connections: the factory, several hosts, start and stop, and what close leaves behind."""

from __future__ import annotations

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from support import Db, one, stays, wait_until, wait_until_blocked

from howdah.engine import AckMode, Connection, ConnectionFactory, Message, connect
from howdah.engine.errors import BadArgument, CannotConnect, IllegalState, NotAllowed


def backends(db: Db) -> int:
    """Connections to the test's database other than this one."""
    count: int = one(
        db,
        "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        " and backend_type = 'client backend'",
    )
    return count


@pytest.mark.behaviour("AMQ-03")
def test_a_factory_connects_with_defaults(dsn: str, db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    db.execute("create role howdah_test_guest login password 'secret' in role howdah_producer, howdah_admin")
    try:
        monkeypatch.setenv("HOWDAH_DSN", dsn)
        with ConnectionFactory().create_connection() as connection:
            assert one(connection.session().connection, "select current_user") == db.info.user
        with ConnectionFactory(user="howdah_test_guest", password="secret").create_connection() as connection:
            assert not connection.started
            connection.admin.create_queue("orders")
            assert one(connection.session().connection, "select current_user") == "howdah_test_guest"
        # What the DSN leaves out comes from libpq's own environment.
        parts = conninfo_to_dict(dsn)
        for name, variable in (("host", "PGHOST"), ("port", "PGPORT"), ("dbname", "PGDATABASE")):
            monkeypatch.setenv(variable, str(parts[name]))
        with ConnectionFactory("", "howdah_test_guest", "secret", max_size=2).create_connection() as connection:
            connection.send("orders", "x")
    finally:
        db.execute("drop owned by howdah_test_guest; drop role howdah_test_guest")


@pytest.mark.behaviour("AMQ-04")
def test_the_first_host_is_down_and_the_second_answers(dsn: str, dead_port: int) -> None:
    parts = conninfo_to_dict(dsn)
    host, port = parts["host"], parts["port"]
    several = make_conninfo(dsn, host=f"{host},{host}", port=f"{dead_port},{port}", target_session_attrs="read-write")
    with connect(several) as connection:
        connection.admin.create_queue("orders")
        connection.send("orders", "x")
        with connection.session() as session:
            assert session.connection.info.port == int(str(port))
            assert len(session.receive("orders")) == 1
    # The order is kept: the first that answers is taken.
    with connect(make_conninfo(several, port=f"{port},{dead_port}")) as connection:
        connection.send("orders", "y")


@pytest.mark.slow
@pytest.mark.behaviour("AMQ-05")
def test_a_connection_is_created_stopped(dsn: str, orders: str) -> None:
    with ConnectionFactory(dsn).create_connection() as connection:
        sent = connection.send(orders, "x")  # sending needs no start
        session = connection.session()
        consumer = session.consumer(orders)
        received: list[Message] = []
        assert session.receive(orders) == []
        began = time.monotonic()
        assert consumer.receive(0.3) is None
        assert time.monotonic() - began >= 0.3
        consumer.listener = received.append
        stays(lambda: received == [], 0.3)
        connection.start()
        wait_until(lambda: received)
        assert received[0].message_id == sent
        connection.stop()
        connection.send(orders, "y")
        stays(lambda: len(received) == 1, 0.3)


def test_a_receive_that_is_under_way_when_the_connection_stops_gives_back_what_it_finds(
    connection: Connection, db: Db, orders: str
) -> None:
    with connection.session() as session, ThreadPoolExecutor(1) as threads:
        sent = connection.send(orders, "x")
        try:
            db.execute("begin; lock table howdah.destinations")
            received = threads.submit(session.receive, orders)
            wait_until_blocked(db, session.connection)
            connection.stop()
        finally:
            db.execute("rollback")
        assert received.result(30) == []
        assert session.receive(orders) == []
        connection.start()
        assert [(message.message_id, message.delivery_count) for message in session.receive(orders)] == [(sent, 1)]


@pytest.mark.slow
def test_a_consumer_that_leases_when_the_connection_stops_hands_out_nothing_until_its_start(
    connection: Connection, db: Db, orders: str
) -> None:
    blocked = "select count(*) from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0"
    with connection.jms_session(mode=AckMode.CLIENT) as session, ThreadPoolExecutor(1) as threads:
        consumer = session.consumer(orders)
        sent = connection.send(orders, "x")
        try:
            db.execute("begin; lock table howdah.destinations")
            received = threads.submit(consumer.receive, 1)
            wait_until(lambda: one(db, blocked) == 1)
            connection.stop()
        finally:
            db.execute("rollback")
        assert received.result(30) is None
        connection.start()
        message = consumer.receive(30)
        assert message is not None
        assert message.message_id == sent


@pytest.mark.own_database
@pytest.mark.behaviour("AMQ-25")
def test_close_frees_everything(dsn: str, db: Db) -> None:
    # No connection but this one, for all of a process share the one that listens.
    one(db, "select howdah.create_queue('orders')")
    orders = "orders"
    before = set(threading.enumerate())
    connection = connect(dsn, min_size=2)
    sessions = [connection.session() for _ in range(3)]
    sessions[0].send(orders, "open")
    sessions[1].consumer(orders).listener = print
    threading.Thread(target=sessions[2].consumer(orders).receive).start()
    connection.send_async(orders, "last", delivery_mode="non-persistent")
    assert backends(db) >= 3
    # Others' threads may come later: Spark's, where it runs in this process too.
    made = set(threading.enumerate()) - before
    connection.close()
    connection.close()
    assert all(session.closed for session in sessions)
    wait_until(lambda: not any(thread.is_alive() for thread in made))
    wait_until(lambda: backends(db) == 0)
    assert one(db, "select count(*) from howdah.workers") == 0
    assert one(db, "select count(*) from pg_locks where locktype = 'advisory'") == 0
    for verb in (connection.session, lambda: connection.send(orders, "x"), lambda: connection.admin.list_queues()):
        with pytest.raises(IllegalState):
            verb()
    with pytest.raises(IllegalState):
        connection.send_async(orders, "x")


@pytest.mark.behaviour("IMQ-61")
def test_a_port_that_says_nothing_is_given_up_after_the_configured_time(dsn: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        with pytest.raises(CannotConnect):
            connect(make_conninfo(dsn, host="127.0.0.1", port=silent.getsockname()[1]), timeout=1).session()
        assert 1 <= time.monotonic() - began < 20  # by default it is 30 seconds


@pytest.mark.own_database
def test_closing_while_sessions_are_made_leaves_none_behind(dsn: str, db: Db) -> None:
    connection = connect(dsn, max_size=4, timeout=3)
    at_it: set[int] = set()

    def make() -> None:
        try:
            while True:
                connection.session().close()
                at_it.add(threading.get_ident())
        except IllegalState:
            pass

    threads = [threading.Thread(target=make) for _ in range(3)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(at_it) == len(threads))
    connection.close()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    wait_until(lambda: backends(db) == 0)


def test_a_role_is_taken_on_every_connection(dsn: str, orders: str) -> None:
    with connect(dsn, role="howdah_producer") as connection:
        connection.send(orders, "x")
        with connection.session() as session, pytest.raises(NotAllowed):
            session.receive(orders)
    with pytest.raises(BadArgument, match="no_such_role"):
        connect(dsn, role="no_such_role")


def test_without_prepared_statements(dsn: str, connection: Connection, orders: str) -> None:
    with connect(dsn, prepare=False) as unprepared, unprepared.session() as session:
        for _ in range(10):
            session.send(orders, "x")
        assert one(session.connection, "select count(*) from pg_prepared_statements") == 0


@pytest.mark.parametrize("dsn", ["postgresql://127.0.0.1:{port}/x", "host=127.0.0.1 port={port}", "nonsense"])
def test_a_dsn_that_does_not_answer(dsn: str, dead_port: int) -> None:
    began = time.monotonic()
    with pytest.raises(CannotConnect) as caught:
        connect(dsn.format(port=dead_port), timeout=60)
    # The error about a DSN that cannot be read quotes it, password and all.
    assert isinstance(caught.value.__cause__, psycopg.Error) == (dsn != "nonsense")
    with pytest.raises(CannotConnect):
        ConnectionFactory(dsn.format(port=dead_port), user="u").create_connection()
    assert time.monotonic() - began < 20  # who waited for either of them to come would wait for 60 seconds, and 30
