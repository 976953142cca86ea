"""Where administered factories connect to, and what happens when the server ends their connections."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.json import Jsonb
from support import Connect, Db, column, one, wait_until

from howdah.engine import Connection, lookup
from howdah.engine.aio import connect_async
from howdah.engine.database.reconnection import Reconnection
from howdah.engine.errors import BadArgument, CannotConnect, ConnectionLost, IllegalState

BACKENDS = "pid <> pg_backend_pid() and datname = current_database() and backend_type = 'client backend'"


def store(db: Db, name: str = "cf", **attributes: Any) -> None:
    one(db, "select howdah.create_object(%s, 'connection_factory', %s)", (name, Jsonb(attributes)))


def kill(db: Db) -> int:
    """Kill every backend of the test's database but one, and wait until they are gone."""
    number = one(db, f"select count(pg_terminate_backend(pid, 20000)) from pg_stat_activity where {BACKENDS}")
    return int(number)


def persistent(db: Db, dsn: str) -> Connection:
    store(db, reconnect_attempts=20, reconnect_interval_ms=10, reconnect_interval_max_ms=100)
    connection: Connection = lookup(dsn, "cf").create_connection()
    connection.start()
    return connection


@pytest.mark.slow
@pytest.mark.behaviour("IMQ-132")
def test_a_client_whose_backends_are_killed_reconnects_and_continues(db: Db, dsn: str, orders: str) -> None:
    with persistent(db, dsn) as connection:
        session, single = connection.session(), connection.session(transacted=False)
        jms = connection.jms_session()
        consumer = jms.consumer(orders, prefetch=1)
        for n in range(3):
            connection.send(orders, f"connection {n}")
            single.send(orders, f"single {n}")
            session.send(orders, f"session {n}")
            session.commit()
            assert kill(db) >= 3
            assert [message.body for message in session.receive(orders, 2)] == [f"connection {n}", f"single {n}"]
            session.commit()
            kill(db)
            assert (message := consumer.receive(20)) is not None
            assert message.body == f"session {n}"
        assert one(db, "select count(*) from howdah.msgs") == 0


def test_a_transaction_that_was_lost_raises_and_the_next_one_goes_on(db: Db, dsn: str, orders: str) -> None:
    with persistent(db, dsn) as connection, connection.session() as session:
        session.send(orders, "lost")
        kill(db)
        with pytest.raises(ConnectionLost):
            session.send(orders, "lost, too")
        session.send(orders, "kept")
        session.commit()
        session.send(orders, "unknown")
        kill(db)
        with pytest.raises(ConnectionLost):
            session.commit()
        assert [message.body for message in session.receive(orders, 9)] == ["kept"]


@pytest.mark.behaviour("IMQ-132")
def test_a_call_whose_backend_is_killed_in_the_middle_is_made_again(
    db: Db, connect: Connect, dsn: str, orders: str
) -> None:
    with persistent(db, dsn) as connection, connection.session() as session, ThreadPoolExecutor(1) as thread:
        session.send(orders, "before")
        session.commit()
        other = connect()
        other.execute("begin; lock table howdah.msgs in share mode")
        sending = thread.submit(session.send, orders, "once")
        blocked = "select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
        wait_until(lambda: bool(column(db, blocked)))
        db.execute("select pg_terminate_backend(%s, 20000)", (column(db, blocked)[0],))
        wait_until(lambda: bool(column(db, blocked)))  # by another backend
        other.execute("rollback")
        assert sending.result(20) > 0
        session.commit()
        assert [message.body for message in session.receive(orders, 9)] == ["before", "once"]


def test_a_listener_goes_on(db: Db, dsn: str, orders: str) -> None:
    with persistent(db, dsn) as connection, connection.jms_session() as jms:
        got: list[str] = []
        come = Event()

        def listener(message: Any) -> None:
            got.append(message.body)
            come.set()

        jms.consumer(orders).listener = listener
        for body in ("a", "b"):
            kill(db)
            connection.send(orders, body)
            assert come.wait(20)
            come.clear()
        assert got == ["a", "b"]


