"""Sessions with acknowledge modes whose consumers have listeners: what start, stop, close and a crash do to them."""

from __future__ import annotations

import asyncio
import threading
import time

import psycopg
import pytest
from support import Db, column, one, wait_until

from howdah.engine import AckMode, AckType, Connection, ConnectionFactory, Delivery, connect
from howdah.engine.embedded import EmbeddedServer
from howdah.engine.errors import BadArgument, ConnectionLost, IllegalState

READY = "select message_id from howdah.browse('orders', 1000)"
"""What nobody has received or leased, in order."""

MODES = [AckMode.AUTO, AckMode.CLIENT, AckMode.DUPS_OK, AckMode.INDIVIDUAL]


def consumed(db: Db) -> list[int]:
    return column(
        db, "select i.id from howdah.journal j, unnest(j.message_ids) i(id) where j.event = 'consumed' order by 1"
    )


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


@pytest.mark.behaviour("IMQ-125")
def test_before_start_and_after_stop_nothing_comes_and_the_time_of_receive_runs(dsn: str, orders: str, db: Db) -> None:
    with ConnectionFactory(dsn).create_connection() as connection:
        connection.send(orders, "a")
        connection.send(orders, "b")
        connection.send(orders, "c")
        session = connection.jms_session()
        consumer = session.consumer(orders)
        began = time.monotonic()
        assert consumer.receive(0.2) is None
        assert time.monotonic() - began >= 0.2
        assert len(column(db, READY)) == 3, "nothing was even claimed"
        connection.start()
        assert consumer.receive(5) is not None
        connection.stop()
        assert consumer.receive(0.05) is None, "not from the buffer either"
        waiting: list[Delivery | None] = []
        thread = threading.Thread(target=lambda: waiting.append(consumer.receive(20)))
        thread.start()
        connection.send(orders, "d")
        connection.start()
        thread.join(20)
        assert [message and message.body for message in waiting] == ["b"]


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


@pytest.mark.first_case
@pytest.mark.parametrize("mode", [AckMode.CLIENT, AckMode.INDIVIDUAL, AckMode.SESSION_TRANSACTED])
def test_after_an_error_of_its_listener_a_client_gets_the_next_message(
    connection: Connection, orders: str, db: Db, mode: AckMode
) -> None:
    sent = [connection.send(orders, str(n)) for n in range(2)]
    seen: list[int] = []

    def listener(message: Delivery) -> None:
        seen.append(message.message_id)
        if len(seen) == 1:
            raise ValueError("no")

    with connection.jms_session(transacted=mode == 0, mode=mode) as session:
        session.consumer(orders).listener = listener
        wait_until(lambda: len(seen) == 2)
        assert seen == sent
        assert consumed(db) == []
    assert column(db, "select delivery_count from howdah.receive('orders', 9)") == [2, 2]


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


def test_a_subscriber_of_a_session_hears_what_is_published_from_now_on_and_ends_with_it(
    connection: Connection, db: Db
) -> None:
    connection.admin.create_topic("stocks")
    connection.send("stocks", "before")
    with connection.jms_session(mode=AckMode.CLIENT) as session:
        everything = session.subscriber("stocks")
        some = session.subscriber("stocks", selector="price > 10")
        for price in (5, 15):
            connection.send("stocks", str(price), headers={"price": price})
        heard = [everything.receive(5), everything.receive(5), some.receive(5)]
        assert [message and message.body for message in heard] == ["5", "15", "15"]
        assert some.receive(0) is None
        session.acknowledge()
        assert one(db, "select count(*) from howdah.list_subscriptions()") == 2
    assert one(db, "select count(*) from howdah.list_subscriptions()") == 0


@pytest.mark.first_case
@pytest.mark.parametrize("mode", [*MODES, AckMode.SESSION_TRANSACTED])
def test_closing_acknowledges_nothing_that_is_the_clients_or_the_transactions(
    connection: Connection, orders: str, db: Db, mode: AckMode
) -> None:
    sent = [connection.send(orders, str(n)) for n in range(4)]
    session = connection.jms_session(transacted=mode == 0, mode=mode)
    consumer = session.consumer(orders, prefetch=10, optimize_acknowledge=mode in (AckMode.AUTO, AckMode.DUPS_OK))
    for _ in range(2):
        assert consumer.receive(5) is not None
    session.close()
    session.close()
    again = mode.by_client or mode == 0
    assert consumed(db) == ([] if again else sent[:2])
    counts = column(db, "select delivery_count from howdah.receive('orders', 9)")
    assert counts == ([2, 2, 1, 1] if again else [1, 1])
    for verb in (session.acknowledge, session.recover, lambda: consumer.receive(0), lambda: session.send(orders, "x")):
        with pytest.raises(IllegalState):
            verb()
    assert connection.keeper._sessions == set()


