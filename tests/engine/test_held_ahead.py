"""What becomes of messages held ahead when their consumer renews its leases late, closes or begins again."""

from __future__ import annotations

import threading
import time

import pytest
from ack_support import consumed
from ahead_support import READY, held, ids, send, take
from support import Clock, Db, column, one, wait_until

from howdah.engine import AckMode, AckType, Connection, connect
from howdah.engine.errors import ConnectionLost, LeaseLost


def test_leases_are_renewed_while_the_session_lives(connection: Connection, orders: str, clock: Clock) -> None:
    sent = send(connection, orders, 3)
    with connection.jms_session(mode=AckMode.CLIENT) as session, connection.jms_session() as other:
        consumer = session.consumer(orders)
        messages = take(consumer, 1)
        for _ in range(5):
            clock.advance(40)
            connection.keeper.beat()
        assert other.consumer(orders).receive_nowait() is None
        messages += take(consumer, 2)
        assert ids(messages) == sent
        session.acknowledge()


@pytest.mark.first_case
@pytest.mark.parametrize("mode", [AckMode.SESSION_TRANSACTED, AckMode.AUTO, AckMode.CLIENT])
def test_renewing_all_the_time_disturbs_nobody(connection: Connection, orders: str, db: Db, mode: AckMode) -> None:
    sent = send(connection, orders, 60)
    stopping = threading.Event()

    def renew() -> None:
        while not stopping.is_set():
            connection.keeper.beat()

    renewing = threading.Thread(target=renew)
    with connection.jms_session(transacted=mode == 0, mode=mode) as session:
        consumer = session.consumer(orders, prefetch=30)
        renewing.start()
        try:
            for number in range(60):
                assert ids(take(consumer, 1)) == sent[number : number + 1]
                if mode == 0 and number % 20 == 5:
                    session.rollback()
                    assert ids(take(consumer, 1)) == sent[number : number + 1]
                if mode == 0:
                    session.commit()
                session.acknowledge()
        finally:
            stopping.set()
            renewing.join()
    assert consumed(db) == sent


@pytest.mark.slow
def test_the_thread_that_renews_runs_by_itself(dsn: str, orders: str, db: Db) -> None:
    with connect(dsn, lease_duration=3) as connection:  # a beat comes each second, and may be late by two
        send(connection, orders, 1)
        with connection.jms_session(mode=AckMode.CLIENT) as session:
            take(session.consumer(orders), 1)
            ends = "select leased_until from howdah.list_leases('orders')"
            first = one(db, ends)
            wait_until(lambda: one(db, ends) > first)


def test_a_lost_lease_is_no_silent_success(connection: Connection, orders: str, clock: Clock, db: Db) -> None:
    sent = send(connection, orders, 4)
    with connection.jms_session(mode=AckMode.CLIENT) as session, connection.jms_session() as other:
        consumer = session.consumer(orders, prefetch=3)
        mine = take(consumer, 2)
        clock.advance(61)
        assert ids(take(other.consumer(orders, prefetch=0), 1)) == sent[:1]
        with pytest.raises(LeaseLost):
            mine[0].acknowledge()
        session.recover()
        again = take(consumer, 1)
        assert ids(again) == sent[1:2], "the other one is somebody else's"
        assert again[0].delivery_count == 2
        session.acknowledge()
        assert consumed(db) == sent[:2]


def test_what_the_keeper_found_lost_is_no_silent_success_either(
    connection: Connection, orders: str, clock: Clock
) -> None:
    sent = send(connection, orders, 4)
    with connection.jms_session(mode=AckMode.CLIENT) as session, connection.jms_session() as other:
        mine = take(session.consumer(orders, prefetch=2), 1)
        clock.advance(61)
        assert ids(take(other.consumer(orders, prefetch=0), 2)) == sent[:2]
        connection.keeper.beat()
        with pytest.raises(LeaseLost):
            mine[0].acknowledge()
        session.recover()
        session.acknowledge()


def test_a_process_that_was_stopped_for_longer_than_its_leases_delivers_nothing_from_its_buffer(
    connection: Connection, orders: str
) -> None:
    send(connection, orders, 3)
    with connection.jms_session(mode=AckMode.CLIENT) as session:
        consumer = session.consumer(orders)
        take(consumer, 1)
        consumer.holding.renewed(time.monotonic() - 0.001)  # as if it had been
        assert consumer.receive(0) is None
        session.acknowledge()


