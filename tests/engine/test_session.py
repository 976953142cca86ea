"""A session: the verbs in one transaction, the caller's or its own."""

from __future__ import annotations

import re
import threading
import time
from typing import Any

import psycopg
import pytest
from support import Connect, Db, column, one, wait_until, wait_until_blocked

from howdah.engine import Connection, Message, Session, calls, connect
from howdah.engine.database.waiting import Idle
from howdah.engine.errors import ConnectionLost, IllegalState, NoSuchQueue, TransactionRolledBack
from howdah.procedures import FILES, source


def ids(messages: list[Message]) -> list[int]:
    return [message.message_id for message in messages]


def bodies(messages: list[Message]) -> list[Any]:
    return [message.body for message in messages]


# -- the caller's connection ------------------------------------------------------------------------------------------


def test_business_row_and_message_commit_together(db: Db, dsn: str, orders: str) -> None:
    db.execute("create table account (balance integer)")
    with psycopg.connect(dsn) as own:
        own.execute("insert into account values (1)")
        sent = Session(own).send(orders, "paid")
        assert column(db, "select message_id from howdah.browse(%s)", (orders,)) == []
        own.commit()
        assert column(db, "select message_id from howdah.browse(%s)", (orders,)) == [sent]
        assert ids(Session(own).receive(orders)) == [sent]
        own.execute("update account set balance = 2")
        own.rollback()
        assert one(db, "select balance from account") == 1
        assert column(db, "select message_id from howdah.browse(%s)", (orders,)) == [sent]


def test_a_session_in_the_callers_connection_never_ends_its_transaction(dsn: str, orders: str) -> None:
    with psycopg.connect(dsn) as own:
        session = Session(own)
        session.send(orders, "x")
        for verb in (session.commit, session.rollback):
            with pytest.raises(IllegalState):
                verb()
        with pytest.raises(IllegalState):
            session.listen(orders, print)
        session.close()
        assert not own.closed
        assert own.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS


def test_row_factories_and_prepared_statements_of_the_caller_do_not_matter(dsn: str, orders: str) -> None:
    with psycopg.connect(dsn, row_factory=psycopg.rows.dict_row, prepare_threshold=0) as own:
        session = Session(own)
        sent = session.send_many(orders, ["a", "b"])
        assert ids(session.receive(orders, 5)) == sent
    with psycopg.connect(dsn, cursor_factory=psycopg.ClientCursor) as own:
        session = Session(own)
        session.send(orders, {"a": [1, "ü", b"x".decode()]}, headers={"h": 1}, priority=7)
        (message,) = session.receive(orders)
        assert (message.data, message.headers, message.priority) == ({"a": [1, "ü", "x"]}, {"h": 1}, 7)


@pytest.mark.slow
def test_prepared_statements_survive_a_new_installation_and_a_type_that_grew(db: Db, dsn: str, orders: str) -> None:
    with psycopg.connect(dsn, autocommit=True, prepare_threshold=0) as own:
        session = Session(own)

        def once() -> Any:
            session.send(orders, "x")
            assert bodies(session.browse(orders)) == ["x"]
            return bodies(session.receive(orders))

        assert [once() for _ in range(8)] == [["x"]] * 8
        for growth, last in (("", r"\1"), ("alter type howdah.message add attribute extra text", r"\1, null")):
            # As a migration does it: all procedures anew, in one transaction.
            with db.transaction():
                db.execute(growth.encode())
                for file in FILES:
                    level = r"howdah\._level_name\(\w+\.reliability, [\w.]+\)|'RELIABLE_PERSISTENT' end"
                    ends = rf"({level}|m\.dead_at, m\.reliability)(?=\n|\)::howdah\.message)"
                    text = re.sub(ends, last, source(file))
                    # The one function that names a message's attributes in their order.
                    text = text.replace("reliability, read_count", "reliability, extra, read_count") if growth else text
                    db.execute(text.encode())
            assert [once() for _ in range(8)] == [["x"]] * 8


# -- a session of its own ---------------------------------------------------------------------------------------------


@pytest.mark.behaviour("AMQ-06")
def test_a_transacted_session_holds_one_transaction(connection: Connection, db: Db, orders: str) -> None:
    with connection.session() as session:
        assert session.transacted
        session.send(orders, 1)
        first = one(session.connection, "select pg_current_xact_id()::text")
        session.send(orders, 2)
        assert len(session.receive(orders, 5)) == 2
        assert one(session.connection, "select pg_current_xact_id()::text") == first
        session.commit()
        session.send(orders, 3)
        assert one(session.connection, "select pg_current_xact_id()::text") != first
        session.rollback()
        assert session.receive(orders) == []
    with connection.session(transacted=False) as session:
        session.send(orders, 4)
        assert one(db, "select count(*) from howdah.msgs") == 1
        assert len(session.receive(orders)) == 1
        assert one(db, "select count(*) from howdah.msgs") == 0
        for verb in (session.commit, session.rollback):
            with pytest.raises(IllegalState):
                verb()
        with pytest.raises(IllegalState), session.transaction():
            pass


