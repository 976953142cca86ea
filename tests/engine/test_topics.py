"""Topics from Python: each subscription gets every message, whoever else reads, fails, waits or comes late."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from support import SYSTEM, Clock, Connect, Db, one, wait_until

from howdah.engine import Admin, Connection, Message, Session, connect
from howdah.engine.aio import connect_async
from howdah.engine.calls.topics import subscription_name
from howdah.engine.database.waiting import Idle
from howdah.engine.errors import (
    BadArgument,
    BadOption,
    IllegalState,
    InvalidSelector,
    NoSuchQueue,
    NotAllowed,
    QueueExists,
    QueueNotEmpty,
    ReceivingPaused,
    SubscriptionInUse,
)


@pytest.fixture
def prices(connection: Connection) -> str:
    """The name of a topic made for the test."""
    connection.admin.create_topic("prices")
    return "prices"


def bodies(session: Session, subscription: str, n: int = 100) -> list[Any]:
    """Receive and commit; the bodies."""
    with session.transaction():
        return [message.body for message in session.receive(subscription, n)]


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


def test_subscribing_again_changes_nothing_and_otherwise_it_begins_anew(connection: Connection, prices: str) -> None:
    admin = connection.admin
    name = admin.subscribe(prices, "a", selector="level > 1")
    connection.send(prices, "low", headers={"level": 1})
    connection.send(prices, "high", headers={"level": 2})
    assert admin.subscribe(prices, "a", selector="level > 1") == name
    with connection.session() as session:
        assert bodies(session, name) == ["high"]
        connection.send(prices, "lost", headers={"level": 2})
        assert admin.subscribe(prices, "a", selector="level > 0") == name
        assert bodies(session, name) == []
        connection.send(prices, "low", headers={"level": 1})
        assert bodies(session, name) == ["low"]


def test_a_second_consumer_of_an_unshared_subscription_is_refused_while_the_first_ones_transaction_is_open(
    connection: Connection, prices: str
) -> None:
    name = connection.admin.subscribe(prices, "a")
    connection.send(prices, "x")
    with connection.session() as first, connection.session() as second:
        assert len(first.receive(name)) == 1
        with pytest.raises(SubscriptionInUse, match="read by another consumer"):
            second.receive(name)
        with pytest.raises(SubscriptionInUse):
            connection.admin.unsubscribe(name)
        first.rollback()
        assert bodies(second, name) == ["x"]


def test_consumers_of_a_shared_subscription_get_each_message_once_between_them(
    connection: Connection, prices: str
) -> None:
    name = connection.admin.subscribe(prices, "a", shared=True)
    with pytest.raises(SubscriptionInUse, match="shared"):
        connection.admin.subscribe(prices, "a")
    with connection.session() as first, connection.session() as second:
        with first.transaction():
            first.send_many(prices, list("abcdef"))
        one_half = [message.body for message in first.receive(name, 3)]
        other_half = [message.body for message in second.receive(name, 10)]
        assert (one_half, other_half) == (list("abc"), list("def"))
        second.commit()
        first.rollback()
        assert bodies(second, name) == list("abc")


def test_a_shared_subscription_counts_what_was_delivered_beyond_what_its_cursor_has_passed(
    connection: Connection, prices: str
) -> None:
    name = connection.admin.subscribe(prices, "a", shared=True)

    def figures() -> tuple[int, int]:
        (row,) = connection.admin.list_subscriptions()
        return row["delivered"], row["behind"]

    with connection.session() as session:
        with session.transaction():
            session.send_many(prices, list("abc"))
        assert len(bodies(session, name, 2)) == 2
        assert figures()[0] == 2
        assert len(bodies(session, name)) == 1
        assert bodies(session, name) == []  # which moves the cursor over all of them
        assert figures() == (3, 0)
        connection.send(prices, "d")
        assert bodies(session, name, 1) == ["d"]
        assert figures()[0] == 4


def test_a_new_subscription_reads_from_now_from_the_beginning_or_from_a_time(
    connection: Connection, prices: str, clock: Clock
) -> None:
    admin = connection.admin
    admin.alter_topic(prices, retain_ms=3_600_000)
    began = clock.now
    for body in "abc":
        connection.send(prices, body)
        clock.advance(60)
    with connection.session() as session:
        assert bodies(session, admin.subscribe(prices, "now")) == []
        assert bodies(session, admin.subscribe(prices, "all", since=datetime.min)) == list("abc")
        assert bodies(session, admin.subscribe(prices, "then", since=began + timedelta(seconds=30))) == list("bc")
        connection.send(prices, "d")
        for name in ("now", "all", "then"):
            assert bodies(session, f"prices::{name}") == ["d"]
    history = admin.topic_history(prices, began + timedelta(seconds=60))
    assert [(message.body, message.queue) for message in history] == [(body, prices) for body in "bcd"]
    assert [message.body for message in admin.topic_history(prices, max_messages=2)] == list("ab")


def test_list_topics_and_subscriptions_say_who_reads_what_and_how_far_behind(
    connection: Connection, prices: str
) -> None:
    admin = connection.admin
    admin.subscribe(prices, "a", client_id="shop", selector="x = 1")
    admin.subscribe("prices", None, durable=False)
    with connection.session() as session, session.transaction():
        session.send_many(prices, ["x"] * 3)
    (topic,) = admin.list_topics()
    assert (topic["topic"], topic["subscriptions"], topic["durable_subscriptions"]) == (prices, 2, 1)
    found = {row["subscription"]: row for row in admin.list_subscriptions(prices)}
    row = found["prices:shop:a"]
    assert (row["client_id"], row["name"], row["selector"], row["behind"]) == ("shop", "a", "x = 1", 3)
    assert row["durable"]
    assert [row["durable"] for name, row in found.items() if name != "prices:shop:a"] == [False]
    assert subscription_name(prices, "a", "shop") == "prices:shop:a"


def test_a_subscription_is_paused_resumed_and_ended(connection: Connection, prices: str) -> None:
    admin = connection.admin
    name = admin.subscribe(prices, "a")
    admin.pause(name)
    connection.send(prices, "x")
    with connection.session() as session:
        with pytest.raises(ReceivingPaused):
            session.receive(name)
        admin.resume(name)
        assert bodies(session, name) == ["x"]
        admin.unsubscribe(name)
        with pytest.raises(NoSuchQueue):
            session.receive(name)
    with pytest.raises(NoSuchQueue):
        admin.unsubscribe(name)


def test_a_topic_with_subscriptions_is_dropped_only_by_force(connection: Connection, prices: str) -> None:
    connection.admin.subscribe(prices, "a")
    with pytest.raises(QueueNotEmpty):
        connection.admin.drop_topic(prices)
    assert connection.admin.drop_topic(prices, force=True) == 1
    assert connection.admin.list_topics() == connection.admin.list_subscriptions() == []
    with pytest.raises(NoSuchQueue):
        connection.admin.drop_topic(prices)


def test_what_cannot_be_is_refused(connection: Connection, prices: str) -> None:
    admin = connection.admin
    for error, act in (
        (QueueExists, lambda: admin.create_topic(prices)),
        (BadOption, lambda: admin.alter_topic(prices, colour="red")),  # type: ignore[call-arg]
        (BadOption, lambda: admin.subscribe(prices, "a", colour="red")),  # type: ignore[call-arg]
        (InvalidSelector, lambda: admin.subscribe(prices, "a", selector="x >")),
        (BadArgument, lambda: admin.subscribe(prices)),
        (NoSuchQueue, lambda: admin.subscribe("nowhere", "a")),
        (NoSuchQueue, lambda: admin.topic_history("nowhere")),
        (NoSuchQueue, lambda: admin.bridge(prices, "nowhere")),
        (BadArgument, lambda: admin.topic_history(prices, max_messages=0)),
    ):
        with pytest.raises(error):
            act()
    with connection.session() as session, pytest.raises(BadArgument, match="is a topic"):
        session.receive(prices)
    assert admin.list_subscriptions() == []


def test_nothing_is_moved_into_a_topic_or_listened_to_there_for_nobody_would_read_it(
    connection: Connection, prices: str, orders: str
) -> None:
    admin = connection.admin
    admin.alter_queue(orders, max_failed_deliveries=1)
    connection.send(orders, "x")
    with connection.session() as session:
        (message,) = session.receive(orders)
        session.rollback()
    connection.record_failure(message, ValueError("cannot"))
    for act in (
        lambda: admin.move_messages(SYSTEM, [message.message_id], prices),
        lambda: admin.replay(SYSTEM, [message.message_id], target=prices),
        lambda: admin.replay_edited(SYSTEM, message.message_id, target=prices),
        lambda: admin.create_listener("l", prices),
        lambda: admin.ensure_listener("l", prices),
    ):
        with pytest.raises(NoSuchQueue, match="is a topic"):
            act()
    assert admin.replay(SYSTEM, [message.message_id], target=admin.subscribe(prices, "a")) == 1
    with connection.session() as session:
        assert bodies(session, "prices::a") == ["x"]


def test_a_producer_cannot_subscribe_and_a_consumer_cannot_publish_or_make_topics(
    connection: Connection, prices: str, connect: Connect
) -> None:
    producer, consumer = Session(connect("howdah_producer")), Session(connect("howdah_consumer"))
    name = connection.admin.subscribe(prices, "a")
    producer.send(prices, "x")
    assert [message.body for message in consumer.receive(name)] == ["x"]
    for session, act in (
        (producer, lambda: _admin(producer).subscribe(prices, "b")),
        (producer, lambda: producer.receive(name)),
        (consumer, lambda: consumer.send(prices, "x")),
        (consumer, lambda: _admin(consumer).create_topic("mine")),
        (consumer, lambda: _admin(consumer).drop_topic(prices, force=True)),
        (consumer, lambda: _admin(consumer).topic_history(prices)),
    ):
        with pytest.raises(NotAllowed):
            act()
        assert not session.closed
    assert _admin(consumer).subscribe(prices, "b") == "prices::b"


def _admin(session: Session) -> Admin:
    return Admin(session.call)


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


def test_a_sessions_subscriber_gets_what_comes_from_now_on_and_ends_with_the_session(
    connection: Connection, prices: str
) -> None:
    connection.admin.alter_topic(prices, recovery="last_image")
    for body in ("old", "last"):
        connection.send(prices, body)
    other = connection.session()
    with connection.session() as session:
        first, second = session.subscriber(prices), other.subscriber(prices, selector="level > 1")
        connection.send(prices, "now", headers={"level": 1})
        assert [first.receive(5).body for _ in range(2)] == ["last", "now"]  # type: ignore[union-attr]
        assert second.receive_nowait() is None
        assert [row["durable"] for row in connection.admin.list_subscriptions()] == [False, False]
    # The first session was closed with messages in hand.
    (left,) = connection.admin.list_subscriptions()
    assert left["subscription"] == second.queue
    other.close()
    assert connection.admin.list_subscriptions() == []


def test_a_subscriber_ends_when_its_connection_is_closed_and_with_a_listener_too(
    connection: Connection, prices: str, dsn: str
) -> None:
    got: list[object] = []
    with connect(dsn) as closing:
        closing.session(transacted=False).subscriber(prices)
        closing.session().subscriber(prices).listener = lambda message: got.append(message.body)
        connection.send(prices, "x")
        wait_until(lambda: got == ["x"])
        assert len(connection.admin.list_subscriptions()) == 2
    assert connection.admin.list_subscriptions() == []


# -- waking -----------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("IMQ-18")
def test_a_commit_wakes_every_idle_subscriber_which_has_its_copy_within_a_second(
    connection: Connection, prices: str, db: Db, rare: set[Idle]
) -> None:
    names = [connection.admin.subscribe(prices, name) for name in "abcd"]

    def receive(name: str) -> tuple[list[Message], float]:
        with connection.session() as session, session.transaction():
            return session.receive(name, wait=20), time.monotonic()

    def slowest(body: str) -> float:
        """Seconds until the last of them had its copy."""
        received: list[Future[tuple[list[Message], float]]] = [threads.submit(receive, name) for name in names]
        wait_until(lambda: len(rare) == len(names))
        sent = time.monotonic()
        one(db, "select howdah.send('prices', %s)", (body,))
        for each in received:
            assert [message.body for message in each.result(10)[0]] == [body]
        return max(each.result()[1] for each in received) - sent

    with ThreadPoolExecutor(len(names)) as threads:
        # What else the machine does can only slow them down: of a few series one tells. In it each publication is
        # quick, not only some.
        assert any(all(slowest(body) < 1 for body in series) for series in ("xyz", "uvw", "rst"))
    with connection.session() as session:
        assert [bodies(session, name) for name in names] == [[]] * len(names), "one copy each"


def test_a_topic_made_later_wakes_the_subscriber_of_a_wildcard(connection: Connection, db: Db) -> None:
    name = connection.admin.subscribe("stocks.>", "a")
    got: list[object] = []
    session = connection.session()
    session.consumer(name).listener = lambda message: got.append(message.body)
    connection.admin.create_topic("stocks.eu")
    connection.send("stocks.eu", "x")
    wait_until(lambda: got == ["x"])


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


def test_a_subscription_is_sought_back_and_forward(connection: Connection, prices: str) -> None:
    admin = connection.admin
    admin.alter_topic(prices, retain_ms=3600000)
    name = admin.subscribe(prices, "a")
    connection.send(prices, "x")
    with connection.session() as session:
        assert len(session.receive(name)) == 1
        with pytest.raises(SubscriptionInUse):
            admin.seek_subscription(name, datetime.min)
        session.commit()
        assert bodies(session, name) == []
        session.rollback()
        admin.seek_subscription(name, datetime.min)
        assert bodies(session, name) == ["x"]
        session.rollback()
        admin.seek_subscription(name, datetime.max)
        assert bodies(session, name) == []
