"""What the transport makes of kombu's and Celery's messages, in the database."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
import sqlalchemy
from celery import Celery
from celery_support import application, broker, url
from kombu import Connection, Consumer, Exchange, Producer, Queue
from kombu.asynchronous import Hub
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.json import Jsonb
from sqlalchemy import orm
from support import Clock, Db, column, one, wait_until

from howdah.django.connections import Borrowed
from howdah.engine.errors import (
    ContractViolated,
    HowdahError,
    IllegalState,
    NoSuchQueue,
    NotAllowed,
    QueueFull,
    SubscriptionInUse,
)
from howdah.kombu import using
from howdah.kombu.places import matches, queue_name, selector, subscription_name
from howdah.kombu.server import callers


@pytest.fixture
def connection(dsn: str) -> Iterator[Connection]:
    with broker(dsn) as opened:
        yield opened


@pytest.fixture
def app(dsn: str) -> Iterator[Celery]:
    """Sends tasks to a queue that is there."""
    with application(dsn) as made:
        yield made


def bodies(db: Db, queue: str) -> list[str]:
    return column(db, "select body from howdah.browse(%s)", [queue])


def received(connection: Connection, *queues: Queue, count: int, no_ack: bool = True) -> list[Any]:
    """The next messages' bodies."""
    found: list[Any] = []
    with Consumer(connection, queues, callbacks=[lambda body, _: found.append(body)], no_ack=no_ack):
        while len(found) < count:
            connection.drain_events(timeout=10)
    return found


def test_a_message_is_sent_received_and_acknowledged(connection: Connection, db: Db) -> None:
    with connection.SimpleQueue("orders") as queue:
        queue.put({"number": 1}, headers={"who": "tom"}, priority=7)
        assert bodies(db, "orders") == ['{"number": 1}']
        message = queue.get(timeout=5)
        assert (message.payload, message.headers) == ({"number": 1}, {"who": "tom"})
        assert (message.properties["priority"], message.delivery_info["redelivered"]) == (7, False)
        assert one(db, "select messages from howdah.list_leases('orders')") == 1
        message.ack()
    assert one(db, "select count(*) from howdah.list_leases('orders')") == 0
    assert one(db, "select consumed from howdah.queue_stats('orders')") == 1


@pytest.mark.parametrize("serializer", ["json", "pickle", "yaml"])
@pytest.mark.parametrize("compression", [None, "zlib"])
def test_each_kind_of_body_comes_as_it_was_sent(connection: Connection, serializer: str, compression: str) -> None:
    sent = {"text": "naïve \0 \U0001f418", "list": [1, 2.5, None], "": {"": []}}
    with connection.SimpleQueue("orders", accept=[serializer]) as queue:
        queue.put(sent, serializer=serializer, compression=compression)
        assert queue.get(timeout=5).payload == sent


def test_a_task_with_an_eta_waits_in_the_database_for_hours(app: Celery, clock: Clock, db: Db, dsn: str) -> None:
    app.send_task("shop.brew", queue="other")  # the first one takes its time
    app.send_task("shop.brew", ("mocha",), countdown=7200)
    (due,) = column(db, "select due_at from howdah.audit_messages where state = 'parked'")
    assert timedelta(seconds=7199) < due - clock.now < timedelta(seconds=7201)
    with broker(dsn) as connection:
        queue = connection.SimpleQueue("celery")
        clock.advance(7190)
        with pytest.raises(queue.Empty):
            queue.get(block=False)
        clock.advance(11)
        message = queue.get(timeout=5)
        # The worker's clock says that there are two hours left. The database has decided.
        assert (message.headers["task"], message.headers["eta"]) == ("shop.brew", None)
        message.ack()


def test_an_eta_that_the_database_did_not_wait_for_is_left_to_the_worker(connection: Connection, db: Db) -> None:
    queue = connection.SimpleQueue("celery")
    db.execute("select howdah.send('celery', '[]'::jsonb, headers => '{\"eta\": \"2099-01-01T00:00:00+00:00\"}')")
    message = queue.get(timeout=5)
    assert message.headers["eta"] == "2099-01-01T00:00:00+00:00"