@pytest.mark.parametrize("mode", MODES)
def test_acknowledge_means_something_only_where_the_client_acknowledges(
    connection: Connection, orders: str, mode: AckMode
) -> None:
    connection.send(orders, "x")
    with connection.jms_session(mode=mode) as session:
        message = session.consumer(orders, prefetch=4, optimize_acknowledge=not mode.by_client).receive(5)
        assert message is not None
        message.acknowledge()
        session.acknowledge()
        assert sum(session.acks.values()) - session.acks[AckType.DELIVERED] == mode.by_client


def test_a_closed_connection_ends_a_waiting_receive(dsn: str, orders: str) -> None:
    connection = connect(dsn)
    consumer = connection.jms_session().consumer(orders)
    results: list[Delivery | None] = []
    thread = threading.Thread(target=lambda: results.append(consumer.receive()))
    thread.start()
    connection.close()
    thread.join(20)
    assert results == [None]
    with pytest.raises(IllegalState):
        connection.jms_session()


@pytest.mark.behaviour("IMQ-26")
def test_after_acknowledge_returned_a_crash_of_everything_brings_nothing_back(private_server: EmbeddedServer) -> None:
    with connect(private_server.start().dsn) as connection:
        connection.admin.create_queue("orders")
        sent = [connection.send("orders", str(n)) for n in range(3)]
        session = connection.jms_session(mode=AckMode.INDIVIDUAL)
        consumer = session.consumer("orders", prefetch=0)
        for _ in range(2):
            message = consumer.receive(5)
            assert message is not None
            message.acknowledge()
        private_server.stop("immediate")
    with connect(private_server.start().dsn) as connection, connection.jms_session() as session:
        consumer = session.consumer("orders")
        message = consumer.receive(5)
        assert message is not None
        assert message.message_id == sent[2]
        assert consumer.receive(0) is None


@pytest.mark.behaviour("IMQ-27")
def test_an_acknowledgement_that_did_not_arrive_brings_the_message_again(
    connection: Connection, orders: str, db: Db
) -> None:
    sent = connection.send(orders, "x")
    with connection.jms_session(transacted=True) as session:
        consumer = session.consumer(orders)
        assert consumer.receive(5) is not None
        db.execute("select pg_terminate_backend(%s, 5000)", (session.connection.info.backend_pid,))
        with pytest.raises(ConnectionLost):
            session.commit()
        again = consumer.receive(5)
        assert again is not None
        assert (again.message_id, again.body) == (sent, "x")
        session.commit()
    assert consumed(db) == [sent]


def test_a_transacted_session_that_lost_its_connection_rolls_back_and_goes_on(
    connection: Connection, orders: str, db: Db
) -> None:
    sent = connection.send(orders, "x")
    with connection.jms_session(transacted=True) as session:
        consumer = session.consumer(orders)
        assert consumer.receive(5) is not None
        session.send(orders, "never sent")
        db.execute("select pg_terminate_backend(%s, 5000)", (session.connection.info.backend_pid,))
        with pytest.raises(ConnectionLost):
            session.send(orders, "never sent either")
        session.rollback()
        again = consumer.receive(5)
        assert again is not None
        assert (again.message_id, again.delivery_count) == (sent, 2)
        session.send(orders, "sent")
        session.commit()
    assert column(db, "select body from howdah.browse('orders')") == ["sent"]


@pytest.mark.behaviour("IMQ-123")
def test_without_a_receiving_consumer_nothing_leaves_the_table(connection: Connection, orders: str, db: Db) -> None:
    sent = [connection.send(orders, str(n)) for n in range(3)]
    with connection.jms_session() as session:
        session.consumer(orders)
        session.send(orders, "more")
        assert column(db, READY)[:3] == sent
        assert session.leases == []


@pytest.mark.slow
def test_a_session_goes_on_after_the_server_was_away(private_server: EmbeddedServer) -> None:
    with connect(private_server.start().dsn) as connection:
        connection.admin.create_queue("orders")
        sent = [connection.send("orders", str(n)) for n in range(3)]
        seen: list[int] = []
        session = connection.jms_session()
        session.consumer("orders", prefetch=2).listener = lambda message: seen.append(message.message_id)
        wait_until(lambda: len(seen) == 3)
        private_server.stop("immediate")
        private_server.start()

        def send_again() -> bool:
            try:
                sent.append(connection.send("orders", "later"))
            except (psycopg.Error, ConnectionError):
                return False
            return True

        wait_until(send_again)
        wait_until(lambda: seen[-1] == sent[-1])
        assert set(seen) == set(sent)


def test_settings_that_make_no_sense_are_refused(dsn: str) -> None:
    for wrong in (0, 0.5, 700000, "60"):
        with pytest.raises(BadArgument, match="lease_duration"):
            connect(dsn, lease_duration=wrong)  # type: ignore[arg-type]


