"""A listener that fails rolls its message back, and the failure is recorded if the message is to blame."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from support import Db, column, one, wait_until

from howdah.engine import Connection, Message, Reject, Retry, connect
from howdah.engine.errors import BadArgument, TransactionRolledBack


def test_a_failure_is_recorded_outside_and_the_message_dies_at_the_limit(
    connection: Connection, db: Db, orders: str
) -> None:
    connection.admin.alter_queue(orders, max_failed_deliveries=3)
    db.execute("create table account (note text)")
    bad, good = connection.send(orders, "bad"), connection.send(orders, "good")
    seen: list[tuple[Any, int]] = []
    with connection.session() as session:

        def listener(message: Message) -> None:
            session.connection.execute("insert into account values (%s)", (message.body,))
            seen.append((message.body, message.delivery_count))
            if message.body == "bad":
                raise ValueError(f"cannot use\x00 \ud800 {message.body}")

        session.consumer(orders).listener = listener
        wait_until(lambda: one(db, "select count(*) from account") == 1)
    assert seen == [("bad", 1), ("bad", 2), ("bad", 3), ("good", 1)]
    assert column(db, "select note from account") == ["good"]
    incidents = connection.admin.incidents(orders)
    assert [row["attempt"] for row in incidents] == [3, 2, 1]
    assert {row["message"] for row in incidents} == {bad}
    assert {(row["error_class"], row["error_text"]) for row in incidents} == {
        ("ValueError", "cannot use\\0 \\ud800 bad")
    }
    assert "raise ValueError" in incidents[0]["traceback"]
    assert one(db, "select count(*) from howdah.msgs where message_id = %s and dead_at is not null", (bad,)) == 1
    assert one(db, "select count(*) from howdah.msgs where message_id = %s", (good,)) == 0


@pytest.mark.parametrize("headers", ['{"n": 1e5000}', '{"n": ' + "[" * 3000 + "]" * 3000 + "}"])
def test_a_message_whose_headers_python_cannot_decode_dies_at_the_limit(
    connection: Connection, db: Db, orders: str, headers: str
) -> None:
    bad = one(db, "select howdah.send('orders', 'bad', headers => %s::jsonb)", (headers,))
    with connection.session() as session:

        def listener(message: Message) -> None:
            raise KeyError("no such customer")

        session.consumer(orders).listener = listener
        wait_until(lambda: one(db, "select count(*) from howdah.msgs where dead_at is not null") == 1)
    incidents = connection.admin.incidents(orders)
    assert {(row["message"], row["error_class"]) for row in incidents} == {(bad, "KeyError")}


def test_one_database_connection_is_enough_for_a_listener_that_fails(dsn: str, db: Db, orders: str) -> None:
    with connect(dsn, max_size=1, timeout=2) as connection:
        connection.send(orders, "bad")
        session = connection.session()

        def listener(message: Message) -> None:
            raise ValueError

        session.consumer(orders).listener = listener
        wait_until(lambda: one(db, "select count(*) from howdah.poison_details") == 5)
        session.close()
    assert one(db, "select count(*) from howdah.msgs where dead_at is not null") == 1


def test_a_commit_that_fails_counts_as_a_failure(connection: Connection, db: Db, orders: str) -> None:
    connection.admin.alter_queue(orders, max_failed_deliveries=1)
    db.execute("create table once (n integer unique deferrable initially deferred); insert into once values (1)")
    connection.send(orders, 1)
    with connection.session() as session:
        session.consumer(orders).listener = lambda m: session.connection.execute("insert into once values (1)")
        wait_until(lambda: one(db, "select count(*) from howdah.msgs where dead_at is not null") == 1)
    assert [row["sqlstate"] for row in connection.admin.incidents(orders)] == ["23505"]


def test_errors_that_blame_no_message_are_retried_without_an_incident(
    connection: Connection, db: Db, orders: str
) -> None:
    connection.send(orders, "x")
    seen: list[int] = []
    with connection.session() as session:

        def listener(message: Message) -> None:
            seen.append(message.delivery_count)
            if len(seen) == 1:
                raise psycopg.errors.DeadlockDetected("deadlock")
            if len(seen) == 2:
                raise RuntimeError("wrapped") from psycopg.errors.LockNotAvailable("lock timeout")

        session.consumer(orders).listener = listener
        wait_until(lambda: len(seen) == 3)
    assert seen == [1, 1, 1]
    assert connection.admin.incidents(orders) == []


def test_a_listener_that_calls_exit_has_failed_and_ends_nothing(connection: Connection, orders: str) -> None:
    seen: list[Any] = []

    def listener(message: Message) -> None:
        if message.body == "x":
            raise SystemExit(3)
        seen.append(message.body)

    connection.send(orders, "x")
    connection.send(orders, "y")
    with connection.session() as session:
        session.consumer(orders).listener = listener
        wait_until(lambda: seen == ["y"])
    assert {row["error_class"] for row in connection.admin.incidents(orders)} == {"SystemExit"}


def test_a_listener_rejects_and_retries_by_raising_and_by_rules(connection: Connection, db: Db, orders: str) -> None:
    for body in ("reject", "retry", "rule", "good"):
        connection.send(orders, body)
    seen: list[tuple[Any, int]] = []

    def listener(message: Message) -> None:
        seen.append((message.body, message.delivery_count))
        match message.body:
            case "reject":
                raise Reject("unusable") from LookupError("none")
            case "retry":
                raise Retry(after=3600)
            case "rule":
                raise KeyError("missing")

    with connection.session() as session:
        session.listen(orders, listener, rules=[(LookupError, Reject)])
        wait_until(lambda: len(seen) == 4)
    assert [body for body, _ in seen] == ["reject", "retry", "rule", "good"]
    assert {count for _, count in seen} == {1}
    assert {(row["error_class"], row["outcome"]) for row in connection.admin.incidents(orders)} == {
        ("LookupError", "moved"),
        ("Retry", "delayed"),
        ("KeyError", "moved"),
    }
    with connection.session() as session, pytest.raises(BadArgument, match="not an outcome"):
        session.listen(orders, listener, rules=[(LookupError, "never")])


@pytest.mark.parametrize("how", ["swallows an error of a statement", "rolls back", "swallows that of the commit"])
def test_a_listener_after_which_nothing_can_be_committed_has_failed(
    connection: Connection, db: Db, orders: str, how: str
) -> None:
    connection.admin.alter_queue(orders, max_failed_deliveries=2)
    sent = connection.send(orders, "bad")
    seen: list[int] = []

    def listener(message: Message) -> None:
        seen.append(message.delivery_count)
        if how == "rolls back":
            session.rollback()
            return
        with pytest.raises(psycopg.errors.DivisionByZero):
            session.connection.execute("select 1 / 0")
        if how == "swallows that of the commit":
            with pytest.raises(TransactionRolledBack):
                session.commit()

    with connection.session() as session:
        session.consumer(orders).listener = listener
        wait_until(lambda: column(db, "select count(*) from howdah.incidents()") == [2])
    assert seen == [1, 2]
    assert column(db, "select distinct message_id from howdah.poison_details") == [sent]
    assert column(db, "select distinct error_class from howdah.incidents()") == ["TransactionRolledBack"]
