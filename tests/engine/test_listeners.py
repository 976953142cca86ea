"""Listeners: messages handed to functions on the session's own thread."""

from __future__ import annotations

import threading
import time
from typing import Any

import psycopg
import pytest
from support import Db, column, one, stays, wait_until

from howdah.engine import Connection, Message, connect
from howdah.engine.errors import IllegalState

SYSTEM = "_SYSTEM.Exception.Destination.%"


@pytest.mark.behaviour("IMQ-126")
def test_two_listeners_on_one_session_never_overlap(connection: Connection, orders: str) -> None:
    connection.admin.create_queue("bills")
    sent = {connection.send(queue, n) for n in range(10) for queue in (orders, "bills")}
    session = connection.session()
    running, overlaps = threading.Lock(), []
    handled: list[tuple[str, int]] = []

    def listener_of(name: str) -> Any:
        def listener(message: Message) -> None:
            if not running.acquire(blocking=False):
                overlaps.append(message)
                return
            time.sleep(0.005)
            handled.append((name, message.message_id))
            running.release()

        return listener

    # Two of one queue and one of another.
    for name, queue in (("first", orders), ("second", orders), ("third", "bills")):
        session.consumer(queue).listener = listener_of(name)
    wait_until(lambda: len(handled) == 20)
    session.close()
    assert overlaps == []
    assert {message_id for _, message_id in handled} == sent
    assert {name for name, _ in handled} == {"first", "second", "third"}


@pytest.mark.behaviour("IMQ-127")
def test_receive_and_listener_give_the_same_messages(connection: Connection, orders: str) -> None:
    connection.admin.create_queue("copy")
    for queue in (orders, "copy"):
        for n in range(20):
            connection.send(queue, {"n": n}, priority=n % 3, headers={"k": n})
    received, listened = [], []
    with connection.session() as session:
        consumer = session.consumer(orders)
        while message := consumer.receive_nowait():
            received.append((message.data, message.priority, message.headers))
            session.commit()
    with connection.session() as session:
        session.consumer("copy").listener = lambda m: listened.append((m.data, m.priority, m.headers))
        wait_until(lambda: len(listened) == 20)
    assert listened == received


@pytest.mark.behaviour("IMQ-132")
def test_a_listener_goes_on_after_its_connection_was_lost(connection: Connection, db: Db, orders: str) -> None:
    seen: list[Any] = []
    in_hand, go_on = threading.Event(), threading.Event()
    with connection.session() as session:

        def listener(message: Message) -> None:
            in_hand.set()
            if not seen:
                go_on.wait(20)
            seen.append(message.body)

        pid = session.connection.info.backend_pid
        session.consumer(orders).listener = listener
        connection.send(orders, "first")
        assert in_hand.wait(20)
        db.execute("select pg_terminate_backend(%s, 5000)", (pid,))  # with a message in hand
        go_on.set()
        wait_until(lambda: len(seen) == 2 and one(db, "select count(*) from howdah.msgs") == 0)
        db.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
            " where datname = current_database() and application_name = 'howdah'"
        )
        with psycopg.connect(db.info.dsn, password=db.info.password) as own:
            own.execute("select howdah.send(%s, 'second')", (orders,))
        wait_until(lambda: "second" in seen)
    assert seen == ["first", "first", "second"]
    assert one(db, "select count(*) from howdah.poison_details") == 0


def test_a_listener_goes_on_after_its_queue_was_paused(connection: Connection, orders: str) -> None:
    seen: list[Any] = []
    connection.admin.pause(orders, sending=False)
    with connection.session() as session:
        session.consumer(orders).listener = lambda m: seen.append(m.body)
        connection.send(orders, "x")
        stays(lambda: seen == [], 0.2)
        connection.admin.resume(orders)
        wait_until(lambda: seen == ["x"])


