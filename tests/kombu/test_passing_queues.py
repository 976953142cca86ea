"""Processes that share a passing queue get each message once, in whatever order they bound it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from celery_support import broker
from kombu import Connection, Consumer, Exchange, Producer
from support import Db, one
from transport_support import NEWS, publish, reader, received, taken

from howdah.engine.errors import (
    SubscriptionInUse,
)


@pytest.fixture
def connection(dsn: str) -> Iterator[Connection]:
    with broker(dsn) as opened:
        yield opened


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
