"""Listeners: messages handed to functions on the session's own thread."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any
from urllib.parse import urlencode

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from support import Db, column, one, wait_until

from howdah.engine import Connection, ConnectionFactory, Message, Reject, Retry, connect
from howdah.engine.aio import connect_async
from howdah.engine.errors import BadArgument, IllegalState, TransactionRolledBack

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


def test_a_failure_is_recorded_outside_and_the_message_dies_at_the_limit(
    connection: Connection, db: Db, orders: str
) -> None:
    connection.admin.alter_queue(orders, max_failed_deliveries=3)
    db.execute("create table account (note text)")
    bad, good = connection.send(orders, "bad"), connection.send(orders, "good")
    seen: list[tuple[Any, int]] = []
    with connection.session() as session:

        def listener(message: Message) -> None:
            session.connection.execute("insert into account values (%s)", (message.body,))
            seen.append((message.body, message.delivery_count))
            if message.body == "bad":
                raise ValueError(f"cannot use\x00 \ud800 {message.body}")

        session.consumer(orders).listener = listener
        wait_until(lambda: one(db, "select count(*) from account") == 1)
    assert seen == [("bad", 1), ("bad", 2), ("bad", 3), ("good", 1)]
    assert column(db, "select note from account") == ["good"]
    incidents = connection.admin.incidents(orders)
    assert [row["attempt"] for row in incidents] == [3, 2, 1]
    assert {row["message"] for row in incidents} == {bad}
    assert {(row["error_class"], row["error_text"]) for row in incidents} == {
        ("ValueError", "cannot use\\0 \\ud800 bad")
    }
    assert "raise ValueError" in incidents[0]["traceback"]
    assert one(db, "select count(*) from howdah.msgs where message_id = %s and dead_at is not null", (bad,)) == 1
    assert one(db, "select count(*) from howdah.msgs where message_id = %s", (good,)) == 0


@pytest.mark.parametrize("headers", ['{"n": 1e5000}', '{"n": ' + "[" * 3000 + "]" * 3000 + "}"])
def test_a_message_whose_headers_python_cannot_decode_dies_at_the_limit(
    connection: Connection, db: Db, orders: str, headers: str
) -> None:
    bad = one(db, "select howdah.send('orders', 'bad', headers => %s::jsonb)", (headers,))
    with connection.session() as session:

        def listener(message: Message) -> None:
            raise KeyError("no such customer")

        session.consumer(orders).listener = listener
        wait_until(lambda: one(db, "select count(*) from howdah.msgs where dead_at is not null") == 1)
    incidents = connection.admin.incidents(orders)
    assert {(row["message"], row["error_class"]) for row in incidents} == {(bad, "KeyError")}


def test_one_database_connection_is_enough_for_a_listener_that_fails(dsn: str, db: Db, orders: str) -> None:
    with connect(dsn, max_size=1, timeout=2) as connection:
        connection.send(orders, "bad")
        session = connection.session()

        def listener(message: Message) -> None:
            raise ValueError

        session.consumer(orders).listener = listener
        wait_until(lambda: one(db, "select count(*) from howdah.poison_details") == 5)
        session.close()
    assert one(db, "select count(*) from howdah.msgs where dead_at is not null") == 1


def test_a_commit_that_fails_counts_as_a_failure(connection: Connection, db: Db, orders: str) -> None:
    connection.admin.alter_queue(orders, max_failed_deliveries=1)
    db.execute("create table once (n integer unique deferrable initially deferred); insert into once values (1)")
    connection.send(orders, 1)
    with connection.session() as session:
        session.consumer(orders).listener = lambda m: session.connection.execute("insert into once values (1)")
        wait_until(lambda: one(db, "select count(*) from howdah.msgs where dead_at is not null") == 1)
    assert [row["sqlstate"] for row in connection.admin.incidents(orders)] == ["23505"]


def test_errors_that_blame_no_message_are_retried_without_an_incident(
    connection: Connection, db: Db, orders: str
) -> None:
    connection.send(orders, "x")
    seen: list[int] = []
    with connection.session() as session:

        def listener(message: Message) -> None:
            seen.append(message.delivery_count)
            if len(seen) == 1:
                raise psycopg.errors.DeadlockDetected("deadlock")
            if len(seen) == 2:
                raise RuntimeError("wrapped") from psycopg.errors.LockNotAvailable("lock timeout")

        session.consumer(orders).listener = listener
        wait_until(lambda: len(seen) == 3)
    assert seen == [1, 1, 1]
    assert connection.admin.incidents(orders) == []


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
        time.sleep(0.2)
        assert seen == []
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
        time.sleep(0.3)

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
        time.sleep(0.4)
        assert seen == ["x"]
        with pytest.raises(IllegalState):
            consumer.listener = print
        other = session.consumer(orders)
        other.listener = lambda m: seen.append(m.body)
        wait_until(lambda: seen == ["x", "y"])


def test_a_listener_that_calls_exit_has_failed_and_ends_nothing(connection: Connection, orders: str) -> None:
    seen: list[Any] = []

    def listener(message: Message) -> None:
        if message.body == "x":
            raise SystemExit(3)
        seen.append(message.body)

    connection.send(orders, "x")
    connection.send(orders, "y")
    with connection.session() as session:
        session.consumer(orders).listener = listener
        wait_until(lambda: seen == ["y"])
    assert {row["error_class"] for row in connection.admin.incidents(orders)} == {"SystemExit"}


def test_a_listener_rejects_and_retries_by_raising_and_by_rules(connection: Connection, db: Db, orders: str) -> None:
    for body in ("reject", "retry", "rule", "good"):
        connection.send(orders, body)
    seen: list[tuple[Any, int]] = []

    def listener(message: Message) -> None:
        seen.append((message.body, message.delivery_count))
        match message.body:
            case "reject":
                raise Reject("unusable") from LookupError("none")
            case "retry":
                raise Retry(after=3600)
            case "rule":
                raise KeyError("missing")

    with connection.session() as session:
        session.listen(orders, listener, rules=[(LookupError, Reject)])
        wait_until(lambda: len(seen) == 4)
    assert [body for body, _ in seen] == ["reject", "retry", "rule", "good"]
    assert {count for _, count in seen} == {1}
    assert {(row["error_class"], row["outcome"]) for row in connection.admin.incidents(orders)} == {
        ("LookupError", "moved"),
        ("Retry", "delayed"),
        ("KeyError", "moved"),
    }
    with connection.session() as session, pytest.raises(BadArgument, match="not an outcome"):
        session.listen(orders, listener, rules=[(LookupError, "never")])


def test_who_receives_by_himself_records_with_the_same_outcomes(connection: Connection, db: Db, orders: str) -> None:
    connection.send(orders, "x")
    connection.send(orders, "y")
    with connection.session() as session:
        (message,) = session.receive(orders)
        session.rollback()
    assert connection.record_failure(message, psycopg.errors.DeadlockDetected("deadlock")) is None
    incident = connection.record_failure(message, ValueError("x"), [(ValueError, Reject)])
    assert incident is not None
    assert (incident.message_id, incident.attempt, incident.outcome) == (message.message_id, 1, "moved")
    with connection.session() as session:
        (other,) = session.receive(orders)
        session.rollback()

    async def record() -> str:
        async with connect_async(db.info.dsn + f" password={db.info.password}") as asynchronous:
            incident = await asynchronous.record_failure(other, Retry(after=60))
            assert incident is not None
            return incident.outcome

    assert asyncio.run(record()) == "delayed"
    assert one(db, "select count(*) from howdah.poison_details") == 2


@pytest.mark.first_case
@pytest.mark.behaviour("AMQ-80")
@pytest.mark.parametrize(
    "written", ["url", "argument", pytest.param("factory", marks=pytest.mark.behaviour("AMQ-115"))]
)
def test_a_connection_may_have_a_limit_of_redeliveries_of_its_own(dsn: str, orders: str, db: Db, written: str) -> None:
    one(db, "select howdah.alter_queue('orders', '{\"max_failed_deliveries\": 0}')")
    url = "postgresql://?" + urlencode(conninfo_to_dict(dsn))
    option = "&jms.redeliveryPolicy.maximumRedeliveries=3"
    deliveries: list[int] = []

    def fail(message: Message) -> None:
        deliveries.append(message.delivery_count)
        raise ValueError("no")

    ways = {
        "url": lambda: connect(url + option),
        "argument": lambda: connect(dsn, max_redeliveries=3),
        "factory": ConnectionFactory(dsn, max_redeliveries=3).create_connection,
    }
    with ways[written]() as connection:
        connection.start()
        sent = connection.send(orders, "x")
        connection.session().consumer(orders).listener = fail
        wait_until(lambda: column(db, "select message_id from howdah.audit_messages where state = 'dead'") == [sent])
    assert deliveries == [1, 2, 3, 4]


def test_a_limit_of_redeliveries_is_a_number(dsn: str) -> None:
    for wrong in (-2, "many"):
        with pytest.raises(BadArgument, match="max_redeliveries"):
            connect(dsn, max_redeliveries=wrong)  # type: ignore[arg-type]


@pytest.mark.behaviour("AMQ-108")
def test_a_message_rolled_back_again_and_again_shows_it_in_every_session(connection: Connection, orders: str) -> None:
    connection.send(orders, "x")
    redeliveries = []
    for number in range(5):
        with connection.session() as session:
            (message,) = session.receive(orders)
            redeliveries.append(message.delivery_count - 1)
            assert message.redelivered is (number > 0)
            session.rollback()
        connection.record_failure(message, ValueError("no"))
    assert redeliveries == [0, 1, 2, 3, 4]


def test_who_blames_what_was_processed_after_a_rollback_leaves_the_rest_unblamed(
    connection: Connection, orders: str
) -> None:
    with connection.session() as session:
        session.send_many(orders, [str(number) for number in range(10)])
        session.commit()
        prefetched = session.receive(orders, 10)
        session.rollback()
        for processed in prefetched[:2]:
            connection.record_failure(processed, ValueError("no"))
        again = session.receive(orders, 10)
        assert [message.message_id for message in again] == [message.message_id for message in prefetched]
        assert [message.delivery_count - 1 for message in again] == [1, 1] + [0] * 8


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


@pytest.mark.parametrize("how", ["swallows an error of a statement", "rolls back", "swallows that of the commit"])
def test_a_listener_after_which_nothing_can_be_committed_has_failed(
    connection: Connection, db: Db, orders: str, how: str
) -> None:
    connection.admin.alter_queue(orders, max_failed_deliveries=2)
    sent = connection.send(orders, "bad")
    seen: list[int] = []

    def listener(message: Message) -> None:
        seen.append(message.delivery_count)
        if how == "rolls back":
            session.rollback()
            return
        with pytest.raises(psycopg.errors.DivisionByZero):
            session.connection.execute("select 1 / 0")
        if how == "swallows that of the commit":
            with pytest.raises(TransactionRolledBack):
                session.commit()

    with connection.session() as session:
        session.consumer(orders).listener = listener
        wait_until(lambda: column(db, "select count(*) from howdah.incidents()") == [2])
    assert seen == [1, 2]
    assert column(db, "select distinct message_id from howdah.poison_details") == [sent]
    assert column(db, "select distinct error_class from howdah.incidents()") == ["TransactionRolledBack"]


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
