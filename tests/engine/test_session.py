"""A session of its own: the verbs in one transaction."""

from __future__ import annotations

import time
from typing import Any

import psycopg
import pytest
from support import Db, column, one, stays

from howdah.engine import Connection, Message, Session, calls
from howdah.engine.errors import ConnectionLost, IllegalState, NoSuchQueue, TransactionRolledBack


def ids(messages: list[Message]) -> list[int]:
    return [message.message_id for message in messages]


def bodies(messages: list[Message]) -> list[Any]:
    return [message.body for message in messages]


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
    stays(lambda: column(db, "select message_id from howdah.msgs order by seq") == sent, 0.5)
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
