"""A session with an acknowledge mode delivers to who receives, and only while its connection is started."""

from __future__ import annotations

import threading
import time

import pytest
from ack_support import READY, consumed
from support import Db, column, one

from howdah.engine import AckMode, AckType, Connection, ConnectionFactory, Delivery, connect
from howdah.engine.errors import BadArgument, IllegalState

MODES = [AckMode.AUTO, AckMode.CLIENT, AckMode.DUPS_OK, AckMode.INDIVIDUAL]


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


@pytest.mark.behaviour("IMQ-123")
def test_without_a_receiving_consumer_nothing_leaves_the_table(connection: Connection, orders: str, db: Db) -> None:
    sent = [connection.send(orders, str(n)) for n in range(3)]
    with connection.jms_session() as session:
        session.consumer(orders)
        session.send(orders, "more")
        assert column(db, READY)[:3] == sent
        assert session.leases == []


def test_settings_that_make_no_sense_are_refused(dsn: str) -> None:
    for wrong in (0, 0.5, 700000, "60"):
        with pytest.raises(BadArgument, match="lease_duration"):
            connect(dsn, lease_duration=wrong)  # type: ignore[arg-type]


def test_dups_ok_consumes_a_best_effort_message_before_receive_returns(
    connection: Connection, orders: str, db: Db
) -> None:
    sent = connection.send(orders, "x", reliability="BEST_EFFORT_NONPERSISTENT")
    with connection.jms_session(mode=AckMode.DUPS_OK) as session:
        assert session.consumer(orders).receive(5) is not None
        assert consumed(db) == [sent]
