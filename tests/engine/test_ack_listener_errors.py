"""What a listener raises decides whether its message comes again, and is recorded."""

from __future__ import annotations

import asyncio

import psycopg
import pytest
from ack_support import consumed
from support import Db, column, one, wait_until

from howdah.engine import AckMode, Connection, Delivery
from howdah.engine.errors import ConnectionLost


@pytest.mark.first_case
@pytest.mark.parametrize("mode", [AckMode.CLIENT, AckMode.INDIVIDUAL, AckMode.SESSION_TRANSACTED])
def test_after_an_error_of_its_listener_a_client_gets_the_next_message(
    connection: Connection, orders: str, db: Db, mode: AckMode
) -> None:
    sent = [connection.send(orders, str(n)) for n in range(2)]
    seen: list[int] = []

    def listener(message: Delivery) -> None:
        seen.append(message.message_id)
        if len(seen) == 1:
            raise ValueError("no")

    with connection.jms_session(transacted=mode == 0, mode=mode) as session:
        session.consumer(orders).listener = listener
        wait_until(lambda: len(seen) == 2)
        assert seen == sent
        assert consumed(db) == []
    assert column(db, "select delivery_count from howdah.receive('orders', 9)") == [2, 2]


@pytest.mark.first_case
@pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.DUPS_OK])
@pytest.mark.behaviour("SIB-36")
@pytest.mark.behaviour("SIB-39")
def test_a_listener_that_raises_loses_a_best_effort_message(
    connection: Connection, orders: str, db: Db, mode: AckMode
) -> None:
    bad = connection.send(orders, "bad", reliability="BEST_EFFORT_NONPERSISTENT")
    good = connection.send(orders, "good", reliability="BEST_EFFORT_NONPERSISTENT")
    calls: list[tuple[str | bytes, int]] = []
    gone: list[bool] = []

    def listener(message: Delivery) -> None:
        calls.append((message.body, message.delivery_count))
        gone.append(message.message_id in consumed(db))
        if message.body == "bad":
            raise RuntimeError("not today")

    with connection.jms_session(mode=mode) as session:
        session.consumer(orders).listener = listener
        wait_until(lambda: len(calls) == 2)
    assert calls == [("bad", 1), ("good", 1)]
    assert gone == [True, True]
    assert consumed(db) == [bad, good]
    assert db.execute("select message, error_text, outcome from howdah.incidents('orders')").fetchall() == [
        (bad, "not today", "gone")
    ]


@pytest.mark.parametrize("level", ["EXPRESS_NONPERSISTENT", "RELIABLE_PERSISTENT"])
@pytest.mark.behaviour("SIB-37")
def test_a_listener_that_raises_gets_any_other_message_again(
    connection: Connection, orders: str, db: Db, level: str
) -> None:
    connection.send(orders, "bad", reliability=level)
    calls: list[int] = []

    def listener(message: Delivery) -> None:
        calls.append(message.delivery_count)
        if message.delivery_count == 1:
            raise RuntimeError("not today")

    with connection.jms_session() as session:
        session.consumer(orders).listener = listener
        wait_until(lambda: len(calls) == 2)
    assert calls == [1, 2]


@pytest.mark.first_case
@pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.DUPS_OK])
@pytest.mark.parametrize("error", [psycopg.errors.DiskFull, psycopg.errors.DeadlockDetected, ConnectionLost])
def test_what_the_server_lacks_is_no_fault_of_the_message_that_a_listener_has(
    connection: Connection, orders: str, db: Db, mode: AckMode, error: type[Exception]
) -> None:
    first, second = (connection.send(orders, body) for body in ("first", "second"))
    calls: list[tuple[str | bytes, int]] = []

    def listener(message: Delivery) -> None:
        calls.append((message.body, message.delivery_count))
        if len(calls) <= 6:  # more often than a message may fail
            raise error("not today")

    with connection.jms_session(mode=mode) as session:
        session.consumer(orders).listener = listener
        wait_until(lambda: len(calls) == 8)
    assert calls == [("first", 1)] * 7 + [("second", 1)]
    assert consumed(db) == [first, second]
    assert one(db, "select count(*) from howdah.poison_details") == 0


class Unprintable(ValueError):
    """Has no text."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.first_case
@pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.DUPS_OK])
@pytest.mark.parametrize(
    "error", [ValueError("a\x00b"), ValueError("\ud800"), Unprintable(), asyncio.CancelledError(), SystemExit(3)]
)
def test_whatever_a_listener_raises_is_recorded_and_the_next_message_comes(
    connection: Connection, db: Db, orders: str, error: BaseException, mode: AckMode
) -> None:
    connection.admin.alter_queue(orders, max_failed_deliveries=2)
    sent = connection.send(orders, "bad")
    connection.send(orders, "good")
    seen: list[object] = []

    def listener(message: Delivery) -> None:
        seen.append(message.body)
        if message.body == "bad":
            raise error

    with connection.jms_session(mode=mode) as session:
        session.consumer(orders).listener = listener
        wait_until(lambda: seen[-1:] == ["good"])
    assert seen == ["bad", "bad", "good"]
    assert column(db, "select message_id from howdah.poison_details order by incident_id") == [sent, sent]
    assert column(db, "select distinct error_class from howdah.incidents()") == [type(error).__name__]
