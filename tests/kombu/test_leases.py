"""What a connection of kombu has in hand: what becomes of it when the server or a message is at fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psycopg
import pytest
from celery_support import broker
from kombu import Connection, Consumer, Exchange, Producer, Queue
from kombu.asynchronous import Hub
from psycopg.types.json import Jsonb
from support import Db, Server, column, identifier, one, wait_until

Away = Callable[[], AbstractContextManager[None]]

LEASES = "select coalesce(sum(messages), 0) from howdah.list_leases(%s)"
DEAD = "select body from howdah.browse('_SYSTEM.Exception.Destination.howdah')"


@pytest.fixture
def connection(dsn: str) -> Iterator[Connection]:
    with broker(dsn, lease_seconds=3) as opened:
        yield opened


@pytest.fixture
def unreachable(server: Server, db: Db) -> Away:
    """For a block the database takes no connection, and those of kombu are ended."""
    name = identifier(one(db, "select current_database()"))

    @contextmanager
    def away() -> Iterator[None]:
        change = psycopg.sql.SQL("alter database {} with allow_connections {}")
        with psycopg.connect(server.dsn, autocommit=True) as admin:
            admin.execute(change.format(name, psycopg.sql.SQL("false")))
            try:
                db.execute(
                    "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
                    " where application_name = 'howdah kombu'"
                )
                yield
            finally:
                admin.execute(change.format(name, psycopg.sql.SQL("true")))

    return away


@pytest.mark.own_database
@pytest.mark.slow
def test_what_cannot_be_given_back_is_renewed_no_longer(connection: Connection, db: Db, unreachable: Away) -> None:
    queue = connection.SimpleQueue("orders")
    queue.put("a")
    queue.get(timeout=5)
    thread = connection.transport.leases._thread
    with unreachable():
        connection.close()
    wait_until(lambda: not thread.is_alive(), 10)
    wait_until(lambda: one(db, LEASES, ("orders",)) == 0 or column(db, "select body from howdah.lease('orders')"), 10)


@pytest.mark.own_database
@pytest.mark.parametrize(
    ("settle", "settled"),
    [
        ("ack", "select 1 from howdah.queue_stats('orders') where consumed = 1"),
        ("reject", DEAD),
    ],
)
@pytest.mark.slow
def test_what_does_not_reach_the_server_is_said_again(
    connection: Connection, db: Db, unreachable: Away, settle: str, settled: str
) -> None:
    queue = connection.SimpleQueue("orders")
    queue.put("a")
    message = queue.get(timeout=5)
    with unreachable(), pytest.raises(connection.connection_errors):
        getattr(message, settle)()
    wait_until(lambda: len(column(db, settled)) == 1, 10)


def test_a_dropped_queue_keeps_no_other_messages_from_being_acknowledged(connection: Connection, db: Db) -> None:
    messages = []
    for name in ("first", "second"):
        queue = connection.SimpleQueue(name)
        queue.put(name)
        messages.append(queue.get(timeout=5))
    db.execute("select howdah.drop_queue('first', true)")
    connection.transport.leases._at_once = lambda: False
    for message in messages:
        message.ack()
    assert connection.transport.leases.flush() == 2
    assert one(db, "select consumed from howdah.queue_stats('second')") == 1
    assert not connection.transport.leases._held


@pytest.mark.slow
def test_an_error_of_the_server_does_not_end_the_renewal(connection: Connection, db: Db) -> None:
    queue = connection.SimpleQueue("orders")
    queue.put("a")
    message = queue.get(timeout=5)
    leases = connection.transport.leases
    renew = leases._renew
    failed: list[bool] = []

    def cancelled() -> None:
        if not failed:
            failed.append(True)
            raise psycopg.errors.QueryCanceled("canceling statement due to user request")
        renew()

    leases._renew = cancelled
    before = one(db, "select leased_until from howdah.list_leases('orders')")
    wait_until(lambda: one(db, "select leased_until from howdah.list_leases('orders')") > before, 10)
    assert failed
    message.ack()


def test_a_message_whose_headers_cannot_be_read_is_dead_and_those_behind_it_are_received(
    connection: Connection, db: Db
) -> None:
    inbox = connection.SimpleQueue("inbox")
    kinds: list[Any] = ["nope", []]
    for kind in kinds:
        headers = {"task": "t", "id": "1", "n": {"__type__": kind, "__value__": 1}}
        db.execute("select howdah.send('inbox', '\"bad\"'::jsonb, headers => %s)", (Jsonb(headers),))
    inbox.put("good")
    assert inbox.get(timeout=5).payload == "good"
    assert column(db, DEAD) == ['"bad"', '"bad"']
    assert one(db, LEASES, ("inbox",)) == 1


def test_a_message_that_its_handler_cannot_take_fails_and_a_worker_goes_on_to_look(dsn: str, db: Db) -> None:
    """As Celery's worker, which knows no task without an id."""
    loop = Hub()
    taken: list[Any] = []

    def take(body: Any, message: Any) -> None:
        taken.append(body)
        if body == "bad":
            raise KeyError("id")
        message.ack()

    with broker(dsn, queue_options={"max_failed_deliveries": 2}) as connection:
        transport = connection.transport
        with Consumer(connection, [Queue("orders")], callbacks=[take]):
            transport.register_with_event_loop(transport, loop)
            producer = Producer(connection)
            for body in ("bad", "good"):
                producer.publish(body, routing_key="orders", serializer="json")
            _turn(loop, transport, lambda: sorted(taken) == ["bad", "bad", "good"])
            producer.publish("later", routing_key="orders", serializer="json")
            _turn(loop, transport, lambda: "later" in taken)
        transport.unregister_from_event_loop(transport, loop)
    loop.close()
    assert column(db, DEAD) == ['"bad"']