@pytest.mark.behaviour("AMQ-10")
def test_without_commit_the_consumer_receives_nothing(connection: Connection, orders: str) -> None:
    with connection.session() as sending, connection.session() as receiving:
        consumer = receiving.consumer(orders)
        sent = sending.send(orders, "x")
        started = time.monotonic()
        assert consumer.receive(0.3) is None
        assert time.monotonic() - started >= 0.3
        sending.commit()
        message = consumer.receive(5)
        assert message is not None
        assert message.message_id == sent


@pytest.mark.behaviour("IMQ-123")
def test_without_a_consumer_nothing_leaves_the_table(connection: Connection, db: Db, orders: str) -> None:
    with connection.session() as session, session.transaction():
        sent = session.send_many(orders, ["a", "b", "c"])
        list(session.browser(orders))
    time.sleep(0.5)
    assert column(db, "select message_id from howdah.msgs order by seq") == sent
    assert one(db, "select count(*) from howdah.journal where event <> 'sent'") == 0


@pytest.mark.behaviour("IMQ-128")
def test_a_message_whose_client_vanished_is_delivered_again(connection: Connection, db: Db, orders: str) -> None:
    sent = connection.send(orders, "x")
    gone = connection.session()
    assert ids(gone.receive(orders)) == [sent]
    with connection.session() as other:
        assert other.receive(orders) == []
        db.execute("select pg_terminate_backend(%s, 5000)", (gone.connection.info.backend_pid,))
        assert ids(other.receive(orders, wait=5)) == [sent]
        other.commit()
    with pytest.raises(ConnectionLost):
        gone.commit()
    gone.close()
    with connection.session() as new:
        assert new.receive(orders) == []


def test_a_lost_session_says_so_and_a_new_one_works(connection: Connection, db: Db, orders: str) -> None:
    # Several: those idle in the pool are lost with the one in use.
    several = [connection.session() for _ in range(3)]
    for session in several[1:]:
        session.close()
    db.execute(
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
        " where datname = current_database() and application_name = 'howdah'"
    )
    with pytest.raises(ConnectionLost):
        several[0].send(orders, "x")
    with pytest.raises(ConnectionLost):
        several[0].rollback()
    several[0].close()
    for _ in range(4):
        with connection.session() as session, session.transaction():
            session.send(orders, "y")
    assert one(db, "select count(*) from howdah.msgs") == 4


def test_a_block_commits_or_rolls_back(connection: Connection, orders: str) -> None:
    def send_and_fail(session: Session) -> None:
        with session.transaction():
            session.send(orders, "b")
            _ = 1 / 0

    with connection.session() as session:
        with session.transaction():
            session.send(orders, "a")
        with pytest.raises(ZeroDivisionError):
            send_and_fail(session)
        with session.transaction():
            assert bodies(session.receive(orders, 5)) == ["a"]
        assert session.receive(orders) == []


def test_the_blocks_own_error_is_seen_when_the_connection_is_lost_too(
    connection: Connection, db: Db, orders: str
) -> None:
    def lose(session: Session) -> None:
        with session.transaction():
            db.execute("select pg_terminate_backend(%s, 5000)", (session.connection.info.backend_pid,))
            _ = 1 / 0

    with connection.session() as session, pytest.raises(ZeroDivisionError):
        lose(session)


def test_a_refused_first_call_leaves_no_broken_transaction(connection: Connection, orders: str) -> None:
    with connection.session() as session:
        with pytest.raises(NoSuchQueue):
            session.send("nowhere", "x")
        session.send(orders, "y")
        with pytest.raises(NoSuchQueue):
            session.send("nowhere", "x")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            session.send(orders, "z")  # y would be lost unseen if this went on
        session.rollback()
        assert session.receive(orders) == []


def test_looking_leaves_no_transaction_open(connection: Connection, orders: str) -> None:
    with connection.session() as session:
        idle = psycopg.pq.TransactionStatus.IDLE
        session.receive(orders)
        assert session.connection.info.transaction_status == idle
        session.browse(orders)
        assert session.connection.info.transaction_status == idle
        session.send(orders, "x")
        session.browse(orders)
        assert session.connection.info.transaction_status != idle


