"""Streams and batches: everything or nothing, in order, and as it was given."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
import sqlalchemy
from support import Db, column, one

from howdah.engine import Connection, Session
from howdah.engine.errors import BadArgument, BodyTooLarge, NoSuchQueue


def bodies_of(db: Db, queue: str) -> list[str]:
    return column(db, "select body from howdah.browse(%s, 10000)", (queue,))


def test_a_stream_is_one_transaction_in_its_order(connection: Connection, db: Db, orders: str) -> None:
    with connection.session() as session:
        with session.transaction():
            assert session.send_stream(orders, (str(number) for number in range(2500)), batch=100) == 2500
            assert bodies_of(db, orders) == []
        assert bodies_of(db, orders) == [str(number) for number in range(2500)]
        with session.transaction():
            assert session.producer(orders).send_stream([]) == 0
            assert session.producer(orders).send_stream([{"a": 1}], delay=3600, content_type="application/x+json") == 1
    assert one(db, "select parked from howdah.queue_stats(%s)", (orders,)) == 1


class OwnError(Exception):
    pass


def broken() -> Iterator[Any]:
    yield from ["x"] * 5
    raise OwnError


BAD: dict[str, tuple[Any, type[Exception]]] = {
    "no JSON": ([{"a": 1}] * 5 + [{"a": object()}] + [{"a": 1}] * 9, BadArgument),
    "NUL": (["x"] * 5 + ["a\0b"] + ["x"] * 9, BadArgument),
    "surrogate": (["x"] * 5 + ["\ud800"] + ["x"] * 9, BadArgument),
    "NULL": (["x"] * 5 + [None] + ["x"] * 9, BadArgument),
    "two kinds": (["x"] * 5 + [b"x"] + ["x"] * 9, BadArgument),
    "too large": (["x"] * 5 + ["x" * 2000] + ["x"] * 40, BodyTooLarge),
    "NUL in JSON": ([{"a": 1}] * 5 + [{"a": "\0"}] + [{"a": 1}] * 9, BadArgument),
}


@pytest.mark.first_case
@pytest.mark.parametrize("way", ["stream", "copy"])
@pytest.mark.parametrize("kind", [*BAD, "its own error"])
def test_a_bad_body_in_the_middle_sends_nothing(
    connection: Connection, dsn: str, db: Db, orders: str, kind: str, way: str
) -> None:
    def load(session: Session, bodies: Any) -> int:
        return session.send_stream(orders, bodies, batch=2) if way == "stream" else session.send_copy(orders, bodies)

    one(db, """select howdah.alter_queue(%s, '{"max_message_bytes": 1024}')""", (orders,))
    db.execute("create table noted (n integer)")

    def bad() -> tuple[Any, type[Exception]]:
        return (broken(), OwnError) if kind == "its own error" else BAD[kind]

    with connection.session() as session:
        bodies, error = bad()
        with pytest.raises(error):
            load(session, bodies)
        assert session.send(orders, "after")  # no broken transaction is left
        session.commit()
    with connection.session(transacted=False) as session:
        bodies, error = bad()
        with pytest.raises(error):
            load(session, bodies)
    with psycopg.connect(dsn) as own:
        own.execute("insert into noted values (1)")
        bodies, error = bad()
        with pytest.raises(error):
            load(Session(own), bodies)
        own.execute("insert into noted values (2)")  # what the caller did before and does after is its own
    assert column(db, "select n from noted order by n") == [1, 2]
    assert bodies_of(db, orders) == ["after"]


def test_wrong_use(connection: Connection, orders: str) -> None:
    with connection.session() as session:
        with pytest.raises(BadArgument, match="priorities is not an option"):
            session.send_stream(orders, ["x"], priorities=[1])  # type: ignore[call-arg]
        with pytest.raises(BadArgument, match="batch must be"):
            session.send_stream(orders, ["x"], batch=0)
        with pytest.raises(NoSuchQueue):
            session.send_stream("nowhere", ["x"] * 10, batch=1)


def test_not_transacted_and_sqlalchemy(connection: Connection, dsn: str, db: Db, orders: str) -> None:
    with connection.session(transacted=False) as session:
        assert session.send_stream(orders, ["a", "b"]) == 2
    assert bodies_of(db, orders) == ["a", "b"]
    engine = sqlalchemy.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(dsn))
    with engine.connect() as own:
        assert Session(own).send_stream(orders, ["c"]) == 1
        assert bodies_of(db, orders) == ["a", "b"]
        own.commit()
    engine.dispose()
    assert bodies_of(db, orders) == ["a", "b", "c"]


def test_a_server_that_goes_away_in_the_middle(connection: Connection, db: Db, orders: str) -> None:
    with connection.session() as session:
        pid = session.connection.info.backend_pid

        def cut() -> Iterator[str]:
            yield from ["x"] * 10
            db.execute("select pg_terminate_backend(%s, 5000)", (pid,))
            yield from ["x"] * 10

        with pytest.raises(ConnectionError):
            session.send_stream(orders, cut(), batch=3)
    assert bodies_of(db, orders) == []


def test_arrays_of_every_kind_with_gaps(connection: Connection, dsn: str, db: Db, orders: str) -> None:
    with psycopg.connect(dsn, client_encoding="latin1", cursor_factory=psycopg.ClientCursor) as own:
        session = Session(own)
        session.send_many(
            orders,
            ["ü", ""],
            headers=[None, {"ä": ["ö", None]}],
            correlation_ids=["é", None],
            message_types=[None, ""],
            priorities=[None, 4],
        )
        session.send_many(orders, [b"\x00\xff", b""])
        session.send_many(orders, [{"ü": 1}, [], 2])
        assert session.send_many(orders, []) == []
        messages = session.receive(orders, 10)
        assert [m.body for m in messages] == ["ü", "", b"\x00\xff", b"", '{"ü": 1}', "[]", "2"]
        assert [m.headers for m in messages[:3]] == [{}, {"ä": ["ö", None]}, {}]
        assert [m.correlation_id for m in messages[:2]] == ["é", None]
        assert messages[1].message_type == ""
        assert messages[1].headers is messages[1].headers


def test_times_are_in_utc_whatever_the_session_says(connection: Connection, orders: str) -> None:
    with connection.session() as session, session.transaction():
        session.connection.execute("set local timezone = 'Asia/Kolkata'")
        session.send(orders, "x", time_to_live=60)
        (message,) = session.receive(orders)
        assert message.sent_at.tzinfo is UTC
        assert abs(datetime.now(UTC) - message.sent_at) < timedelta(minutes=5)
        assert message.expires_at == message.sent_at + timedelta(seconds=60)
        assert message.dead_at is None
        assert message.to_dict()["sent_at"] == message.sent_at
        with pytest.raises(AttributeError):
            message.body = "y"  # type: ignore[misc]
        assert "x" in repr(message)
