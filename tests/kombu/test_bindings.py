"""A message reaches each queue that is bound by a pattern that it fits, once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from celery_support import broker
from kombu import Connection, Consumer, Exchange, Producer, Queue
from support import Db, one, wait_until
from transport_support import bodies

from howdah.kombu.places import matches, selector, subscription_name


@pytest.fixture
def connection(dsn: str) -> Iterator[Connection]:
    with broker(dsn) as opened:
        yield opened


def test_topics_and_fanouts_reach_every_queue_bound_in_any_process(dsn: str) -> None:
    news, all_news = Exchange("news", "topic"), Exchange("all", "fanout", durable=False)
    weather = Queue("weather", news, "weather.*", auto_delete=True)
    kept = Queue("kept", news, "#.storm")
    everything = Queue("everything", all_news, auto_delete=True, exclusive=True)
    with broker(dsn) as first, broker(dsn) as second, broker(dsn) as sender:
        found: list[tuple[str, str]] = []
        consumers = [
            Consumer(at, [queue], no_ack=True, callbacks=[lambda body, _, name=queue.name: found.append((name, body))])
            for at, queue in ((first, weather), (second, everything), (second, kept))
        ]
        for consumer in consumers:
            consumer.consume()
        producer = Producer(sender)
        for key in ("weather.sun", "weather.sun.hot", "weather.storm", "sea.storm", "storm", "stormy"):
            producer.publish(key, exchange=news, routing_key=key, declare=[news], serializer="json")
        producer.publish("hello", exchange=all_news, routing_key="", declare=[all_news], serializer="json")

        def drained() -> bool:
            for at in (first, second):
                with suppress(TimeoutError):
                    at.drain_events(timeout=0.05)
            return len(found) >= 6

        wait_until(drained)
        assert sorted(found) == sorted(
            [("weather", "weather.sun"), ("weather", "weather.storm"), ("everything", "hello")]
            + [("kept", key) for key in ("weather.storm", "sea.storm", "storm")]
        )


@pytest.mark.first_case
@pytest.mark.parametrize("no_ack", [True, False])
def test_another_binding_of_a_passing_queue_loses_nothing_and_brings_nothing_twice(dsn: str, no_ack: bool) -> None:
    news, sport = Exchange("news", "topic"), Exchange("sport", "topic")
    found: list[Any] = []
    with broker(dsn) as receiver, broker(dsn) as sender:
        producer, channel = Producer(sender), receiver.default_channel

        def publish(*keys: str, exchange: Exchange = news) -> None:
            for key in keys:
                producer.publish(key, exchange=exchange, routing_key=key, declare=[exchange])

        def drain(count: int) -> list[str]:
            while len(found) < count:
                receiver.drain_events(timeout=10)
            with suppress(TimeoutError):
                while True:
                    receiver.drain_events(timeout=0.1)
            return sorted(message.payload for message in found)

        queue = Queue("all", news, "a.*", auto_delete=True)(channel)
        with Consumer(channel, [queue], no_ack=no_ack, on_message=found.append):
            publish("a.in hand")
            drain(1)
            publish("a.unread")
            sport(channel).declare()
            queue.bind_to(news, "b.*")
            queue.bind_to(news, "*.c")
            queue.bind_to(sport, "x")
            publish("b.d", "a.c", "b.c", "z.c", "z.z", "x")
            publish("x", "a.d", exchange=sport)
            assert drain(7) == ["a.c", "a.in hand", "a.unread", "b.c", "b.d", "x", "z.c"]


def test_the_bindings_of_two_exchanges_are_told_apart(connection: Connection, db: Db) -> None:
    every, news = Exchange("every", "fanout"), Exchange("news", "topic")
    channel, producer = connection.default_channel, Producer(connection)
    queue = Queue("mixed", every)(channel)
    queue.declare()
    news(channel).declare()
    queue.bind_to(news, "sport.*")
    for key in ("sport.a", "weather.a"):
        producer.publish(key, exchange=news, routing_key=key)
    producer.publish("to all", exchange=every, routing_key="any")
    assert sorted(bodies(db, "mixed")) == ["sport.a", "to all"]
    found: list[str] = []
    with Consumer(channel, [queue], no_ack=True, callbacks=[lambda body, _: found.append(body)]):
        while len(found) < 2:
            connection.drain_events(timeout=10)
    assert sorted(found) == ["sport.a", "to all"]


@pytest.mark.parametrize("passing", [True, False], ids=["passing", "durable"])
@pytest.mark.parametrize(
    ("bound", "unbound", "left"),
    [
        (["a.*", "b.*"], ["a.*"], ["b.x"]),
        (["a.*", "#"], ["a.*"], ["a.x", "b.x"]),
        (["a.*", "#"], ["#"], ["a.x"]),
        (["a.*"], ["a.*"], []),
        (["a.*", "#"], ["#", "a.*"], []),
        (["a.*"], ["#", "b.*"], ["a.x"]),
    ],
)
def test_unbinding_ends_one_binding(
    connection: Connection, passing: bool, bound: list[str], unbound: list[str], left: list[str]
) -> None:
    channel, producer, news = connection.default_channel, Producer(connection), Exchange("news", "topic")
    news(channel).declare()
    queue = Queue("reader", auto_delete=passing)(channel)
    queue.declare()
    found: list[str] = []
    for pattern in bound:
        queue.bind_to(news, pattern)
    for pattern in unbound:
        queue.unbind_from(news, pattern)
    with Consumer(channel, [queue], no_ack=True, callbacks=[lambda body, _: found.append(body)]):
        for key in ("a.x", "b.x"):
            producer.publish(key, exchange=news, routing_key=key)
        while len(found) < len(left):
            connection.drain_events(timeout=10)
        with suppress(TimeoutError):
            while True:
                connection.drain_events(timeout=0.1)
    assert sorted(found) == left


def test_the_names_of_subscriptions_tell_queue_topic_and_pattern_apart() -> None:
    parts = [("a b", "t", "#"), ("a", "t", "b"), ("a", "t", "#"), ("a", "u", "#"), ("a", "b", "t"), ("a", "t b", "#")]
    names = {subscription_name(*part) for part in parts}
    assert len(names) == len(parts)
    assert all(len(name) <= 100 and ":" not in name for name in names | {subscription_name("q:" * 90, "t", "#")})


@pytest.mark.parametrize(
    ("pattern", "key", "fits"),
    [
        ("a.b", "a.b", True), ("a.b", "a.c", False), ("a.*", "a.b", True), ("a.*", "a", False), ("a.*", "a.b.c", False),
        ("a.#", "a", True), ("a.#", "a.b.c", True), ("a.#", "ab", False), ("#", "", True), ("#", "a.b", True),
        ("#.c", "c", True), ("#.c", "a.b.c", True), ("#.c", "abc", False), ("*.b.#", "a.b", True), ("*", "a", True),
        ("a.#.z", "a.z", True), ("a.#.z", "a.b.c.z", True), ("a%.*", "ab.c", False), ("a_.b", "ax.b", False),
    ],
)  # fmt: skip
def test_patterns_are_amqps_and_selectors_leave_nothing_out(db: Db, pattern: str, key: str, fits: bool) -> None:
    assert matches([pattern], key) is fits
    chosen = selector([pattern])
    db.execute("select howdah.create_queue('keys')")
    db.execute("select howdah.send('keys', 'x', headers => jsonb_build_object('routing_key', %s::text))", [key])
    selected = one(db, "select count(*) from howdah.receive('keys', selector => %s::text)", [chosen])
    assert selected == 1 or not fits


def test_an_exchange_that_creates_itself_is_a_topic(dsn: str, db: Db) -> None:
    """Also where somebody sends to it before anybody has bound a queue."""
    db.execute('select howdah.alter_engine(\'{"autocreate_queue": true, "autocreate_topic": true}\')')
    events = Exchange("celeryev", "topic")
    with broker(dsn) as connection:
        producer = Producer(connection)
        producer.publish("unheard", exchange=events, routing_key="worker.heartbeat", declare=[events])
        assert one(db, "select kind from howdah.destinations where name = 'celeryev.exchange'") == "topic"
        monitor = Queue("monitor", events, "#", auto_delete=True)
        found: list[str] = []
        with Consumer(connection, [monitor], no_ack=True, callbacks=[lambda body, _: found.append(body)]):
            producer.publish("heard", exchange=events, routing_key="worker.heartbeat")
            connection.drain_events(timeout=10)
        assert found == ["heard"]