def test_higher_priorities_come_first(app: Celery, connection: Connection) -> None:
    for priority in (None, 3, 9, 0):
        app.send_task("shop.brew", (priority,), priority=priority)
    queue = connection.SimpleQueue("celery")
    assert [queue.get(timeout=5).payload[0] for _ in range(4)] == [[9], [3], [None], [0]]


def test_a_priority_above_the_highest_is_the_highest(app: Celery, db: Db) -> None:
    for priority in (10, 255, -1):
        app.send_task("shop.brew", priority=priority)
    assert sorted(column(db, "select priority from howdah.browse('celery')")) == [0, 9, 9]


def test_a_drain_that_ends_in_vain_leaves_nobody_to_be_woken(connection: Connection, dsn: str) -> None:
    with Consumer(connection, [Queue("orders")], callbacks=[lambda *_: None]):
        transport = connection.transport
        # Not before somebody listens does a drain ask to be woken.
        with suppress(TimeoutError):
            connection.drain_events(timeout=0.1)
        wait_until(transport._waking.ready)
        with pytest.raises(TimeoutError):
            connection.drain_events(timeout=0.2)
        assert not any(transport._waking._waiting.values())


def test_a_task_expires_in_the_database(app: Celery, connection: Connection, clock: Clock, db: Db) -> None:
    app.send_task("shop.brew", expires=60)
    app.send_task("shop.brew", expires=600)
    clock.advance(61)
    queue = connection.SimpleQueue("celery")
    queue.get(timeout=5).ack()
    with pytest.raises(queue.Empty):
        queue.get(block=False)
    assert one(db, "select (consumed, expired) = (1, 1) from howdah.queue_stats('celery')")


def test_a_rejected_message_fails_until_the_limit_and_one_that_is_not_requeued_is_dead_at_once(
    dsn: str, db: Db
) -> None:
    with broker(dsn, queue_options={"max_failed_deliveries": 2}) as connection:
        queue = connection.SimpleQueue("orders")
        queue.put("a")
        queue.put("b")
        first, second = queue.get(timeout=5), queue.get(timeout=5)
        second.reject()
        first.requeue()
        again = queue.get(timeout=5)
        assert (again.payload, again.delivery_info["redelivered"]) == ("a", True)
        again.requeue()
        with pytest.raises(queue.Empty):
            queue.get(block=False)
    assert sorted(bodies(db, "_SYSTEM.Exception.Destination.howdah")) == ["a", "b"]


def test_a_closed_connection_gives_back_what_it_held_and_blames_nobody(connection: Connection, db: Db) -> None:
    queue = connection.SimpleQueue("orders")
    for number in range(5):
        queue.put(number)
    queue.get(timeout=5)
    connection.close()
    assert one(db, "select count(*) from howdah.list_leases('orders')") == 0
    assert (
        column(db, "select delivery_count from howdah.browse('orders')") == [0] * 5
        or column(db, "select redelivered from howdah.browse('orders')") == [False] * 5
    )