@pytest.mark.slow
def test_after_an_error_of_the_server_a_worker_goes_on_to_look(dsn: str, db: Db) -> None:
    loop = Hub()
    taken: list[Any] = []
    failed: list[bool] = []
    with broker(dsn) as connection:
        transport = connection.transport
        with Consumer(connection, [Queue("orders")], callbacks=[lambda body, _: taken.append(body)], no_ack=True):
            transport.register_with_event_loop(transport, loop)
            receive = transport._receive

            def cancelled() -> int:
                if not failed:
                    failed.append(True)
                    raise psycopg.errors.QueryCanceled("canceling statement due to user request")
                found: int = receive()
                return found

            transport._receive = cancelled
            Producer(connection).publish("a", routing_key="orders", serializer="json")
            _turn(loop, transport, lambda: taken == ["a"], ring=False)
        transport.unregister_from_event_loop(transport, loop)
    loop.close()
    assert failed


def test_what_came_past_its_exchange_reaches_a_queue_that_is_bound_by_a_pattern(connection: Connection, db: Db) -> None:
    kept = Queue("kept", Exchange("news", "topic"), "#.storm")(connection.default_channel)
    kept.declare()
    producer = Producer(connection)
    producer.publish("by its name", exchange="", routing_key="kept", serializer="json")
    db.execute("select howdah.send('kept', '\"by SQL\"'::jsonb)")
    for key in ("big.storm", "small.breeze"):
        producer.publish(key, exchange="news", routing_key=key, serializer="json")
    found: list[Any] = []
    with Consumer(connection, [kept], callbacks=[lambda body, _: found.append(body)], no_ack=True):
        while len(found) < 3:
            connection.drain_events(timeout=10)
    assert {"by its name", "big.storm"} < set(map(str, found))
    assert "small.breeze" not in found


def _turn(loop: Hub, transport: Any, until: Callable[[], bool], *, ring: bool = True) -> None:
    """Run the event loop by hand: its timers, and the bell that a sender may ring."""

    def once() -> bool:
        loop.fire_timers(propagate=transport.connection_errors)
        if ring:
            transport._rung()
        return until()

    wait_until(once, 20)
