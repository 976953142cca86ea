"""A transacted session consumes all that it received at its commit, and a rollback delivers it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest
from ack_support import READY, consumed, numbers, send, take
from psycopg.types.json import Jsonb
from support import Clock, Db, column, one

from howdah.engine import AckSession, AckType, Connection, connect
from howdah.engine.errors import TransactionRolledBack


@pytest.mark.behaviour("AMQ-98")
@pytest.mark.behaviour("AMQ-106")
def test_a_transaction_acknowledges_all_that_it_received_or_nothing(
    connection: Connection, orders: str, db: Db
) -> None:
    sent = send(connection, orders, 4)
    with connection.jms_session(transacted=True) as session:
        consumer = session.consumer(orders, prefetch=10, optimize_acknowledge=True)
        for _ in range(3):
            assert consumer.receive(5) is not None
        session.send(orders, "more")
        assert consumed(db) == []
        session.rollback()
        assert len(column(db, READY)) == 0, "what was sent was not"
        again = [consumer.receive(5) for _ in range(3)]
        assert [message and message.message_id for message in again] == sent[:3]
        session.send(orders, "more")
        session.commit()
        assert consumed(db) == sent[:3]
        assert len(column(db, READY)) == 1
        assert session.acks == {AckType.REDELIVERED: 1, AckType.STANDARD: 1}


@pytest.mark.slow
@pytest.mark.behaviour("AMQ-106")
def test_a_session_that_dies_after_two_of_three_has_consumed_none(
    dsn: str, connection: Connection, orders: str, clock: Clock, db: Db
) -> None:
    sent = send(connection, orders, 3)
    vanish(dsn, lambda session: take(session, orders, 2), transacted=True)
    clock.advance(61)
    with connection.jms_session(transacted=True) as session:
        assert numbers(take(session, orders, 3)) == sent
        session.commit()
    assert consumed(db) == sent


def vanish(dsn: str, use: Callable[[AckSession], object], **how: object) -> None:
    """Have a session do something and vanish without a word, as if its process were killed."""
    connection = connect(dsn)
    session = connection.jms_session(**how)  # type: ignore[arg-type]
    use(session)
    connection.keeper.stop()
    connection.pool.close()


@pytest.mark.behaviour("AMQ-99")
def test_a_commit_that_the_database_refuses_is_rolled_back_and_redelivered(
    connection: Connection, orders: str, db: Db
) -> None:
    db.execute("create table paid (id int primary key deferrable initially deferred)")
    sent = send(connection, orders, 2)
    with connection.jms_session(transacted=True) as session:
        consumer = session.consumer(orders, prefetch=10)
        message = consumer.receive(5)
        session.connection.execute("insert into paid values (1), (1)")
        with pytest.raises(TransactionRolledBack, match="paid_pkey"):
            session.commit()
        assert consumed(db) == []
        again = consumer.receive(5)
        assert message is not None
        assert again is not None
        assert (again.message_id, again.delivery_count, again.redelivered) == (sent[0], 2, True)
        session.connection.execute("insert into paid values (1)")
        session.commit()
        assert consumed(db) == sent[:1]
        assert one(db, "select error_class from howdah.poison_details") == "UniqueViolation"
        assert one(db, "select count(*) from paid") == 1


def test_a_commit_after_a_failed_statement_is_no_success(connection: Connection, orders: str) -> None:
    with connection.jms_session(transacted=True) as session:
        with pytest.raises(Exception, match="division"):
            session.connection.execute("select 1/0")
        with pytest.raises(TransactionRolledBack):
            session.commit()
        session.send(orders, "x")
        session.commit()


@pytest.mark.first_case
@pytest.mark.behaviour("AMQ-107")
@pytest.mark.parametrize(
    "options", [{}, {"preset": "activemq", "initial_redelivery_delay_ms": 0, "redelivery_delay_ms": 0}]
)
def test_a_rollback_delivers_what_was_processed_again_first_and_leaves_the_rest_unchanged(
    connection: Connection, orders: str, db: Db, options: dict[str, Any]
) -> None:
    one(db, "select howdah.alter_queue(%s, %s)", (orders, Jsonb(options)))
    sent = send(connection, orders, 10)
    with connection.jms_session(transacted=True) as session, connection.jms_session() as other:
        consumer = session.consumer(orders, prefetch=10)
        for _ in range(2):
            assert consumer.receive(5) is not None
        session.rollback()
        assert other.consumer(orders).receive_nowait() is None, "they are this session's"
        again = [consumer.receive(5) for _ in range(10)]
        assert [m and m.message_id for m in again] == sent
        assert [m and m.delivery_count - 1 for m in again] == [1, 1] + [0] * 8


@pytest.mark.slow
@pytest.mark.behaviour("AMQ-108")
@pytest.mark.parametrize("preset", ["howdah", "activemq"])
def test_a_message_rolled_back_again_and_again_counts_it(
    connection: Connection, orders: str, db: Db, preset: str
) -> None:
    one(db, "select howdah.alter_queue(%s, jsonb_build_object('preset', %s::text))", (orders, preset))
    connection.send(orders, "x")
    redeliveries = []
    with connection.jms_session(transacted=True) as session:
        consumer = session.consumer(orders)
        for _ in range(5):
            message = consumer.receive(5)
            assert message is not None
            redeliveries.append(message.delivery_count - 1)
            session.rollback()
    assert redeliveries == [0, 1, 2, 3, 4]


@pytest.mark.first_case
@pytest.mark.behaviour("AMQ-116")
@pytest.mark.parametrize("backout_count", ["volatile", "recorded"])
def test_a_rollback_counts_for_the_session_and_by_the_queues_backout_count_for_the_sessions_after_it(
    dsn: str, connection: Connection, orders: str, db: Db, backout_count: Literal["volatile", "recorded"]
) -> None:
    connection.admin.alter_queue(orders, backout_count=backout_count)
    connection.send(orders, "x")
    connection.send(orders, "behind it")
    counts = []
    with connection.jms_session(transacted=True) as session:
        consumer = session.consumer(orders, prefetch=2)
        for _ in range(2):
            message = consumer.receive(5)
            assert message is not None
            counts.append(message.delivery_count - 1)
            session.rollback()
    with connect(dsn) as later, later.jms_session(transacted=True) as session:
        consumer = session.consumer(orders, prefetch=2)
        messages = [consumer.receive(5) for _ in range(2)]
        counts += [message.delivery_count - 1 for message in messages if message is not None]
    assert counts == [0, 1, 2, 0], (
        "in ActiveMQ a new connection begins at 0; here the server counts, and only what was processed"
    )
    # As after the server's next start: a volatile count does not outlive it, the others do.
    db.execute("update howdah.poison_details set boot = boot - interval '1 hour'")
    with connection.jms_session(transacted=True) as session:
        message = session.consumer(orders).receive(5)
        assert message is not None
        assert message.delivery_count == (1 if backout_count == "volatile" else 4), (
            "the session that was closed counts too"
        )