@pytest.mark.behaviour("WAS-06")
def test_the_third_delivery_of_a_message_rejected_twice_says_two_redeliveries(
    connection: Connection, orders: str
) -> None:
    connection.send(orders, "rejected")
    counts = []
    with connection.session() as session:
        for _ in range(3):
            (message,) = session.receive(orders)
            counts.append((message.delivery_count, message.redelivery_count))
            session.rollback()
            connection.call(calls.record_failures(orders, [{"message_id": message.message_id}]))
    assert counts == [(1, 0), (2, 1), (3, 2)]
    assert "redelivery_count" not in message.to_dict()


def test_a_receive_that_only_disposes_keeps_what_it_did(connection: Connection, db: Db, orders: str) -> None:
    connection.admin.alter_queue(orders, max_failed_deliveries=1)
    connection.send(orders, "poison")
    with connection.session() as session:
        (message,) = session.receive(orders)
        # Recorded while it is held, so that the next receive has to decide.
        (incident,) = connection.call(calls.record_failures(orders, [{"message_id": message.message_id}]))
        assert incident.outcome == "held"
        session.rollback()
        assert session.receive(orders) == []
    assert one(db, "select count(*) from howdah.msgs where dead_at is not null") == 1


# -- waiting and closing ----------------------------------------------------------------------------------------------


@pytest.mark.first_case
@pytest.mark.behaviour("AMQ-11")
@pytest.mark.parametrize("what", ["session", "consumer", "connection"])
def test_receive_blocks_and_close_from_another_thread_ends_it(
    dsn: str, orders: str, what: str, rare: set[Idle]
) -> None:
    with connect(dsn) as connection:
        session = connection.session()
        consumer = session.consumer(orders)
        received: list[Message | None] = []
        thread = threading.Thread(target=lambda: received.extend(consumer.receive() for _ in range(2)))
        thread.start()
        wait_until(lambda: rare)
        assert received == []
        sent = connection.send(orders, "x")
        wait_until(lambda: received and rare)
        closed = {"session": session, "consumer": consumer, "connection": connection}[what]
        closed.close()  # type: ignore[attr-defined]
        thread.join(10)
        assert not thread.is_alive(), "by itself it would have looked again after half a minute"
        first, second = received
        assert first is not None
        assert (first.message_id, second) == (sent, None)
        assert consumer.receive() is None
        assert list(consumer) == []


def test_close_waits_for_a_statement_under_way_and_commits_nothing(
    connection: Connection, db: Db, connect: Connect, orders: str
) -> None:
    session = connection.session()
    blocker = connect()
    blocker.execute("begin; lock table howdah.msgs")
    errors: list[BaseException] = []

    def send_and_commit() -> None:
        try:
            session.send(orders, "y")
            session.commit()
        except IllegalState as error:
            errors.append(error)

    sending = threading.Thread(target=send_and_commit)
    sending.start()
    wait_until_blocked(db, session.connection)
    closing = threading.Thread(target=session.close)
    closing.start()
    time.sleep(0.1)
    assert closing.is_alive()
    blocker.execute("rollback")
    for thread in (sending, closing):
        thread.join(20)
        assert not thread.is_alive()
    assert len(errors) == 1
    assert one(db, "select count(*) from howdah.msgs") == 0


def test_ten_threads_closing_give_the_connection_back_once(dsn: str) -> None:
    with connect(dsn, max_size=1, timeout=5) as connection:
        session = connection.session()
        threads = [threading.Thread(target=session.close) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        connection.session().close()
        assert connection.pool.get_stats()["pool_size"] == 1


def test_a_closed_session_refuses(connection: Connection, orders: str) -> None:
    session = connection.session()
    session.close()
    session.close()
    assert session.closed
    assert session.receive(orders, wait=5) == []
    for verb in (
        lambda: session.send(orders, "x"),
        lambda: session.browse(orders),
        lambda: session.receive_now(orders),
        lambda: session.listen(orders, print),
        lambda: session.connection,
        session.commit,
        session.rollback,
    ):
        with pytest.raises(IllegalState, match="closed"):
            verb()


def test_close_rolls_back(connection: Connection, db: Db, orders: str) -> None:
    with connection.session() as session:
        session.send(orders, "x")
    wait_until(lambda: one(db, "select count(*) from howdah.msgs") == 0)


def test_a_commit_after_a_statement_that_failed_says_that_all_is_undone(connection: Connection, orders: str) -> None:
    def overlook(session: Session) -> None:
        session.send(orders, "lost")
        with pytest.raises(psycopg.errors.DivisionByZero):
            session.connection.execute("select 1 / 0")

    def in_a_block(session: Session) -> None:
        with session.transaction():
            overlook(session)

    with connection.session() as session:
        overlook(session)
        with pytest.raises(TransactionRolledBack, match="a statement of the transaction had failed"):
            session.commit()
        with pytest.raises(TransactionRolledBack):
            in_a_block(session)
        session.send(orders, "kept")
        session.commit()
        assert bodies(session.receive(orders, 9)) == ["kept"]
