"""Loads by COPY from Python."""

from __future__ import annotations

import json
from collections.abc import Iterator
from uuid import UUID

import pytest
from support import Db, column, one

from howdah.engine import Connection
from howdah.engine.errors import BadArgument, NoSuchQueue

CONVERSATION = UUID(int=7)


def test_a_load_is_one_transaction_in_its_order(connection: Connection, db: Db, orders: str) -> None:
    with connection.session() as session:
        assert session.send_copy(orders, (str(number) for number in range(20_000))) == 20_000
        assert one(db, "select live from howdah.queue_stats(%s)", (orders,)) == 0
        session.commit()
        assert session.producer(orders).send_copy([]) == 0
        session.commit()
    assert column(db, "select body from howdah.receive(%s, 10000)", (orders,)) == [str(n) for n in range(10_000)]
    assert column(db, "select body from howdah.receive(%s, 10000)", (orders,)) == [
        str(n) for n in range(10_000, 20_000)
    ]


def test_rows_say_of_each_message_what_columns_name(connection: Connection, orders: str) -> None:
    columns = ("headers", "priority", "correlation_id", "message_type", "conversation_id", "deduplication_key")
    with connection.session() as session:
        rows = [
            ({"a": 1}, {"shop": "ü"}, 9, "c", "t", CONVERSATION, "once"),
            ([1, 2], None, None, None, None, None, None),
            ({"z": 1}, None, 0, None, None, None, "once"),
        ]
        sent = session.send_copy(orders, rows, columns=columns, reply_to="answers", time_to_live=60)
        assert sent == 3
        first, second = session.receive(orders, 10)
        assert (json.loads(str(first.body)), first.headers, first.priority, first.correlation_id) == (
            {"a": 1},
            {"shop": "ü"},
            9,
            "c",
        )
        assert (first.message_type, first.conversation_id, first.reply_to) == ("t", CONVERSATION, "answers")
        assert (json.loads(str(second.body)), second.headers, second.priority) == ([1, 2], {}, 4)
        assert first.expires_at is not None
        assert first.content_type == "application/json"
        session.rollback()


@pytest.mark.parametrize(
    ("bodies", "content_type"),
    [
        (["ü"], "text/plain"),
        ([b"\x00\xff", bytearray(b"x")], "application/octet-stream"),
        ([{"a": [1]}], "application/json"),
    ],
)
def test_bodies_of_each_kind_arrive_as_they_were(
    connection: Connection, orders: str, bodies: list[str], content_type: str
) -> None:
    with connection.session() as session:
        for copied in (session.send_copy, session.send_stream):
            copied(orders, bodies)
        messages = session.receive(orders, 10)
        assert [m.content_type for m in messages] == [content_type] * 2 * len(bodies)
        assert [m.body for m in messages[: len(bodies)]] == [m.body for m in messages[len(bodies) :]]
        session.rollback()


def test_wrong_use_of_a_load_is_refused_and_breaks_nothing(connection: Connection, orders: str) -> None:
    with connection.session() as session:
        with pytest.raises(BadArgument, match="colour is not a column"):
            session.send_copy(orders, [], columns=["colour"])
        with pytest.raises(BadArgument, match="priorities is not an option"):
            session.send_copy(orders, [], priorities=[1])  # type: ignore[call-arg]
        for rows in ([], ["x"]):
            with pytest.raises(NoSuchQueue):
                session.send_copy("nowhere", rows)
        with pytest.raises(BadArgument):
            session.send_copy(orders, [("x", "high")], columns=["priority"])
        assert session.send_copy(orders, ["x"]) == 1
        session.rollback()


def test_a_server_that_goes_away_in_the_middle_of_a_load(connection: Connection, db: Db, orders: str) -> None:
    with connection.session() as session:
        pid = session.connection.info.backend_pid

        def cut() -> Iterator[str]:
            yield from ["x" * 1000] * 1000
            db.execute("select pg_terminate_backend(%s, 5000)", (pid,))
            yield from ["x" * 1000] * 100_000

        with pytest.raises(ConnectionError):
            session.send_copy(orders, cut())
    assert one(db, "select live from howdah.queue_stats(%s)", (orders,)) == 0
