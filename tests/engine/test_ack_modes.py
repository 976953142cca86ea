"""Sessions with acknowledge modes: when a message counts as consumed, in each of the five modes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Literal

import pytest
from psycopg.types.json import Jsonb
from support import Clock, Db, column, one, wait_until

from howdah.engine import AckMode, AckSession, AckType, Connection, Delivery, connect
from howdah.engine.errors import BadArgument, IllegalState, TransactionRolledBack

READY = "select message_id from howdah.browse('orders', 1000)"
"""What nobody has received or leased, in order."""


def send(connection: Connection, queue: str, number: int) -> list[int]:
    with connection.session() as session, session.transaction():
        return session.send_many(queue, [str(n) for n in range(number)])


def numbers(messages: list[Delivery]) -> list[int]:
    return [message.message_id for message in messages]


def take(session: AckSession, queue: str, number: int, prefetch: int = 100) -> list[Delivery]:
    """So many messages by a new consumer."""
    consumer = session.consumer(queue, prefetch=prefetch)
    found = [consumer.receive(5) for _ in range(number)]
    return [message for message in found if message is not None]


def consumed(db: Db) -> list[int]:
    return column(
        db, "select i.id from howdah.journal j, unnest(j.message_ids) i(id) where j.event = 'consumed' order by 1"
    )


def leased(db: Db) -> int:
    found: int = one(db, "select coalesce(sum(messages), 0)::int from howdah.list_leases('orders')")
    return found


@pytest.mark.behaviour("AMQ-86")
@pytest.mark.behaviour("AMQ-101")
@pytest.mark.behaviour("IMQ-23")
def test_modes_and_kinds_of_acknowledgement_have_their_numbers(connection: Connection) -> None:
    assert {mode.name: int(mode) for mode in AckMode} == {
        "SESSION_TRANSACTED": 0,
        "AUTO": 1,
        "CLIENT": 2,
        "DUPS_OK": 3,
        "INDIVIDUAL": 4,
    }
    assert {kind.name: int(kind) for kind in AckType} == {
        "DELIVERED": 0,
        "POISON": 1,
        "STANDARD": 2,
        "REDELIVERED": 3,
        "INDIVIDUAL": 4,
        "UNMATCHED": 5,
        "EXPIRED": 6,
    }
    for mode in range(1, 5):
        with connection.jms_session(mode=mode) as session:
            assert session.mode == mode


@pytest.mark.behaviour("AMQ-102")
def test_a_mode_is_fixed_and_transacted_sessions_alone_have_theirs(connection: Connection, orders: str) -> None:
    with connection.jms_session(transacted=True, mode=AckMode.CLIENT) as session:
        assert session.mode is AckMode.SESSION_TRANSACTED
    for wrong in (AckMode.SESSION_TRANSACTED, 5, -1):
        with pytest.raises(BadArgument):
            connection.jms_session(mode=wrong)
    with connection.jms_session() as session:
        consumer = session.consumer(orders)
        consumer.listener = lambda message: None
        with pytest.raises(IllegalState, match="listener"):
            consumer.receive(0)
        for verb in (session.commit, session.rollback):
            with pytest.raises(IllegalState):
                verb()
    with connection.jms_session(transacted=True) as session, pytest.raises(IllegalState):
        session.recover()


KILLED_AFTER_RECEIVING = """
import os, signal
from howdah.engine import connect
assert connect().jms_session().consumer("orders", prefetch=100).receive(5)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.behaviour("AMQ-87")
def test_auto_has_acknowledged_before_receive_returns_and_a_death_after_it_brings_nothing_back(
    dsn: str, connection: Connection, orders: str, clock: Clock, db: Db
) -> None:
    sent = send(connection, orders, 3)
    command = [sys.executable, "-c", KILLED_AFTER_RECEIVING]
    killed = subprocess.run(command, env=os.environ | {"HOWDAH_DSN": dsn}, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert consumed(db) == sent[:1]
    assert leased(db) == 2
    clock.advance(61)
    with connection.jms_session() as session:
        consumer = session.consumer(orders)
        again = [consumer.receive(5), consumer.receive(5)]
        assert [message and message.message_id for message in again] == sent[1:]
        assert consumer.receive(0) is None
    assert consumed(db) == sent


def test_closing_after_an_automatic_acknowledgement_gives_back_what_was_ahead_unharmed(
    connection: Connection, orders: str, db: Db
) -> None:
    sent = send(connection, orders, 3)
    with connection.jms_session() as session:
        assert numbers(take(session, orders, 1)) == sent[:1]
        assert leased(db) == 2
    assert column(db, READY) == sent[1:]
    assert one(db, "select count(*) from howdah.poison_details") == 0


@pytest.mark.behaviour("AMQ-88")
def test_auto_acknowledges_after_the_listener_and_delivers_again_what_it_refused(
    connection: Connection, orders: str, db: Db
) -> None:
    sent = send(connection, orders, 2)
    seen: list[tuple[int, int, bool, int]] = []

    def listener(message: Delivery) -> None:
        seen.append((message.message_id, message.delivery_count, message.redelivered, len(consumed(db))))
        if len(seen) == 1:
            raise ValueError("no")

    with connection.jms_session() as session:
        session.consumer(orders, prefetch=10).listener = listener
        wait_until(lambda: len(consumed(db)) == 2)
        # The listener's thread counts when the server has answered.
        wait_until(lambda: session.acks == {AckType.STANDARD: 2, AckType.REDELIVERED: 1})
    assert seen == [(sent[0], 1, False, 0), (sent[0], 2, True, 0), (sent[1], 1, False, 1)]
    assert one(db, "select error_class from howdah.poison_details") == "ValueError"


@pytest.mark.behaviour("AMQ-90")
def test_client_acknowledges_nothing_until_it_says_so(connection: Connection, orders: str, db: Db) -> None:
    sent = send(connection, orders, 3)
    with connection.jms_session(mode=AckMode.CLIENT) as session:
        take(session, orders, 2)
        assert consumed(db) == []
    with connection.jms_session(mode=AckMode.CLIENT) as session:
        again = take(session, orders, 3)
        assert numbers(again) == sent
        assert [message.redelivered for message in again] == [True, True, False]
        again[0].acknowledge()
        assert consumed(db) == sent
    assert column(db, READY) == []


@pytest.mark.behaviour("AMQ-91")
def test_acknowledging_a_message_acknowledges_all_that_the_session_delivered(
    connection: Connection, orders: str, db: Db
) -> None:
    connection.admin.create_queue("other")
    sent = send(connection, orders, 2) + send(connection, "other", 2)
    with connection.jms_session(mode=AckMode.CLIENT) as session:
        first = take(session, orders, 2)
        take(session, "other", 1)
        first[0].acknowledge()
        assert consumed(db) == sorted(sent[:3])
        assert session.acks == {AckType.STANDARD: 1}
        first[0].acknowledge()
        assert session.acks == {AckType.STANDARD: 1}, "a second call does nothing"


@pytest.mark.behaviour("AMQ-92")
def test_a_consumer_acknowledges_its_own_only(connection: Connection, orders: str, db: Db) -> None:
    sent = send(connection, orders, 4)
    with connection.jms_session(mode=AckMode.CLIENT) as session:
        one_, two = session.consumer(orders, prefetch=0), session.consumer(orders, prefetch=0)
        for consumer in (one_, two, one_, two):
            assert consumer.receive(5) is not None
        two.acknowledge()
        assert consumed(db) == [sent[1], sent[3]]
        session.acknowledge()
        assert consumed(db) == sent


@pytest.mark.behaviour("AMQ-100")
def test_individual_acknowledges_just_this_message_in_any_order(connection: Connection, orders: str, db: Db) -> None:
    sent = send(connection, orders, 3)
    with connection.jms_session(mode=AckMode.INDIVIDUAL) as session:
        messages = take(session, orders, 3)
        messages[2].acknowledge()
        assert consumed(db) == sent[2:]
        messages[0].acknowledge()
        messages[0].acknowledge()
        assert consumed(db) == [sent[0], sent[2]]
        assert session.acks[AckType.INDIVIDUAL] == 2
    assert column(db, READY) == [sent[1]]


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