def test_a_late_acknowledgement_fails_and_is_logged(
    dsn: str, db: Db, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    with broker(dsn) as connection, caplog.at_level(logging.WARNING, "howdah.kombu"):
        queue = connection.SimpleQueue("orders")
        queue.put("once")
        message = queue.get(timeout=5)
        clock.advance(61)
        assert column(db, "select body from howdah.lease('orders')") != []
        message.ack()
    assert "acknowledged too late" in caplog.text
    assert one(db, "select messages from howdah.list_leases('orders')") == 1


def test_a_lost_session_costs_no_lease(connection: Connection, db: Db) -> None:
    queue = connection.SimpleQueue("orders")
    queue.put("a")
    message = queue.get(timeout=5)
    db.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'howdah kombu'")
    message.ack()
    assert one(db, "select consumed from howdah.queue_stats('orders')") == 1


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


NEWS = Exchange("news", "topic")


def reader(connection: Connection, *patterns: str) -> Queue:
    """A passing queue that is bound with patterns, in their order."""
    channel = connection.default_channel
    NEWS(channel).declare()
    queue = Queue("reader", auto_delete=True)(channel)
    queue.declare()
    for pattern in patterns:
        queue.bind_to(NEWS, pattern)
    return queue


def publish(connection: Connection, *keys: str) -> None:
    """Messages whose bodies are their routing keys."""
    for key in keys:
        Producer(connection).publish(key, exchange=NEWS, routing_key=key)


def taken(connection: Connection, pattern: str) -> list[str]:
    """What a process gets of the messages that one binding of the reader brought it."""
    place = connection.transport.places.target("reader")
    (source,) = [name for name, (_, by) in place.sources.items() if by == pattern]
    messages, _ = connection.default_channel._take_from(place, source, 1, no_ack=True)
    return [message.payload for message in messages]


@pytest.mark.parametrize("older", ["a.*", "*.c"])
@pytest.mark.parametrize("of_first", ["a.*", "*.c"])
def test_processes_that_bind_in_other_orders_get_a_message_once(dsn: str, older: str, of_first: str) -> None:
    """Whoever gets which copy of it."""
    newer, of_second = ("a.*" if one == "*.c" else "*.c" for one in (older, of_first))
    with broker(dsn) as first, broker(dsn) as second:
        reader(first, older, newer)
        reader(second, newer, older)
        publish(first, "a.c")
        assert taken(first, of_first) + taken(second, of_second) == ["a.c"]


def test_a_process_that_binds_in_another_order_loses_nothing_that_came_before_the_newer_binding(dsn: str) -> None:
    with broker(dsn) as first, broker(dsn) as second:
        queue = reader(first, "a.*")
        publish(first, "a.c")
        reader(second, "*.c", "a.*")
        queue.bind_to(NEWS, "*.c")
        assert second.default_channel.basic_get("reader", no_ack=True).payload == "a.c"


def test_a_passing_queue_takes_from_several_exchanges_by_the_same_key(connection: Connection) -> None:
    channel, producer = connection.default_channel, Producer(connection)
    exchanges = [Exchange("one", "fanout"), Exchange("two", "fanout"), NEWS, Exchange("sport", "topic")]
    queue = reader(connection)
    for exchange in exchanges:
        exchange(channel).declare()
        queue.bind_to(exchange, "a")
        producer.publish(exchange.name, exchange=exchange, routing_key="a")
    assert sorted(received(connection, queue, count=4)) == ["news", "one", "sport", "two"]


def test_the_names_of_subscriptions_tell_queue_topic_and_pattern_apart() -> None:
    parts = [("a b", "t", "#"), ("a", "t", "b"), ("a", "t", "#"), ("a", "u", "#"), ("a", "b", "t"), ("a", "t b", "#")]
    names = {subscription_name(*part) for part in parts}
    assert len(names) == len(parts)
    assert all(len(name) <= 100 and ":" not in name for name in names | {subscription_name("q:" * 90, "t", "#")})


def test_a_binding_that_was_refused_is_not_tried_again_by_a_consumer(db: Db, limited: Callable[..., str]) -> None:
    db.execute("select howdah.create_topic('news.exchange')")
    with broker(limited("howdah_producer", "howdah_consumer")) as connection:
        queue = reader(connection, "a")
        missing = Exchange("missing", "topic")(connection.default_channel)
        missing.declare()
        with pytest.raises(NoSuchQueue):
            queue.bind_to(missing, "a")
        (ended,) = column(db, "select subscription from howdah.list_subscriptions()")
        db.execute("select howdah.unsubscribe(%s)", [ended])
        channel = connection.default_channel
        assert channel.basic_get("reader") is None, "it makes its subscription anew"
        publish(connection, "a")
        assert channel.basic_get("reader").payload == "a"


def test_a_copy_that_is_dropped_hides_no_message_behind_it(connection: Connection) -> None:
    reader(connection, "a.*", "*.c")
    publish(connection, "a.c", "z.c")
    found = [connection.default_channel.basic_get("reader", no_ack=True) for _ in range(2)]
    assert [message and message.payload for message in found] == ["a.c", "z.c"]


def test_a_copy_that_is_dropped_lets_nobody_sleep(connection: Connection) -> None:
    """Behind a hundred of them, a message waited for twenty seconds."""
    queue = reader(connection, "a.*", "*.c")
    found: list[str] = []
    with Consumer(connection, [queue], no_ack=True, callbacks=[lambda body, _: found.append(body)]) as consumer:
        publish(connection, "a.c")
        assert (consumer.channel.fetch(1), consumer.channel.deliver(), found) == (1, True, ["a.c"])
        assert (consumer.channel.fetch(1), consumer.channel.deliver(), found) == (1, False, ["a.c"])
        assert consumer.channel.fetch(1) == 0


def test_copies_that_are_dropped_keep_nobody_beyond_the_time_to_wait(connection: Connection) -> None:
    queue = reader(connection, "a.*", "*.c")
    found: list[str] = []
    with Consumer(connection, [queue], no_ack=True, callbacks=[lambda body, _: found.append(body)]) as consumer:
        publish(connection, *["a.c"] * 3)
        while len(found) < 3:
            connection.drain_events(timeout=5)
        with pytest.raises(TimeoutError):
            connection.drain_events(timeout=0)
        left = 0
        while consumer.channel.fetch(1):
            left += 1
        assert left > 0


def test_a_queue_is_there_after_its_first_binding_has_ended(connection: Connection) -> None:
    channel = connection.default_channel
    reader(connection, "a", "b").unbind_from(NEWS, "a")
    publish(connection, "a", "b")
    assert channel.queue_declare("reader", passive=True).queue == "reader"
    assert channel.basic_get("reader", no_ack=True).payload == "b"


def test_a_queue_that_is_in_use_keeps_all_of_its_bindings(connection: Connection, db: Db) -> None:
    channel = connection.default_channel
    reader(connection, "a", "b")
    publish(connection, "b")
    message = channel.basic_get("reader")
    assert channel.basic_get("reader") is None
    with pytest.raises(SubscriptionInUse):
        channel.queue_delete("reader")
    assert one(db, "select count(*) from howdah.list_subscriptions()") == 2
    message.ack()
    channel.queue_delete("reader")
    assert one(db, "select count(*) from howdah.list_subscriptions()") == 0


def test_a_queue_counts_what_a_receiver_could_get(connection: Connection, clock: Clock, db: Db) -> None:
    channel, producer = connection.default_channel, Producer(connection)
    channel.queue_declare("orders")
    for n in range(3):
        producer.publish(n, routing_key="orders")
    assert channel.queue_declare("orders", passive=True).message_count == 3
    message = channel.basic_get("orders")
    assert channel.queue_declare("orders", passive=True).message_count == 2
    message.ack()
    assert channel._size("orders") == 2
    channel.queue_purge("orders")
    producer.publish("in hand", routing_key="orders")
    channel.basic_get("orders")
    assert channel._size("orders") == 0
    clock.advance(channel.transport.lease_seconds + 1)
    assert channel._size("orders") == 1, "the lease has run out"
    channel.basic_get("orders")
    channel.queue_delete("orders", if_empty=True)
    assert one(db, "select count(*) from howdah.list_queues() where queue = 'orders'") == 0


def test_a_queue_that_is_not_there_is_not_made_by_counting_or_purging(connection: Connection, db: Db) -> None:
    channel = connection.default_channel
    assert (channel._size("none"), channel.queue_purge("none")) == (0, 0)
    assert one(db, "select count(*) from howdah.list_queues() where queue = 'none'") == 0


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


def test_queue_names_of_any_kind_and_length(connection: Connection, db: Db) -> None:
    for name in ("worker@host.dq2", "x" * 400, "żółw", "a b"):
        with connection.SimpleQueue(name) as queue:
            queue.put(name)
            assert queue.get(timeout=5).payload == name
    assert queue_name("plain") == "plain"
    assert len({queue_name("a b"), queue_name("a c"), queue_name("a_b")}) == 3


def test_an_answer_reaches_the_queue_that_was_named_in_reply_to(dsn: str) -> None:
    """As Celery's rpc:// does it."""
    with broker(dsn) as asker, broker(dsn) as answerer:
        replies = Queue("4c0ffee0-1111-4222-8333-444455556666", durable=False, auto_delete=True)
        with Consumer(asker, [replies], no_ack=True, callbacks=[lambda body, _: found.append(body)]):
            found: list[str] = []
            asker.SimpleQueue("questions").put("why?", reply_to=replies.name)
            question = answerer.SimpleQueue("questions").get(timeout=5)
            Producer(answerer).publish("because", routing_key=question.properties["reply_to"], serializer="json")
            asker.drain_events(timeout=10)
        assert found == ["because"]


def test_an_answer_reaches_a_queue_that_another_connection_of_the_asker_declared(dsn: str, db: Db) -> None:
    """As Celery's rpc:// does it: it sends on one connection, and receives on another."""
    replies = Queue("4c0ffee0-1111-4222-8333-444455556666", durable=False, auto_delete=True)
    with broker(dsn) as sender, broker(dsn) as receiver, broker(dsn) as answerer:
        replies(sender.default_channel).declare()
        sender.SimpleQueue("questions").put("why?", reply_to=replies.name)
        question = answerer.SimpleQueue("questions").get(timeout=5)
        Producer(answerer).publish("because", routing_key=question.properties["reply_to"], serializer="json")
        assert received(receiver, replies, count=1) == ["because"]
    assert one(db, "select count(*) from howdah.temporary_queues where connection is not null") == 0


def test_what_goes_to_a_queue_that_nobody_declared_is_lost_as_in_amqp(connection: Connection, db: Db) -> None:
    Producer(connection).publish("for nobody", routing_key="gone", serializer="json")
    assert one(db, "select count(*) from howdah.list_queues() where queue = 'gone'") == 0
    connection.SimpleQueue("there").put(1)
    with broker(db.info.dsn + f" password={db.info.password}") as other:
        Producer(other).publish(2, routing_key="there", serializer="json")
    assert bodies(db, "there") == ["1", "2"]


def test_a_message_cannot_redirect_what_others_send(connection: Connection, db: Db) -> None:
    """Whoever may send to one queue would else have the tasks that go to all others."""
    db.execute("select howdah.create_queue('another')")
    inbox, orders = connection.SimpleQueue("inbox"), Queue("orders", Exchange("shop", "direct"), "key")
    orders(connection.default_channel).declare()
    for exchange, place in (("", "_TEMP.x"), ("shop", "_TEMP.x"), ("shop", "another"), ("reply", "another")):
        key = "key" if exchange else "orders"
        _forge(db, {"kombu": {"replies": [[exchange, key, place]], "encoding": "utf-8", "properties": {}}})
        inbox.get(timeout=5).ack()
    producer = Producer(connection)
    producer.publish("a", routing_key="orders", serializer="json")
    producer.publish("b", exchange=orders.exchange, routing_key="key", serializer="json")
    producer.publish("c", exchange=Exchange("reply", "direct"), routing_key="key", serializer="json")
    assert (bodies(db, "orders"), bodies(db, "another")) == (['"a"', '"b"'], [])


def test_headers_of_any_kind_are_delivered(connection: Connection, db: Db) -> None:
    """A worker that falls over a message would fall over it again and again."""
    inbox = connection.SimpleQueue("inbox")
    odd: list[Any] = [
        5,
        "x",
        [],
        {"properties": 5},
        {"encoding": 5},
        {"routing_key": 5, "exchange": []},
        {"delayed": 1},
    ]
    odd += [{"replies": 5}, {"replies": [None, ["a"], [1, 2, 3]]}]
    for kombu in odd:
        _forge(db, {"kombu": kombu, "eta": 5})
        message = inbox.get(timeout=5)
        assert message.body == b"1"
        message.ack()


def _forge(db: Db, headers: dict[str, Any]) -> None:
    db.execute("select howdah.send('inbox', '1'::jsonb, headers => %s)", [psycopg.types.json.Jsonb(headers)])


def _psycopg(dsn: str, send: Callable[[], None], *, commit: bool) -> None:
    with psycopg.connect(dsn, row_factory=psycopg.rows.dict_row) as own, using(own):
        own.execute("insert into orders values ('mocha')")
        send()
        own.commit() if commit else own.rollback()


def _sqlalchemy(dsn: str, send: Callable[[], None], *, commit: bool) -> None:
    engine = sqlalchemy.create_engine(url(dsn, "postgresql+psycopg"))
    with orm.Session(engine) as own, using(own):
        own.execute(sqlalchemy.text("insert into orders values ('mocha')"))
        send()
        own.commit() if commit else own.rollback()
    engine.dispose()


@pytest.mark.first_case
@pytest.mark.parametrize("library", [_psycopg, _sqlalchemy])
def test_a_task_is_sent_in_the_callers_own_transaction(
    app: Celery, dsn: str, db: Db, library: Callable[..., None]
) -> None:
    db.execute("create table orders (item text)")

    def send() -> None:
        app.send_task("shop.brew", ("mocha",), priority=5, countdown=None)
        assert one(db, "select live + parked from howdah.queue_stats('celery')") == 0

    app.amqp.queues.select_add("celery")
    library(dsn, send, commit=False)
    assert (one(db, "select count(*) from orders"), len(bodies(db, "celery"))) == (0, 0)
    library(dsn, send, commit=True)
    assert (one(db, "select count(*) from orders"), len(bodies(db, "celery"))) == (1, 1)
    app.send_task("shop.brew")
    assert len(bodies(db, "celery")) == 2


@pytest.mark.parametrize("library", [_psycopg, _sqlalchemy])
@pytest.mark.parametrize("topic", [False, True], ids=["nobody has bound a queue", "its topic is paused"])
def test_an_event_that_is_refused_leaves_the_callers_transaction_whole(
    dsn: str, db: Db, library: Callable[..., None], topic: bool
) -> None:
    """Celery sends one after each task, and goes on whatever becomes of it."""
    db.execute("create table orders (item text)")
    if topic:
        db.execute(
            "select howdah.create_topic('celeryev.exchange'), howdah.pause('celeryev.exchange', sending => true)"
        )
    with application(dsn, task_send_sent_event=True) as app:
        app.amqp.queues.select_add("celery")
        library(dsn, lambda: app.send_task("shop.brew", ("mocha",)), commit=True)
    assert (one(db, "select count(*) from orders"), len(bodies(db, "celery"))) == (1, 1)


def test_an_event_in_the_callers_transaction_is_sent_with_its_commit(dsn: str, db: Db) -> None:
    db.execute("select howdah.create_topic('celeryev.exchange')")
    heard = one(db, "select howdah.subscribe('celeryev.exchange', 'monitor')")
    with application(dsn, task_send_sent_event=True) as app, psycopg.connect(dsn) as own:
        app.amqp.queues.select_add("celery")
        with using(own):
            app.send_task("shop.brew", ("mocha",))
        assert own.info.transaction_status is psycopg.pq.TransactionStatus.INTRANS
        assert bodies(db, heard) == []
        own.commit()
    assert len(bodies(db, heard)) == 1


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


@pytest.mark.slow
def test_a_task_is_sent_in_an_atomic_block_of_django(dsn: str, db: Db) -> None:
    db.execute("create table orders (item text)")
    program = Path(__file__).with_name("django_shop.py")
    paths = os.pathsep.join(path for path in sys.path if path.endswith(("/src", "/helpers")))
    for commit in (False, True):
        arguments = [sys.executable, "-P", str(program), dsn, str(commit)]
        subprocess.run(arguments, env={**os.environ, "PYTHONPATH": paths}, check=True)
        assert (one(db, "select count(*) from orders"), len(bodies(db, "celery"))) == (commit, commit)


def test_using_takes_djangos_connection_inside_a_task_of_djangos(db: Db) -> None:
    borrowed = object.__new__(Borrowed)
    borrowed.borrowed = db
    with using(SimpleNamespace(ensure_connection=lambda: None, connection=borrowed)):
        assert callers() is db


def test_using_refuses_what_is_no_connection_and_ends_with_its_block_and_thread(app: Celery, db: Db, dsn: str) -> None:
    app.send_task("shop.brew")
    with using("postgresql://"), pytest.raises(IllegalState):
        app.send_task("shop.brew")
    with psycopg.connect(dsn) as own:
        with using(own):
            other = threading.Thread(target=app.send_task, args=("shop.brew",))
            other.start()
            other.join()
            app.send_task("shop.brew")
        own.rollback()
    assert len(bodies(db, "celery")) == 2


def test_a_full_queue_refuses_a_task(app: Celery, db: Db) -> None:
    db.execute("select howdah.create_queue('celery', '{\"message_limit\": 1}')")
    app.send_task("shop.brew")
    with pytest.raises(QueueFull):
        app.send_task("shop.brew", retry=True)


@pytest.fixture
def limited(dsn: str, db: Db) -> Iterator[Callable[..., str]]:
    """Makes the DSN of a role that has some of Howdah's roles."""
    role = f"celery_{conninfo_to_dict(dsn)['dbname']}"
    name = sql.Identifier(role)

    def make(*roles: str) -> str:
        granted = sql.SQL(", ").join(map(sql.Identifier, roles))
        db.execute(sql.SQL("create role {} login password 'x'; grant {} to {}").format(name, granted, name))
        return psycopg.conninfo.make_conninfo(dsn, user=role, password="x")

    yield make
    db.execute(sql.SQL("drop owned by {}; drop role {}").format(name, name))


def test_who_only_sends_may_declare_and_hears_that_he_may_not_delete(db: Db, limited: Callable[..., str]) -> None:
    db.execute("select howdah.create_queue('celery'), howdah.send('celery', 'x'::text)")
    with broker(limited("howdah_producer")) as connection:
        channel = connection.default_channel
        assert channel.queue_declare("celery").message_count == 0
        assert channel.queue_declare("celery", passive=True).message_count == 0
        with pytest.raises(NotAllowed):
            channel.queue_delete("celery")
        assert channel._has_queue("celery")
    assert bodies(db, "celery") == ["x"]


def test_a_queue_that_was_never_made_is_deleted_without_a_right(limited: Callable[..., str]) -> None:
    with broker(limited("howdah_producer")) as connection:
        queue = Queue("passing", auto_delete=True)(connection.default_channel)
        queue.declare()
        queue.delete()


def test_who_may_not_unbind_hears_of_it(db: Db, limited: Callable[..., str]) -> None:
    as_admin = limited("howdah_admin")
    role = sql.Identifier(str(conninfo_to_dict(as_admin)["user"]))
    with broker(as_admin) as connection:
        queue = Queue("celery", Exchange("news", "topic"), "a")(connection.default_channel)
        queue.declare()
        db.execute(sql.SQL("revoke howdah_admin from {}; grant howdah_consumer to {}").format(role, role))
        with pytest.raises(NotAllowed):
            queue.unbind_from(queue.exchange, "a")
    assert one(db, "select count(*) from howdah.list_bridges('news.exchange')") == 1


def test_an_unbind_that_was_refused_can_be_made_again(db: Db, limited: Callable[..., str]) -> None:
    as_admin = limited("howdah_admin")
    role = sql.Identifier(str(conninfo_to_dict(as_admin)["user"]))
    with broker(as_admin) as connection:
        queue = Queue("celery", NEWS, "a")(connection.default_channel)
        queue.declare()
        queue.bind_to(NEWS, "b")
        db.execute(sql.SQL("revoke howdah_admin from {}; grant howdah_consumer to {}").format(role, role))
        with pytest.raises(NotAllowed):
            queue.unbind_from(NEWS, "a")
        db.execute(sql.SQL("grant howdah_admin to {}").format(role))
        queue.unbind_from(NEWS, "a")
    assert one(db, "select selector from howdah.list_bridges('news.exchange')") == "routing_key = 'b'"


def test_a_declaration_does_not_count(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each new connection of a producer declares all its queues, and a count reads many tables."""
    channel = connection.default_channel
    counted: list[str] = []
    monkeypatch.setattr(connection.transport.places, "size", counted.append)
    assert (channel.queue_declare("orders").message_count, counted) == (0, [])


def test_producers_and_consumers_need_no_more_rights_once_an_administrator_has_made_the_queues(
    db: Db, limited: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    as_limited = limited("howdah_producer", "howdah_consumer")
    with broker(as_limited) as connection, pytest.raises((NoSuchQueue, HowdahError)):
        connection.SimpleQueue("missing").put(1)
    assert "create" in caplog.text or "allowed" in caplog.text or "permission" in caplog.text
    db.execute("select howdah.create_queue('celery'), howdah.create_topic('celery.pidbox.exchange')")
    with broker(as_limited) as connection:
        connection.SimpleQueue("celery").put("a")
        connection.SimpleQueue("celery").get(timeout=5).ack()
        pidbox = Queue("me.celery.pidbox", Exchange("celery.pidbox", "fanout", durable=False), exclusive=True)
        with Consumer(connection, [pidbox], no_ack=True):
            Producer(connection).publish("ping", exchange=pidbox.exchange, routing_key="", serializer="json")


def test_no_password_is_shown(dsn: str) -> None:
    secret = f"howdah://tom:sesame@{conninfo_to_dict(dsn)['host']}:1/shop"
    unreachable = Connection(secret, transport="howdah.kombu:Transport", connect_timeout=2)
    assert "sesame" not in unreachable.as_uri() + repr(unreachable)
    with pytest.raises(unreachable.connection_errors) as caught:
        unreachable.transport.establish_connection()  # connect() would try again two seconds later
    assert "sesame" not in str(caught.value)


def test_with_early_start_a_lease_is_on_disk_after_its_flush(dsn: str, db: Db) -> None:
    """Its commit does not wait for the disk, so that the pool gets the task first."""
    loop = Hub()
    with broker(dsn, early_start=True) as connection:
        connection.transport.register_with_event_loop(connection.transport, loop)
        with Consumer(connection, [Queue("orders")], callbacks=[lambda _, message: None]):
            Producer(connection).publish("a", routing_key="orders", serializer="json")
            transport = connection.transport
            wait_until(lambda: transport._look() or one(db, "select count(*) from howdah.list_leases('orders')") == 1)
            before = one(db, "select pg_current_wal_insert_lsn()")
            assert transport.leases.pending
            transport.leases.flush()
            assert one(db, "select pg_current_wal_flush_lsn() >= %s", [before])
            assert not transport.leases.pending
            assert one(db, "select count(*) from howdah.list_leases('orders')") == 1
        connection.transport.unregister_from_event_loop(connection.transport, loop)
    loop.close()


def test_a_task_that_breaks_its_queues_contract_is_refused_at_once(app: Celery, db: Db) -> None:
    """Not tried again as what a lost connection stopped is. A contract is about the message of Celery's protocol."""
    keywords = {"prefixItems": [True, {"required": ["number"]}]}
    one(db, "select howdah.create_queue('celery', %s)", (Jsonb({"contract": keywords}),))
    app.send_task("brew", kwargs={"number": 1})
    with pytest.raises(ContractViolated, match="#/1 lacks the member"):
        app.send_task("brew", kwargs={"count": 1}, retry=True)
    assert len(bodies(db, "celery")) == 1
