"""Topics from Python: each subscription gets every message, whoever else reads or fails."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from subscriber_support import bodies
from support import SYSTEM, Connect, Db, one

from howdah.engine import Connection, Session
from howdah.engine.aio import connect_async
from howdah.engine.errors import (
    IllegalState,
)


def test_two_subscribers_both_get_everything_in_order_and_once(connection: Connection, prices: str) -> None:
    first, second = (connection.admin.subscribe(prices, name) for name in ("a", "b"))
    assert (first, second) == ("prices::a", "prices::b")
    with connection.session() as session:
        connection.send(prices, "1")
        with session.transaction():
            session.send_many(prices, ["2", "3"])
            assert session.send_stream(prices, iter(["4", "5", "6"]), batch=2) == 3
        connection.send_async(prices, "7").result(10)
        expected = list("1234567")
        assert bodies(session, first) == expected
        assert bodies(session, second) == expected
        assert bodies(session, first) == bodies(session, second) == []


def test_a_message_says_which_topic_it_came_from_and_which_subscription_gave_it(
    connection: Connection, prices: str
) -> None:
    name = connection.admin.subscribe(prices, "a")
    connection.send(prices, {"price": 1}, headers={"symbol": "X"}, priority=7, message_type="quote")
    with connection.session() as session:
        (message,) = session.receive(name)
        assert (message.queue, message.origin_queue) == (name, prices)
        assert (message.data, message.headers, message.priority) == ({"price": 1}, {"symbol": "X"}, 7)
        assert (message.message_type, message.delivery_count) == ("quote", 1)


def test_a_stream_is_all_or_nothing_for_every_subscriber(connection: Connection, prices: str) -> None:
    name = connection.admin.subscribe(prices, "a")

    def breaking() -> Iterator[str]:
        yield from map(str, range(5000))
        raise ValueError("the source broke")

    with connection.session() as session:
        with pytest.raises(ValueError, match="the source broke"):
            session.send_stream(prices, breaking())
        assert bodies(session, name) == []
        with session.transaction():
            assert session.send_stream(prices, map(str, range(5000))) == 5000
        assert bodies(session, name, 10000) == list(map(str, range(5000)))


def test_a_rolled_back_receive_gives_the_messages_back(connection: Connection, prices: str) -> None:
    name = connection.admin.subscribe(prices, "a")
    connection.send(prices, "x")
    with connection.session() as session:
        for _ in range(2):
            assert [message.body for message in session.receive(name)] == ["x"]
            session.rollback()
        assert bodies(session, name) == ["x"]


def test_what_one_subscriber_cannot_handle_goes_to_the_exception_destination_and_the_other_gets_it(
    connection: Connection, prices: str
) -> None:
    failing = connection.admin.subscribe(prices, "failing", max_failed_deliveries=2)
    fine = connection.admin.subscribe(prices, "fine")
    connection.send(prices, "poison")
    connection.send(prices, "good")
    outcomes = []
    with connection.session() as session:
        for _ in range(2):
            (message,) = session.receive(failing)
            assert message.body == "poison"
            session.rollback()
            incident = connection.record_failure(message, ValueError("cannot"))
            assert incident is not None
            outcomes.append(incident.outcome)
        assert outcomes == ["returned", "moved"]
        assert bodies(session, failing) == ["good"]
        assert bodies(session, fine) == ["poison", "good"]
        with session.transaction():
            (dead,) = session.browse(SYSTEM)
        assert (dead.body, dead.origin_queue) == ("poison", failing)
    assert [row["error_class"] for row in connection.admin.incidents(failing)] == ["ValueError"] * 2
    assert connection.admin.incidents(fine) == []


def test_a_dead_message_of_a_subscription_is_replayed_to_it_alone(connection: Connection, prices: str) -> None:
    failing = connection.admin.subscribe(prices, "failing", max_failed_deliveries=1)
    fine = connection.admin.subscribe(prices, "fine")
    connection.send(prices, "x")
    with connection.session() as session:
        (message,) = session.receive(failing)
        session.rollback()
        connection.record_failure(message, ValueError("cannot"))
        assert bodies(session, fine) == ["x"]
        assert connection.admin.replay(SYSTEM, [message.message_id]) == 1
        assert bodies(session, failing) == ["x"]
        assert bodies(session, fine) == []


def test_a_bridged_queue_gets_what_its_selector_selects(connection: Connection, prices: str, orders: str) -> None:
    connection.admin.bridge(prices, orders, "level > 1")
    assert connection.admin.list_bridges(prices) == [{"queue": orders, "selector": "level > 1", "transformation": None}]
    for level in (1, 2):
        connection.send(prices, str(level), headers={"level": level})
    assert connection.admin.unbridge(prices, orders)
    assert not connection.admin.unbridge(prices, orders)
    connection.send(prices, "3", headers={"level": 3})
    with connection.session() as session:
        assert bodies(session, orders) == ["2"]


def test_what_a_client_publishes_does_not_come_back_to_its_own_no_local_subscription(
    connection: Connection, prices: str
) -> None:
    own = connection.admin.subscribe(prices, "a", client_id="shop", no_local=True)
    with connection.session() as session:
        with session.transaction():
            session.set_client_id("shop")
            session.send(prices, "mine")
        with session.transaction():
            session.send(prices, "of nobody")
        assert bodies(session, own) == ["of nobody"]
    with connection.session(transacted=False) as session, pytest.raises(IllegalState):
        session.set_client_id("shop")


def test_asyncio_has_the_same_verbs(dsn: str) -> None:
    async def scenario() -> None:
        async with connect_async(dsn) as connection:
            await connection.admin.create_topic("prices")
            name = await connection.admin.subscribe("prices", "a")
            async with connection.transaction() as session:
                await session.set_client_id("shop")
                await session.send("prices", "x")
            async with connection.transaction() as session:
                assert [message.body for message in await session.receive(name)] == ["x"]
            (row,) = await connection.admin.list_subscriptions("prices")
            assert (row["delivered"], row["behind"]) == (1, 0)

    asyncio.run(scenario())


def test_a_receiver_killed_in_its_transaction_leaves_the_message_to_the_next(
    connection: Connection, prices: str, db: Db, connect: Connect
) -> None:
    name = connection.admin.subscribe(prices, "a")
    connection.send(prices, "x")
    victim = connect()
    victim.autocommit = False
    assert len(Session(victim).receive(name)) == 1
    one(db, "select pg_terminate_backend(%s, 5000)", (victim.info.backend_pid,))
    with connection.session() as session:
        assert bodies(session, name) == ["x"]
