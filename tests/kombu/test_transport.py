"""What the transport makes of kombu's and Celery's messages, in the database."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta

import pytest
from celery import Celery
from celery_support import application, broker
from kombu import Connection, Consumer, Producer, Queue
from kombu.asynchronous import Hub
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.json import Jsonb
from support import Clock, Db, column, one, wait_until
from transport_support import bodies

from howdah.engine.errors import (
    ContractViolated,
    QueueFull,
)


@pytest.fixture
def connection(dsn: str) -> Iterator[Connection]:
    with broker(dsn) as opened:
        yield opened


@pytest.fixture
def app(dsn: str) -> Iterator[Celery]:
    """Sends tasks to a queue that is there."""
    with application(dsn) as made:
        yield made


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


def test_a_full_queue_refuses_a_task(app: Celery, db: Db) -> None:
    db.execute("select howdah.create_queue('celery', '{\"message_limit\": 1}')")
    app.send_task("shop.brew")
    with pytest.raises(QueueFull):
        app.send_task("shop.brew", retry=True)


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
