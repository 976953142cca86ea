"""What an administered factory decides: overrides, flow control, browsers, JMSX properties, and what it reaches."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb
from support import Db, one

from howdah.engine import AckMode, Connection, Message, lookup
from howdah.engine.errors import IllegalState, NoReply


@pytest.fixture
def made(db: Db, dsn: str, request: pytest.FixtureRequest) -> Callable[..., Connection]:
    """Store a factory and connect by it."""

    def make(**attributes: Any) -> Connection:
        one(db, "select howdah.create_object('cf', 'connection_factory', %s)", (Jsonb(attributes),))
        connection: Connection = lookup(dsn, "cf").create_connection()
        request.addfinalizer(connection.close)
        connection.start()
        return connection

    return make


def ways(connection: Connection) -> dict[str, Callable[..., Any]]:
    """Every way to send through a connection; a batch with a priority gives it to each message."""

    def many(send: Callable[..., Any]) -> Callable[..., Any]:
        def call(queue: str, body: str, *, priority: int, **options: Any) -> Any:
            return send(queue, [body], priorities=[priority], **options)

        return call

    session, jms = connection.session(transacted=False), connection.jms_session()

    def load(queue: str, body: str, *, priority: int, headers: Any = None, **options: Any) -> Any:
        return session.send_copy(queue, [(body, priority, headers)], columns=["priority", "headers"], **options)

    def stream(queue: str, body: str, *, priority: int, headers: Any = None, **options: Any) -> Any:
        return session.send_stream(queue, [body], **options)

    return {
        "connection": connection.send,
        "later": lambda queue, body, **options: connection.send_async(queue, body, **options).result(),
        "session": session.send,
        "many": many(session.send_many),
        "stream": stream,
        "load": load,
        "plain load": lambda queue, body, **options: session.send_copy(queue, [body], time_to_live=None),
        "producer": lambda queue, body, **options: session.producer(queue).send(body, **options),
        "jms": jms.send,
        "jms many": many(jms.send_many),
        "windowed": lambda queue, body, **options: connection.windowed_producer(queue).send(body, **options).result(),
    }


def taken(connection: Connection, queue: str, number: int = 100) -> list[Message]:
    with connection.session() as session:
        messages = session.receive(queue, number)
        session.commit()
    return messages


@pytest.mark.behaviour("IMQ-134")
def test_the_administrator_overrides_delivery_mode_priority_and_expiration(
    made: Callable[..., Connection], orders: str
) -> None:
    connection = made(delivery_mode="non-persistent", priority=7, time_to_live_ms=60000)
    sends = ways(connection)
    for send in sends.values():
        send(orders, "x", priority=2, time_to_live=None, delivery_mode="persistent")
    got = taken(connection, orders)
    assert len(got) == len(sends)
    for message in got:
        assert message.expires_at is not None
        assert message.expires_at - message.sent_at == timedelta(seconds=60)
        assert (message.priority, message.delivery_mode) == (7, "non-persistent")
    connection.send(orders, "x", time_to_live=0, reliability="ASSURED_PERSISTENT")  # 0 is refused without the override
    (message,) = taken(connection, orders)
    assert message.reliability == "EXPRESS_NONPERSISTENT"


def test_an_override_of_0_takes_the_time_to_live_away(made: Callable[..., Connection], orders: str) -> None:
    connection = made(time_to_live_ms=0)
    connection.send(orders, "x", time_to_live=5, priority=3)
    (message,) = taken(connection, orders)
    assert (message.expires_at, message.priority) == (None, 3)


@pytest.mark.first_case
@pytest.mark.parametrize("temporary", [False, True])
def test_a_switch_says_whether_overrides_hold_for_temporary_destinations(
    made: Callable[..., Connection], temporary: bool
) -> None:
    connection = made(priority=7, time_to_live_ms=60000, override_temporary=temporary)
    with connection.session() as session:
        queue = session.create_temporary_queue()
        connection.send(queue, "x", priority=2)
        (message,) = session.receive(queue)
        session.commit()
        assert (message.priority, message.expires_at is not None) == ((7, True) if temporary else (2, False))


@pytest.mark.behaviour("IMQ-135")
def test_flow_control_takes_effect(made: Callable[..., Connection], db: Db, orders: str) -> None:
    connection = made(prefetch=3, producer_window_bytes=10, confirm_sends="none")
    for n in range(10):
        connection.send(orders, str(n))
    with connection.jms_session(mode=AckMode.CLIENT) as jms:
        consumer = jms.consumer(orders)
        assert consumer.prefetch == 3
        assert consumer.receive(5) is not None
        assert one(db, "select count(*) from howdah.leased") == 3
        jms.acknowledge()
    taken(connection, orders)
    db.execute("begin; lock table howdah.msgs in exclusive mode")
    try:
        with connection.windowed_producer(orders) as producer:
            assert producer.window_bytes == 10
            first = producer.send("123456789")  # persistent, and nobody waits
            assert not first.done()
            assert producer.unconfirmed_bytes == 9
            db.execute("rollback")
            producer.flush(20)
            assert first.result() > 0
    finally:
        db.execute("rollback")


@pytest.mark.behaviour("IMQ-135")
def test_sends_are_confirmed_as_the_factory_says(made: Callable[..., Connection], orders: str) -> None:
    connection = made(confirm_sends="all")
    with connection.windowed_producer(orders) as producer:
        assert producer.send("x", delivery_mode="non-persistent").done()  # which nobody waits for otherwise
        assert producer.asynchronous is False
    assert connection.windowed_producer(orders, asynchronous=True).asynchronous is True


@pytest.mark.first_case
@pytest.mark.behaviour("IMQ-135")
@pytest.mark.parametrize("transacted", [True, False])
def test_a_browser_has_the_pages_and_the_patience_that_the_factory_says(
    made: Callable[..., Connection], db: Db, orders: str, transacted: bool
) -> None:
    connection = made(browser_page_size=2, browser_timeout_ms=200)
    connection.session(transacted=False).send_many(orders, [str(n) for n in range(5)])
    with connection.session(transacted=transacted) as session:
        assert [message.body for message in session.browser(orders)] == ["0", "1", "2", "3", "4"]
        asked: list[int] = []
        browse = session.browse
        session.browse = lambda queue, number, **which: asked.append(number) or browse(queue, number, **which)  # type: ignore[func-returns-value, method-assign]
        assert len(list(session.browser(orders))) == 5
        assert asked == [2, 2, 2, 2]
        db.execute("begin; lock table howdah.msgs in access exclusive mode")
        try:
            with pytest.raises(NoReply, match=r"0\.2 seconds"):
                next(iter(session.browser(orders)))
        finally:
            db.execute("rollback")
        timeout = "select current_setting('statement_timeout')"
        assert session.connection.execute(timeout).fetchone() == ("0",)
        assert len(list(session.browser(orders))) == 5
        session.send(orders, "goes on")


SWITCHES = {
    "jmsx_user_id": "JMSXUserID",
    "jmsx_app_id": "JMSXAppID",
    "jmsx_producer_txid": "JMSXProducerTXID",
    "jmsx_consumer_txid": "JMSXConsumerTXID",
    "jmsx_rcv_timestamp": "JMSXRcvTimestamp",
}


@pytest.mark.first_case
@pytest.mark.behaviour("IMQ-136")
@pytest.mark.parametrize("switch", [*SWITCHES, None])
def test_a_jmsx_property_is_there_only_if_the_administrator_switched_it_on(
    made: Callable[..., Connection], orders: str, switch: str | None
) -> None:
    connection = made(**({switch: True} if switch else {}))
    sends = ways(connection)
    for send in sends.values():
        send(orders, "x", priority=4)
    got = taken(connection, orders)
    assert len(got) == len(sends)
    for message in got:
        assert set(message.headers) == ({SWITCHES[switch]} if switch else set())


def test_the_engine_stamps_who_when_and_in_which_transaction(
    made: Callable[..., Connection], db: Db, orders: str
) -> None:
    connection = made(**dict.fromkeys(SWITCHES, True))
    number = "select pg_current_xact_id()::text, session_user::text, current_setting('application_name')"
    with connection.session() as session:
        xid, user, application = session.connection.execute(number).fetchone()
        session.send(orders, "a", headers={"n": 1, "JMSXUserID": "root"})
        session.send_many(orders, ["b"], headers=[{"n": 2}])
        session.send_copy(orders, ["c"])
        session.commit()
        before = one(db, "select extract(epoch from howdah.now()) * 1000")
        got = session.receive(orders, 9)
        own = session.connection.execute("select pg_current_xact_id()::text").fetchone()[0]
        session.commit()
    assert [message.headers.get("n") for message in got] == [1, 2, None]
    for message in got:
        headers = message.headers
        assert (headers["JMSXUserID"], headers["JMSXAppID"]) == (user, application)
        assert (headers["JMSXProducerTXID"], headers["JMSXConsumerTXID"]) == (xid, own)
        assert 0 <= headers["JMSXRcvTimestamp"] - int(before) < 60000


@pytest.mark.first_case
@pytest.mark.parametrize("transacted", [True, False])
def test_sessions_that_receive_ahead_stamp_too(made: Callable[..., Connection], orders: str, transacted: bool) -> None:
    connection = made(jmsx_consumer_txid=True, jmsx_rcv_timestamp=True)
    connection.send(orders, "x")
    with connection.jms_session(transacted=transacted) as jms:
        message = jms.consumer(orders).receive(5)
        assert message is not None
        assert "JMSXRcvTimestamp" in message.headers
        if transacted:
            own = jms.connection.execute("select pg_current_xact_id()::text").fetchone()[0]
            assert message.headers["JMSXConsumerTXID"] == own
            jms.commit()
        else:  # the message is consumed by no transaction of the session's
            assert "JMSXConsumerTXID" not in message.headers


@pytest.mark.behaviour("IMQ-131")
def test_a_client_is_held_to_the_destinations_that_it_looked_up(
    made: Callable[..., Connection], db: Db, orders: str
) -> None:
    one(db, "select howdah.create_object('q/orders', 'queue', '{\"destination\": \"orders\"}')")
    one(db, "select howdah.create_topic('prices')")
    one(db, "select howdah.create_object('t/prices', 'topic', '{\"destination\": \"prices\"}')")
    connection = made(predefined_only=True)
    queue, topic = connection.lookup("q/orders"), connection.lookup("t/prices")
    session, jms = connection.session(), connection.jms_session()
    for use in (
        *ways(connection).values(),
        lambda name, *_, **__: session.receive(name),
        lambda name, *_, **__: session.receive_message(name, 1),
        lambda name, *_, **__: session.receive_correlated(name, "x"),
        lambda name, *_, **__: session.open_consumer(name),
        lambda name, *_, **__: session.browse(name),
        lambda name, *_, **__: list(session.browser(name)),
        lambda name, *_, **__: session.consumer(name).receive(0),
        lambda name, *_, **__: session.listen(name, print),
        lambda name, *_, **__: session.subscriber(name),
        lambda name, *_, **__: jms.consumer(name),
        lambda name, *_, **__: jms.subscriber(name),
        lambda name, *_, **__: connection.leases.lease(name),
    ):
        with pytest.raises(IllegalState, match="looked up"):
            use("orders", "x", priority=4)
    assert taken(connection, queue) == []
    for send in ways(connection).values():
        send(queue, "x", priority=4)
    assert len(taken(connection, queue)) == len(ways(connection))
    with connection.session() as own:
        subscriber = own.subscriber(topic)
        connection.send(topic, "new price")
        assert (message := subscriber.receive(5)) is not None
        assert message.body == "new price"
        own.commit()
        temporary = own.create_temporary_queue()
        connection.send(temporary, "an answer")
        assert [found.body for found in own.receive(temporary)] == ["an answer"]
        own.commit()
    assert jms.consumer(queue).queue == "orders"