def test_listener_threads_and_keeper_end_with_the_connection(dsn: str, orders: str) -> None:
    def ours() -> set[str]:
        return {t.name for t in threading.enumerate() if t.name in ("howdah-keeper", "howdah-ack-session")}

    with connect(dsn) as connection:
        connection.jms_session().consumer(orders).listener = lambda message: None
        assert ours() == {"howdah-keeper", "howdah-ack-session"}
    assert ours() == set()


@pytest.mark.first_case
@pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.DUPS_OK])
@pytest.mark.behaviour("SIB-36")
@pytest.mark.behaviour("SIB-39")
def test_a_listener_that_raises_loses_a_best_effort_message(
    connection: Connection, orders: str, db: Db, mode: AckMode
) -> None:
    bad = connection.send(orders, "bad", reliability="BEST_EFFORT_NONPERSISTENT")
    good = connection.send(orders, "good", reliability="BEST_EFFORT_NONPERSISTENT")
    calls: list[tuple[str | bytes, int]] = []
    gone: list[bool] = []

    def listener(message: Delivery) -> None:
        calls.append((message.body, message.delivery_count))
        gone.append(message.message_id in consumed(db))
        if message.body == "bad":
            raise RuntimeError("not today")

    with connection.jms_session(mode=mode) as session:
        session.consumer(orders).listener = listener
        wait_until(lambda: len(calls) == 2)
    assert calls == [("bad", 1), ("good", 1)]
    assert gone == [True, True]
    assert consumed(db) == [bad, good]
    assert db.execute("select message, error_text, outcome from howdah.incidents('orders')").fetchall() == [
        (bad, "not today", "gone")
    ]


@pytest.mark.parametrize("level", ["EXPRESS_NONPERSISTENT", "RELIABLE_PERSISTENT"])
@pytest.mark.behaviour("SIB-37")
def test_a_listener_that_raises_gets_any_other_message_again(
    connection: Connection, orders: str, db: Db, level: str
) -> None:
    connection.send(orders, "bad", reliability=level)
    calls: list[int] = []

    def listener(message: Delivery) -> None:
        calls.append(message.delivery_count)
        if message.delivery_count == 1:
            raise RuntimeError("not today")

    with connection.jms_session() as session:
        session.consumer(orders).listener = listener
        wait_until(lambda: len(calls) == 2)
    assert calls == [1, 2]


@pytest.mark.first_case
@pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.DUPS_OK])
@pytest.mark.parametrize("error", [psycopg.errors.DiskFull, psycopg.errors.DeadlockDetected, ConnectionLost])
def test_what_the_server_lacks_is_no_fault_of_the_message_that_a_listener_has(
    connection: Connection, orders: str, db: Db, mode: AckMode, error: type[Exception]
) -> None:
    first, second = (connection.send(orders, body) for body in ("first", "second"))
    calls: list[tuple[str | bytes, int]] = []

    def listener(message: Delivery) -> None:
        calls.append((message.body, message.delivery_count))
        if len(calls) <= 6:  # more often than a message may fail
            raise error("not today")

    with connection.jms_session(mode=mode) as session:
        session.consumer(orders).listener = listener
        wait_until(lambda: len(calls) == 8)
    assert calls == [("first", 1)] * 7 + [("second", 1)]
    assert consumed(db) == [first, second]
    assert one(db, "select count(*) from howdah.poison_details") == 0


def test_dups_ok_consumes_a_best_effort_message_before_receive_returns(
    connection: Connection, orders: str, db: Db
) -> None:
    sent = connection.send(orders, "x", reliability="BEST_EFFORT_NONPERSISTENT")
    with connection.jms_session(mode=AckMode.DUPS_OK) as session:
        assert session.consumer(orders).receive(5) is not None
        assert consumed(db) == [sent]


class Unprintable(ValueError):
    """Has no text."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.first_case
@pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.DUPS_OK])
@pytest.mark.parametrize(
    "error", [ValueError("a\x00b"), ValueError("\ud800"), Unprintable(), asyncio.CancelledError(), SystemExit(3)]
)
def test_whatever_a_listener_raises_is_recorded_and_the_next_message_comes(
    connection: Connection, db: Db, orders: str, error: BaseException, mode: AckMode
) -> None:
    connection.admin.alter_queue(orders, max_failed_deliveries=2)
    sent = connection.send(orders, "bad")
    connection.send(orders, "good")
    seen: list[object] = []

    def listener(message: Delivery) -> None:
        seen.append(message.body)
        if message.body == "bad":
            raise error

    with connection.jms_session(mode=mode) as session:
        session.consumer(orders).listener = listener
        wait_until(lambda: seen[-1:] == ["good"])
    assert seen == ["bad", "bad", "good"]
    assert column(db, "select message_id from howdah.poison_details order by incident_id") == [sent, sent]
    assert column(db, "select distinct error_class from howdah.incidents()") == [type(error).__name__]