def test_auto_skips_what_it_has_lost(connection: Connection, orders: str, clock: Clock) -> None:
    sent = send(connection, orders, 3)
    with connection.jms_session() as session, connection.jms_session() as other:
        consumer = session.consumer(orders, prefetch=3)
        assert ids(take(consumer, 1)) == sent[:1]
        clock.advance(61)
        assert ids(take(other.consumer(orders, prefetch=0), 1)) == sent[1:2]
        assert ids(take(consumer, 1)) == sent[2:]


def test_a_message_that_expires_while_it_waits_ahead_is_not_delivered(
    connection: Connection, orders: str, db: Db, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = clock.now
    monkeypatch.setattr(
        "howdah.engine.jms.holding.monotonic", lambda: time.monotonic() + (clock.now - began).total_seconds()
    )
    connection.send(orders, "a")
    expiring = connection.send(orders, "b", time_to_live=10)
    connection.send(orders, "c")
    with connection.jms_session() as session:
        consumer = session.consumer(orders)
        assert [m.body for m in take(consumer, 1)] == ["a"]
        clock.advance(11)
        assert [m.body for m in take(consumer, 1)] == ["c"]
        assert session.acks[AckType.EXPIRED] == 1
        assert consumer.receive(0) is None
    assert column(db, "select message_ids[1] from howdah.journal where event = 'expired'") == [expiring]


def test_a_message_that_expires_soon_is_delivered_though_this_machines_clock_is_ahead_of_the_servers(
    connection: Connection, orders: str, clock: Clock
) -> None:
    clock.advance(-3600)
    connection.send(orders, "a", time_to_live=5)
    with connection.jms_session() as session:
        assert [m.body for m in take(session.consumer(orders), 1)] == ["a"]
        assert session.acks[AckType.EXPIRED] == 0


def test_closing_a_consumer_gives_back_what_it_held_ahead_and_leaves_what_it_delivered(
    connection: Connection, orders: str, db: Db
) -> None:
    sent = send(connection, orders, 5)
    with connection.jms_session(mode=AckMode.CLIENT) as session:
        consumer = session.consumer(orders, prefetch=10)
        take(consumer, 2)
        consumer.close()
        consumer.close()
        assert column(db, READY) == sent[2:]
        assert consumer.receive(0) is None
        session.acknowledge()
        assert held(db) == 0
    assert column(db, READY) == sent[2:]
    with connection.jms_session(transacted=True) as session:
        consumer = session.consumer(orders, prefetch=10)
        take(consumer, 1)
        consumer.close()
        session.commit()
    assert column(db, READY) == sent[3:]


def test_recover_begins_again_with_the_first_unacknowledged(connection: Connection, orders: str) -> None:
    sent = send(connection, orders, 4)
    with connection.jms_session(mode=AckMode.CLIENT) as session:
        consumer = session.consumer(orders, prefetch=10)
        take(consumer, 1)
        session.acknowledge()
        take(consumer, 2)
        session.recover()
        again = take(consumer, 3)
        assert ids(again) == sent[1:]
        assert [(m.redelivered, m.delivery_count) for m in again] == [(True, 2), (True, 2), (False, 1)]


def test_a_message_at_its_limit_does_not_come_again(connection: Connection, db: Db) -> None:
    connection.admin.create_queue("few", max_failed_deliveries=2)
    sent = send(connection, "few", 2)
    with connection.jms_session(transacted=True) as session:
        consumer = session.consumer("few")
        for _ in range(2):
            assert ids(take(consumer, 1)) == sent[:1]
            session.rollback()
        assert ids(take(consumer, 1)) == sent[1:]
        session.commit()
    assert column(db, "select message_id from howdah.audit_messages where state = 'dead'") == sent[:1]


def test_a_consumer_that_could_not_give_back_what_it_held_renews_it_no_longer(
    connection: Connection, orders: str, db: Db, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = send(connection, orders, 3)
    with connection.jms_session(mode=AckMode.CLIENT) as session:
        consumer = session.consumer(orders, prefetch=10)
        assert ids(take(consumer, 1)) == sent[:1]

        def lost(*given: object) -> None:
            raise ConnectionLost("gone")

        with monkeypatch.context() as patched:
            patched.setattr(session.acknowledger, "give_back", lost)
            with pytest.raises(ConnectionLost):
                consumer.close()
        assert len(consumer.holding) == 1
        session.acknowledge()
        assert session.leases == []
        clock.advance(61)
        assert ids(take(session.consumer(orders, prefetch=0), 2)) == sent[1:]
