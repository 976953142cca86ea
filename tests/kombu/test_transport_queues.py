"""A queue of kombu's transport takes what is named for it, whatever its name, and counts what it has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg.types.json
import pytest
from celery_support import broker
from kombu import Connection, Consumer, Exchange, Producer, Queue
from support import Clock, Db, one
from transport_support import bodies, received

from howdah.kombu.places import queue_name


@pytest.fixture
def connection(dsn: str) -> Iterator[Connection]:
    with broker(dsn) as opened:
        yield opened


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


def test_a_declaration_does_not_count(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each new connection of a producer declares all its queues, and a count reads many tables."""
    channel = connection.default_channel
    counted: list[str] = []
    monkeypatch.setattr(connection.transport.places, "size", counted.append)
    assert (channel.queue_declare("orders").message_count, counted) == (0, [])
