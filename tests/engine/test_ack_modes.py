"""Sessions with acknowledge modes: when a message counts as consumed, in each of the five modes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from ack_support import READY, consumed, numbers, send, take
from support import Clock, Db, column, one, wait_until

from howdah.engine import AckMode, AckType, Connection, Delivery
from howdah.engine.errors import BadArgument, IllegalState


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