def test_a_session_with_listeners_belongs_to_their_thread(connection: Connection, orders: str) -> None:
    with connection.session() as session:
        consumer = session.consumer(orders)
        consumer.listener = print
        for verb in (
            session.commit,
            lambda: session.receive(orders),
            lambda: session.send(orders, "x"),
            lambda: session.connection,
            consumer.receive,
        ):
            with pytest.raises(IllegalState):
                verb()
        assert consumer.listener is print
    with connection.session(transacted=False) as session, pytest.raises(IllegalState):
        session.consumer(orders).listener = print


def test_close_lets_a_listener_finish_and_commit(connection: Connection, db: Db, orders: str) -> None:
    in_hand = threading.Event()
    session = connection.session()

    def slow(message: Message) -> None:
        in_hand.set()
        time.sleep(0.3)  # long enough for close to come meanwhile

    session.consumer(orders).listener = slow
    connection.send(orders, "x")
    assert in_hand.wait(20)
    session.close()
    assert session.closed
    assert one(db, "select count(*) from howdah.msgs") == 0


@pytest.mark.first_case
@pytest.mark.parametrize("what", ["session", "consumer", "connection"])
def test_a_listener_may_close_what_it_runs_on(dsn: str, db: Db, orders: str, what: str) -> None:
    with connect(dsn) as connection:
        sent = [connection.send(orders, n) for n in range(2)]
        session = connection.session()
        consumer = session.consumer(orders)
        closing = {"session": session, "consumer": consumer, "connection": connection}[what]
        done = threading.Event()

        def listener(message: Message) -> None:
            closing.close()  # type: ignore[attr-defined]
            done.set()

        consumer.listener = listener
        assert done.wait(20)
        session.close()
    # The one in hand was committed, the other was not touched.
    assert column(db, "select message_id from howdah.msgs") == sent[1:]
    with connect(dsn) as connection, connection.session() as session:
        assert [message.message_id for message in session.receive(orders, 5)] == sent[1:]


def test_a_consumer_closed_from_outside_gets_no_message_more(connection: Connection, orders: str) -> None:
    seen: list[Any] = []
    with connection.session() as session:
        consumer = session.consumer(orders)
        consumer.listener = lambda m: seen.append(m.body)
        connection.send(orders, "x")
        wait_until(lambda: seen == ["x"])
        consumer.close()
        connection.send(orders, "y")
        stays(lambda: seen == ["x"], 0.4)
        with pytest.raises(IllegalState):
            consumer.listener = print
        other = session.consumer(orders)
        other.listener = lambda m: seen.append(m.body)
        wait_until(lambda: seen == ["x", "y"])


@pytest.mark.behaviour("SIB-36")
@pytest.mark.behaviour("SIB-39")
def test_a_best_effort_message_is_consumed_before_its_listener_is_called(
    connection: Connection, orders: str, db: Db
) -> None:
    sent = connection.send(orders, "x", reliability="BEST_EFFORT_NONPERSISTENT")
    seen: list[int] = []

    def listener(message: Message) -> None:
        seen.append(one(db, "select count(*) from howdah.audit_messages"))
        raise RuntimeError("not today")

    with connection.session() as session:
        session.consumer(orders).listener = listener
        wait_until(lambda: one(db, "select count(*) from howdah.incidents('orders')") == 1)
    assert seen == [0]
    assert column(db, "select outcome from howdah.incidents('orders', %s)", (sent,)) == ["gone"]


def test_a_listener_may_commit_its_message_and_roll_back_what_comes_after_it(connection: Connection, db: Db) -> None:
    connection.admin.create_queue("two-steps")
    connection.send("two-steps", "a")
    done = threading.Event()

    def listener(message: Message) -> None:
        session.commit()
        session.send("two-steps", "b")
        session.rollback()
        done.set()

    with connection.session() as session:
        session.consumer("two-steps").listener = listener
        assert done.wait(20)
    assert column(db, "select count(*) from howdah.incidents()") == [0]
    assert column(db, "select body from howdah.browse('two-steps')") == []
