"""What a message can hold comes back as it was sent, and what it cannot is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, cast
from uuid import uuid4

import pytest
from support import Clock, Connect, Db, one

from howdah.engine import Call, Connection, Message, TypedMap, TypedStream, calls
from howdah.engine.errors import BadArgument, BadPriority, BodyTooLarge


def round_trip(connection: Connection, queue: str, body: Any, **options: Any) -> Message:
    with connection.session() as session, session.transaction():
        session.send(queue, body, **options)
        (message,) = session.receive(queue)
        return message


# Values are looped over and not parametrized: a database for each would take longer than all of them.
TEXTS = ["", "plain", "中文消息。", "🐘 in a howdah 👩‍👩‍👧", "line\nline\r\n\ttab", '{"a": 1}', "x" * 1_000_000]
BYTES = [b"", b"\x00", bytes(range(256)), b"\x00\xff" * 500_000, bytearray(b"\x00a"), memoryview(b"\\x00")]
OBJECTS = [7, -(10**30), 0.1, True, False, [], {}, [1, [2, [3, None]]], {"k": {"l": "ü🐘"}, "m": [True, 1.5]}]


@pytest.mark.behaviour("AMQ-24")
def test_text_and_bytes(connection: Connection, orders: str) -> None:
    for text in TEXTS:
        message = round_trip(connection, orders, text)
        assert (message.body, message.data, message.content_type) == (text, text, "text/plain")
    for raw in BYTES:
        message = round_trip(connection, orders, raw)
        assert isinstance(message.body, bytes)
        assert (message.body, message.content_type) == (bytes(raw), "application/octet-stream")


@pytest.mark.behaviour("AMQ-22")
def test_objects(connection: Connection, orders: str) -> None:
    for value in OBJECTS:
        message = round_trip(connection, orders, value)
        assert (type(message.data), message.data) == (type(value), value)


@pytest.mark.behaviour("AMQ-23")
def test_a_map_keeps_the_types_of_its_entries(connection: Connection, db: Db, orders: str) -> None:
    sent = TypedMap(stock="IBM", price=65.0, offer=1e22, up=True, volume=1, raw=b"\x00\xff", none=None)
    sent |= {"exact": Decimal("1.10"), "at": datetime(2026, 1, 2, tzinfo=UTC), "id": uuid4()}
    message = round_trip(connection, orders, sent, headers={"kind": "quote"})
    assert message.content_type == TypedMap.CONTENT_TYPE
    assert isinstance(message.data, TypedMap)
    assert {name: (type(value), value) for name, value in message.data.items()} == {
        name: (type(value), value) for name, value in sent.items()
    }
    # Any client reads it.
    assert json.loads(message.body)["price"] == ["double", 65.0]
    with connection.session() as session, session.transaction():
        session.send_many(orders, [TypedMap(n=1), TypedMap(n=2)])
        assert [m.data for m in session.receive(orders, 2)] == [{"n": 1}, {"n": 2}]
        with pytest.raises(BadArgument):
            session.send_many(orders, [TypedMap(n=1), {"n": 2}])


@pytest.mark.behaviour("AMQ-24")
def test_a_stream_keeps_the_order_and_the_types_of_its_values(connection: Connection, orders: str) -> None:
    values = [
        65.0,
        65,
        True,
        "中文消息。",
        b"\x00\xff",
        None,
        1e22,
        Decimal("1.10"),
        datetime(2026, 1, 2, tzinfo=UTC),
        uuid4(),
    ]
    for sent in (values, [], values * 100):
        message = round_trip(connection, orders, TypedStream(sent))
        assert message.content_type == TypedStream.CONTENT_TYPE
        assert isinstance(message.data, TypedStream)
        assert [(type(value), value) for value in message.data] == [(type(value), value) for value in sent]
    assert json.loads(message.body)[0] == ["double", 65.0]
    with connection.session() as session, session.transaction():
        session.send_many(orders, [TypedStream([1]), TypedStream([2])])
        assert [m.data for m in session.receive(orders, 2)] == [[1], [2]]
        with pytest.raises(BadArgument):
            session.send_many(orders, [TypedStream([1]), [2]])
        session.send(orders, '{"no": "stream"}', content_type=TypedStream.CONTENT_TYPE)
        with pytest.raises(BadArgument):
            _ = session.receive(orders)[0].data


def send_many(connection: Connection, queue: str, body: Any) -> list[int]:
    return connection.call(calls.send_many(queue, [body]))


def deep(depth: int) -> Any:
    body: Any = 1
    for _ in range(depth):
        body = [body]
    return body


def endless() -> Any:
    body: list[Any] = []
    body.append(body)
    return body


REFUSED = {
    "NaN": float("nan"),
    "infinity": [float("inf")],
    "set": {1, 2},
    "object": object(),
    "inner bytes": {"a": b"x"},
    "endless": endless(),
    "deep": deep(100_000),
    "none": None,
    "nul in text": "a\x00b",
    "nul in JSON": {"a": "b\x00"},
    "half a character": "\ud83d",
    "half a character in JSON": ["\ud83d"],
    "map of objects": TypedMap(a=object()),
    "map of numbers": TypedMap(cast(dict[str, Any], {1: 2})),
    "map with NaN": TypedMap(a=float("nan")),
    "stream of objects": TypedStream([object()]),
}


def test_what_no_message_can_hold_is_refused(connection: Connection, db: Db, orders: str) -> None:
    for name, body in REFUSED.items():
        acts: list[Callable[[], object]] = [
            partial(connection.send, orders, body),
            partial(send_many, connection, orders, body),
        ]
        if body is not None and not isinstance(body, TypedMap | TypedStream):
            acts.append(partial(connection.send, orders, "x", headers={"h": body}))
        for act in acts:
            try:
                act()
            except BadArgument:
                continue
            pytest.fail(f"{name} was not refused")
    assert one(db, "select count(*) from howdah.msgs") == 0


def test_deep_json_comes_back_or_is_refused_but_never_kills_anything(connection: Connection, orders: str) -> None:
    message = round_trip(connection, orders, deep(400))
    assert message.data == deep(400)
    with pytest.raises(BadArgument):
        connection.call(_raw_json(orders, "[" * 1_000_000 + "]" * 1_000_000))


def _raw_json(queue: str, text: str) -> Call[int]:
    return Call("select howdah.send(%s::text, %s::jsonb)", (queue, text), lambda rows: rows[0][0])


WRONG: dict[str, tuple[dict[str, Any], type[Exception]]] = {
    "priority 10": ({"priority": 10}, BadPriority),
    "priority -1": ({"priority": -1}, BadPriority),
    "priority too long": ({"priority": 10**30}, BadArgument),
    "priority a word": ({"priority": "high"}, BadArgument),
    "headers a list": ({"headers": [1]}, BadArgument),
    "headers a text": ({"headers": "x"}, BadArgument),
    "time to live 0": ({"time_to_live": 0}, BadArgument),
    "time to live NaN": ({"time_to_live": float("nan")}, BadArgument),
    "time to live a word": ({"time_to_live": "soon"}, BadArgument),
    "delay negative": ({"delay": -1}, BadArgument),
    "delay forever": ({"delay": timedelta.max}, BadArgument),
    "delivery mode": ({"delivery_mode": "maybe"}, BadArgument),
    "no UUID": ({"conversation_id": "x"}, BadArgument),
    "nul in an id": ({"correlation_id": "a\x00"}, BadArgument),
    "an object for an id": ({"correlation_id": object()}, BadArgument),
}


def test_an_integer_of_more_digits_than_python_takes_is_a_decimal_in_headers(
    connection: Connection, db: Db, orders: str
) -> None:
    one(db, "select howdah.send('orders', 'x', headers => '{\"n\": -1e5000, \"m\": 7}')")
    with connection.session() as session:
        (message,) = session.browser(orders)
    assert message.headers == {"n": Decimal("-1e5000"), "m": 7}
    assert isinstance(message.headers["m"], int)


def test_wrong_options_are_refused(connection: Connection, db: Db, orders: str) -> None:
    for name, (options, error) in WRONG.items():
        try:
            connection.send(orders, "x", **options)
        except error:
            continue
        pytest.fail(f"{name} was not refused")
    assert one(db, "select count(*) from howdah.msgs") == 0


def test_a_body_over_the_limit_is_refused(connection: Connection, orders: str) -> None:
    connection.admin.alter_queue(orders, max_message_bytes=4)
    connection.send(orders, "üü")
    with pytest.raises(BodyTooLarge):
        connection.send(orders, "üüü")


@pytest.mark.behaviour("AMQ-09")
def test_delivery_mode_priority_and_time_to_live(
    connection: Connection, db: Db, clock: Clock, connect: Connect, orders: str
) -> None:
    with connection.session() as session:
        producer = session.producer(orders)
        for _ in range(2):
            producer.send("x", delivery_mode="non-persistent", priority=0, time_to_live=1)
        session.commit()
        (stored, _) = session.browser(orders)
        assert (stored.delivery_mode, stored.priority) == ("non-persistent", 0)
        assert stored.expires_at == clock.now + timedelta(milliseconds=1000)
        assert one(db, "select count(*) from howdah.msgs_nonpersistent where rank = 9") == 2
        clock.advance(0.999)
        assert len(session.receive(orders)) == 1
        session.commit()
        clock.advance(0.001)
        assert session.receive(orders) == []
    assert one(db, "select count(*) from howdah.msgs_nonpersistent") == 0


@pytest.mark.behaviour("AMQ-07")
@pytest.mark.behaviour("AMQ-08")
def test_one_session_and_one_producer_send_to_three_queues(connection: Connection) -> None:
    queues = ["first", "second", "third"]
    for queue in queues:
        connection.admin.create_queue(queue)
    with connection.session() as session:
        producer = session.producer()
        with pytest.raises(BadArgument):
            producer.send("nowhere to go")
        with session.transaction():
            for queue in queues:
                producer.send(queue, queue=queue)
            producer.send_many(["a", "b"], queue="third")
        with session.transaction():
            received = {queue: [m.body for m in session.receive(queue, 5)] for queue in queues}
    assert received == {"first": ["first"], "second": ["second"], "third": ["third", "a", "b"]}


def test_a_browser_shows_every_page_in_order_and_takes_nothing(connection: Connection, orders: str) -> None:
    with connection.session() as session:
        with session.transaction():
            sent = [(session.send(orders, n, priority=n % 10), 9 - n % 10) for n in range(250)]
        expected = [number for number, _ in sorted(sent, key=lambda pair: (pair[1], pair[0]))]
        for _ in range(2):
            assert [message.message_id for message in session.browser(orders)] == expected
        held = session.receive(orders, 3)
        assert [message.message_id for message in held] == expected[:3]
        with connection.session() as other:
            # A browser sees what another transaction has in hand: it is there until that commits.
            assert [message.message_id for message in other.browser(orders)] == expected
