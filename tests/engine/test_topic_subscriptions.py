"""A subscription is made, shared, listed, paused, sought and ended from Python."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from subscriber_support import bodies
from support import Clock

from howdah.engine import Connection
from howdah.engine.calls.topics import subscription_name
from howdah.engine.errors import (
    NoSuchQueue,
    QueueNotEmpty,
    ReceivingPaused,
    SubscriptionInUse,
)


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