def test_without_attempts_the_client_sees_a_lost_connection(db: Db, dsn: str, orders: str) -> None:
    store(db)
    with lookup(dsn, "cf").create_connection() as connection, connection.session() as session:
        session.send(orders, "x")
        session.commit()
        kill(db)
        with pytest.raises(ConnectionLost):
            session.send(orders, "y")


def test_pauses_double_up_to_the_longest() -> None:
    assert list(Reconnection(4, 1, 3).pauses()) == [1, 2, 3, 3]
    assert list(Reconnection(2, 0.5).pauses()) == [0.5, 0.5]
    assert next(Reconnection(-1, 1).pauses()) == 1
    for wrong in ((-2, 1), (1, -1)):
        with pytest.raises(BadArgument):
            Reconnection(*wrong)


def test_so_many_attempts_are_made_to_reach_a_server(db: Db, dsn: str, dead_port: int) -> None:
    store(db, hosts=[f"127.0.0.1:{dead_port}"], reconnect_attempts=3, reconnect_interval_ms=1)
    with pytest.raises(CannotConnect):
        lookup(dsn, "cf").create_connection()


@pytest.mark.behaviour("IMQ-138")
def test_overrides_at_the_start_change_where_the_client_connects_to(
    db: Db, dsn: str, dead_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = conninfo_to_dict(dsn)
    here = f"{given['host']}:{given['port']}"
    store(db, hosts=[f"127.0.0.1:{dead_port}"])
    with pytest.raises(CannotConnect):
        lookup(dsn, "cf").create_connection()
    with lookup(dsn, "cf", {"hosts": [here]}).create_connection() as connection:
        assert connection.admin.list_queues() is not None
    monkeypatch.setenv("HOWDAH_OBJECT_HOSTS", f"127.0.0.1:{dead_port}, {here}")  # tried in this order
    password = str(given["password"])  # which goes to no host that the DSN does not name, unless the client gives it
    with lookup(dsn, "cf").create_connection(password=password) as connection, connection.session() as session:
        assert session.connection.info.port == int(str(given["port"]))
    with pytest.raises(CannotConnect):
        lookup(dsn, "cf", {"hosts": [f"127.0.0.1:{dead_port}"]}).create_connection()


def test_the_password_of_the_dsn_goes_to_no_other_server(db: Db, dsn: str) -> None:
    given = conninfo_to_dict(dsn)
    secret = given["password"]
    store(db, "same", hosts=[f"{given['host']}:{given['port']}"])
    store(db, "other", hosts=[f"{given['host']}:{given['port']}", "elsewhere.example"])
    store(db, "service", service="vienna")
    assert conninfo_to_dict(lookup(dsn, "same").conninfo())["password"] == secret
    assert "password" not in conninfo_to_dict(lookup(dsn, "other").conninfo())
    assert conninfo_to_dict(lookup(dsn, "service").conninfo())["service"] == "vienna"
    assert "password" not in conninfo_to_dict(lookup(dsn, "service").conninfo())
    own = conninfo_to_dict(lookup(dsn, "other").conninfo("joe", "his own"))
    assert (own["user"], own["password"]) == ("joe", "his own")


def test_hosts_are_tried_in_order_unless_load_is_balanced(db: Db, dsn: str) -> None:
    store(db, "a", hosts=["db1", "db2:5433", "[::1]:5434"])
    store(db, "b", hosts=["db1", "db2"], load_balance=True)
    first = conninfo_to_dict(lookup(dsn, "a").conninfo())
    assert (first["host"], first["port"]) == ("db1,db2,::1", "5432,5433,5434")
    assert (first["load_balance_hosts"], first["target_session_attrs"]) == ("disable", "read-write")
    assert conninfo_to_dict(lookup(dsn, "b").conninfo())["load_balance_hosts"] == "random"


@pytest.mark.slow
def test_asyncio_looks_up_and_connects_by_the_same_factories(db: Db, dsn: str, orders: str) -> None:
    store(
        db,
        priority=7,
        client_id="desk7",
        jmsx_user_id=True,
        predefined_only=True,
        reconnect_attempts=20,
        reconnect_interval_ms=10,
    )
    one(db, "select howdah.create_object('q', 'queue', '{\"destination\": \"orders\"}')")

    async def go() -> None:
        async with connect_async(dsn) as plain:
            factory = await plain.lookup("cf")
        async with connect_async(factory=factory) as connection:
            assert connection.client_id == "desk7"
            queue = await connection.lookup("q")
            with pytest.raises(IllegalState):
                await connection.send(orders, "x")
            await connection.send(queue, "x", priority=1)
            session = await connection.session()
            kill(db)
            async with connection.transaction() as own:
                with pytest.raises(IllegalState):
                    await own.send(orders, "x")
            (message,) = await session.receive(queue)
            assert (message.priority, set(message.headers)) == (7, {"JMSXUserID"})
            await session.commit()
            async with await connection.jms_session() as jms:
                await jms.send(queue, "y", priority=1)
                consumer = await jms.consumer(queue)
                assert (answer := await consumer.receive(20)) is not None
                assert answer.priority == 7
            await session.close()

    asyncio.run(go())


def test_a_factory_says_how_its_connections_are_made(db: Db, dsn: str, orders: str) -> None:
    store(
        db,
        connect_timeout_ms=3000,
        min_size=1,
        max_size=3,
        role="howdah_producer",
        lease_duration_ms=2000,
        max_redeliveries=4,
        commit_by_reliability=True,
        connection_service="jms",
        prefetch=7,
        subscription_prefetch=3,
        sslmode="prefer",
    )
    factory = lookup(dsn, "cf")
    assert conninfo_to_dict(factory.conninfo())["sslmode"] == "prefer"
    with factory.create_connection() as connection:
        assert (connection.pool.min_size, connection.pool.max_size, connection.pool.timeout) == (1, 3, 3)
        assert (connection.lease_duration, connection.max_redeliveries) == (2, 4)
        assert (connection.prefetch.queue, connection.prefetch.durable_topic) == (7, 3)
        assert not connection.started
        settings = "select current_user, current_setting('howdah.service')"
        with connection.session() as session:
            assert session.connection.execute(settings).fetchone() == ("howdah_producer", "jms")
            session.send(orders, "x")
            assert session.connection.execute("show synchronous_commit").fetchone() == ("off",)


@pytest.mark.slow
def test_a_worker_connects_by_a_factory(db: Db, dsn: str, dead_port: int) -> None:
    given = conninfo_to_dict(dsn)
    one(db, "select howdah.create_queue('work')")
    one(db, "select howdah.send('work', 'x')")
    store(db, hosts=[f"127.0.0.1:{dead_port}"])
    program = [sys.executable, "-m", "howdah.cli.main", "worker", "served:app", "--factory", "cf", "--until-empty"]
    with TemporaryDirectory() as folder:
        Path(folder, "served.py").write_text(
            "from howdah.workers import App\napp = App('served')\n"
            "@app.handler('work')\ndef work(message, transaction): print('handled', message.body, flush=True)\n"
        )

        def run(*more: str) -> subprocess.CompletedProcess[str]:
            environment = os.environ | {"HOWDAH_DSN": dsn, "PYTHONPATH": os.pathsep.join([folder, *sys.path])}
            return subprocess.run([*program, *more], env=environment, capture_output=True, text=True, check=False)

        assert run("--no-wait").returncode == 3
        done = run("-D", f"hosts={given['host']}:{given['port']}")
        assert (done.returncode, done.stdout) == (0, "handled x\n"), done.stderr
