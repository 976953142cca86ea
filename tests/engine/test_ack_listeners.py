"""Sessions with acknowledge modes whose consumers have listeners: what each mode and closing do to them."""

from __future__ import annotations

import threading
import time

import pytest
from ack_support import READY, consumed
from support import Db, column, one, wait_until

from howdah.engine import AckMode, Connection, Delivery, connect
from howdah.engine.errors import IllegalState

MODES = [AckMode.AUTO, AckMode.CLIENT, AckMode.DUPS_OK, AckMode.INDIVIDUAL]


@pytest.mark.first_case
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.behaviour("AMQ-26")
@pytest.mark.behaviour("IMQ-127")
def test_a_listener_gets_what_receive_would(connection: Connection, orders: str, mode: AckMode) -> None:
    for n in range(20):
        connection.send(orders, {"n": n}, priority=n % 3)
    received: list[tuple[object, int]] = []
    with connection.jms_session(mode=mode) as session:
        consumer = session.consumer(orders, prefetch=40)
        while (message := consumer.receive_nowait()) is not None:
            received.append((message.data, message.priority))
        if mode.by_client:
            session.recover()
        else:
            for n in range(20):
                connection.send(orders, {"n": n}, priority=n % 3)
        listened: list[tuple[object, int]] = []
        consumer.listener = lambda m: listened.append((m.data, m.priority))
        wait_until(lambda: len(listened) == 20)
        with pytest.raises(IllegalState):
            consumer.receive(0)
        consumer.listener = None
        assert consumer.receive(0) is None
    assert listened == received


@pytest.mark.behaviour("IMQ-126")
def test_listeners_of_one_session_never_overlap(connection: Connection, orders: str) -> None:
    connection.admin.create_queue("bills")
    sent = {connection.send(queue, n) for n in range(10) for queue in (orders, "bills")}
    running, overlaps, seen = threading.Lock(), [], []

    def listener(message: Delivery) -> None:
        if not running.acquire(blocking=False):
            overlaps.append(message)
            return
        time.sleep(0.002)
        seen.append(message.message_id)
        running.release()

    with connection.jms_session() as session:
        for queue in (orders, orders, "bills"):
            session.consumer(queue, prefetch=3).listener = listener
        wait_until(lambda: len(seen) == 20)
    assert overlaps == []
    assert set(seen) == sent


def test_a_listener_of_a_transacted_session_commits_and_rolls_back_itself(
    connection: Connection, orders: str, db: Db
) -> None:
    sent = [connection.send(orders, str(n)) for n in range(4)]
    seen: list[tuple[int, int]] = []
    with connection.jms_session(transacted=True) as session:

        def listener(message: Delivery) -> None:
            seen.append((message.message_id, message.delivery_count))
            if len(seen) == 2:
                session.rollback()
            elif len(seen) == 6:
                session.commit()

        session.consumer(orders).listener = listener
        wait_until(lambda: len(seen) == 6)
    first, second, third, fourth = sent
    assert seen == [(first, 1), (second, 1), (first, 2), (second, 2), (third, 1), (fourth, 1)]
    wait_until(lambda: consumed(db) == sent)


def test_closing_waits_for_the_message_in_hand_and_acknowledges_it(connection: Connection, orders: str, db: Db) -> None:
    sent = [connection.send(orders, str(n)) for n in range(3)]
    started, go_on = threading.Event(), threading.Event()

    def listener(message: Delivery) -> None:
        started.set()
        assert go_on.wait(20)

    session = connection.jms_session()
    session.consumer(orders).listener = listener
    assert started.wait(20)
    closing = threading.Thread(target=session.close)
    closing.start()
    assert closing.is_alive()
    go_on.set()
    closing.join(20)
    assert session.closed
    assert consumed(db) == sent[:1]
    assert column(db, READY) == sent[1:]


def test_a_listener_may_close_its_own_session(connection: Connection, orders: str, db: Db) -> None:
    sent = [connection.send(orders, str(n)) for n in range(3)]
    session = connection.jms_session()
    session.consumer(orders).listener = lambda message: session.close()
    wait_until(lambda: session.closed)
    wait_until(lambda: one(db, "select count(*) from howdah.list_leases('orders')") == 0)
    assert consumed(db) == sent[:1]


@pytest.mark.parametrize("optimize", [True, False])
def test_a_listener_may_close_its_consumer(connection: Connection, orders: str, db: Db, optimize: bool) -> None:
    sent = [connection.send(orders, str(n)) for n in range(3)]
    seen: list[int] = []
    with connection.jms_session() as session:
        consumer = session.consumer(orders, prefetch=10, optimize_acknowledge=optimize)

        def listener(message: Delivery) -> None:
            seen.append(message.message_id)
            consumer.close()

        consumer.listener = listener
        wait_until(lambda: consumed(db) == sent[:1])
        assert column(db, READY) == sent[1:]
        wait_until(lambda: session.leases == [])
    assert seen == sent[:1]


def test_a_message_refused_by_a_listener_that_closed_its_consumer_is_somebody_elses(
    connection: Connection, orders: str, db: Db
) -> None:
    connection.send(orders, "x")
    with connection.jms_session() as session:
        consumer = session.consumer(orders)

        def listener(message: Delivery) -> None:
            consumer.close()
            raise ValueError("no")

        consumer.listener = listener
        wait_until(lambda: consumer.closed and session.leases == [])

        def somebody_else_has_it() -> bool:
            counts = column(db, "select delivery_count from howdah.receive('orders')")
            assert counts in ([], [2])
            return counts == [2]

        # A session forgets a lease before it gives it back.
        wait_until(somebody_else_has_it)


def test_listener_threads_and_keeper_end_with_the_connection(dsn: str, orders: str) -> None:
    def ours() -> set[str]:
        return {t.name for t in threading.enumerate() if t.name in ("howdah-keeper", "howdah-ack-session")}

    with connect(dsn) as connection:
        connection.jms_session().consumer(orders).listener = lambda message: None
        assert ours() == {"howdah-keeper", "howdah-ack-session"}
    assert ours() == set()
