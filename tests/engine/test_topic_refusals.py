"""Calls that a topic, a subscription or a role does not allow are refused by exceptions of their own."""

from __future__ import annotations

import pytest
from subscriber_support import bodies
from support import SYSTEM, Connect

from howdah.engine import Admin, Connection, Session
from howdah.engine.errors import (
    BadArgument,
    BadOption,
    InvalidSelector,
    NoSuchQueue,
    NotAllowed,
    QueueExists,
)


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
