"""An idle receiver starts as soon as a message is committed.

Where it cannot be told, it finds the message by looking.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from support import Connect, Db, column, one, wait_until

from howdah.engine import Connection, Message, Session
from howdah.engine import connect as connect_engine
from howdah.engine.aio import connect_async
from howdah.engine.database import waiting as waiting_module
from howdah.engine.database.waiting import Idle
from howdah.engine.database.waking import Waking

AWAITED = (
    "select howdah._pace(clock_timestamp()) - (pg_sequence_last_value(waiting) >> 20) < 1500"
    " from howdah.destinations where name = %s"
)
LISTENERS = "select pid from pg_stat_activity where application_name = 'howdah waking' and datname = current_database()"


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """Threads that receive."""
    with ThreadPoolExecutor(16) as executor:
        yield executor


@pytest.fixture
def connect_own(connect: Connect) -> Db:
    """A connection that the application made itself."""
    return connect()


def wait_until_awaited(db: Db, queue: str = "orders") -> None:
    """Return once somebody asked to be woken."""
    wait_until(lambda: one(db, AWAITED, (queue,)))


def receiving(threads: ThreadPoolExecutor, connection: Connection) -> Future[list[Message]]:
    """Receive on a thread, in a session of its own; who looks rarely looks again when its 20 seconds are over."""

    def receive() -> list[Message]:
        with connection.session() as session, session.transaction():
            return session.receive("orders", wait=20)

    return threads.submit(receive)


def test_a_waiting_receive_is_woken_by_a_commit(
    connection: Connection, orders: str, db: Db, threads: ThreadPoolExecutor, rare: set[Idle]
) -> None:
    received = receiving(threads, connection)
    wait_until(lambda: rare)
    one(db, "select howdah.send('orders', 'x')")
    assert [message.body for message in received.result(10)] == ["x"]


def test_a_listener_is_woken_by_a_commit(connection: Connection, orders: str, db: Db, rare: set[Idle]) -> None:
    got: list[object] = []
    session = connection.session()
    session.consumer(orders).listener = lambda message: got.append(message.body)
    for body in ("a", "b"):
        wait_until(lambda: rare)
        one(db, "select howdah.send('orders', %s)", (body,))
        wait_until(lambda body=body: got[-1:] == [body], 10)  # type: ignore[misc]


def test_an_asyncio_receive_is_woken_by_a_commit(dsn: str, orders: str, db: Db, rare: set[Idle]) -> None:
    async def scenario() -> None:
        async with connect_async(dsn) as connection, connection.transaction() as session:
            received = asyncio.create_task(session.receive(orders, wait=20))
            await asyncio.to_thread(wait_until, lambda: rare)
            one(db, "select howdah.send('orders', 'x')")
            assert [message.body for message in await asyncio.wait_for(received, 10)] == ["x"]

    asyncio.run(scenario())


def test_a_waiting_receive_by_a_wildcard_looks_and_asks_nobody(connection: Connection, db: Db) -> None:
    connection.admin.create_queue("JOBS.a")
    assert connection.waking is not None
    wait_until(connection.waking.ready)
    with connection.session() as session:
        session.send("JOBS.a", "sent before")
        assert session.receive("JOBS.>", 5, wait=0.1)[0].body == "sent before"
        assert session.receive("JOBS.*", wait=0.2) == []
        session.commit()
        assert session.consumer("JOBS.>").receive(0.1) is None
        one(db, "select howdah.send('JOBS.a', 'x')")
        assert [message.body for message in session.receive("JOBS.>", wait=5)] == ["x"]


def test_a_waiting_receive_from_a_wildcard_subscription_of_a_client_id_asks_to_be_woken(connection: Connection) -> None:
    connection.admin.create_topic("a.b")
    with connection.session() as session:
        for name in (session.subscriber("a.>", client_id="shop").queue, connection.admin.subscribe("a.>", "s")):
            idle = Idle(connection.waking, lambda: None)
            assert connection.waking is not None
            wait_until(connection.waking.ready)
            for _ in range(10):
                idle.pause()
            assert idle.ask(name) is not None, name


def test_each_of_several_messages_of_one_transaction_finds_a_receiver(
    connection: Connection, orders: str, db: Db, threads: ThreadPoolExecutor, rare: set[Idle]
) -> None:
    received = [receiving(threads, connection) for _ in range(4)]
    wait_until(lambda: len(rare) == 4)
    one(db, "select howdah.send_batch('orders', array['a', 'b', 'c', 'd'])")
    assert sorted(str(one_of.result(10)[0].body) for one_of in received) == ["a", "b", "c", "d"]


def test_one_message_wakes_few_of_many_receivers(
    connection: Connection,
    orders: str,
    db: Db,
    threads: ThreadPoolExecutor,
    rare: set[Idle],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[int] = []
    original = Session.receive_now

    def counted(self: Session, *arguments: Any, **which: Any) -> list[Message]:
        looks.append(1)
        return original(self, *arguments, **which)

    received = [receiving(threads, connection) for _ in range(8)]
    wait_until(lambda: len(rare) == 8)
    monkeypatch.setattr(Session, "receive_now", counted)
    one(db, "select howdah.send('orders', 'a')")
    wait_until(lambda: any(one_of.done() for one_of in received), 10)
    time.sleep(0.3)  # for others that might be woken
    assert len(looks) <= 3
    wait_until(lambda: len(rare) == 7)
    one(db, "select howdah.send_batch('orders', array_agg('b'::text)) from generate_series(1, 7)")
    assert all(one_of.result(10) for one_of in received)


def test_after_a_calm_wait_the_next_one_asks_at_its_second_look_and_keeps_what_was_asked(
    connection: Connection, orders: str, db: Db, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    session = connection.session()
    look, asked = Session.receive_now, Idle.asked

    def looked(self: Session, *arguments: Any, **which: Any) -> list[Message]:
        steps.append("look")
        return look(self, *arguments, **which)

    def noted(self: Idle, *arguments: Any) -> None:
        steps.append("ask")
        asked(self, *arguments)

    def wait() -> list[str]:
        steps.clear()
        assert session.receive(orders, wait=0.2) == []
        return steps[: steps.index("ask") if "ask" in steps else 0]

    # However long this machine takes, what was asked is neither asked again nor forgotten in between.
    for name in ("ASK_EVERY", "ASK_EVERY_UNSETTLED", "ASKED_LASTS"):
        monkeypatch.setattr(waiting_module, name, 600.0)
    calm = threads.submit(session.receive, orders, wait=20)
    wait_until_awaited(db)
    one(db, "select howdah.send('orders', 'x')")
    assert calm.result()
    session.commit()
    monkeypatch.setattr(Session, "receive_now", looked)
    monkeypatch.setattr(Idle, "asked", noted)
    assert wait() == [], "senders still heed what the wait before had asked"
    monkeypatch.setattr(waiting_module, "ASKED_LASTS", 0.0)
    assert wait() == ["look"]


@pytest.mark.slow
def test_a_producer_that_took_long_wakes_at_its_commit(
    connection: Connection, orders: str, db: Db, threads: ThreadPoolExecutor, rare: set[Idle]
) -> None:
    received = receiving(threads, connection)
    wait_until(lambda: rare)
    with db.transaction():
        one(db, "select howdah.send('orders', 'x')")
        time.sleep(3)  # longer than senders heed what was asked
    assert received.result(10)


@pytest.mark.slow
def test_a_producer_that_sent_before_anybody_waited_is_not_forgotten(
    connection: Connection, orders: str, db: Db, threads: ThreadPoolExecutor, rare: set[Idle]
) -> None:
    with db.transaction():
        one(db, "select howdah.send('orders', 'x')")
        received = receiving(threads, connection)
        wait_until_awaited(db)
        time.sleep(1)  # it has asked again and again by then
        assert not received.done()
        assert not rare, "who sent may have done so before it was asked"
    assert received.result(10)


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
    time.sleep(1)
    assert one(db, "select pg_sequence_last_value(waiting) from howdah.destinations where name = 'orders'") is None
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


def test_a_session_in_the_callers_own_connection_looks_and_asks_nobody(orders: str, db: Db, connect_own: Db) -> None:
    with ThreadPoolExecutor() as threads:
        received = threads.submit(lambda: Session(connect_own).receive(orders, wait=10))
        time.sleep(0.5)
        assert one(db, "select pg_sequence_last_value(waiting) from howdah.destinations where name = 'orders'") is None
        one(db, "select howdah.send('orders', 'x')")
        assert received.result(10)


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
