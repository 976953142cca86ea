"""Sessions that use a new name at once create one queue, whatever becomes of their transactions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from autocreate_support import NAMES, ON, alter
from support import Connect, Db, column, one, refused, wait_until


@pytest.fixture
def on(db: Db) -> Db:
    """The database, whose queues and topics create themselves."""
    alter(db, **ON)
    return db


@pytest.mark.behaviour("IMQ-95")
def test_twenty_first_senders_at_once_make_one_queue_and_nobody_fails(on: Db, connect: Connect) -> None:
    senders = [connect() for _ in range(20)]
    gate = threading.Barrier(20)
    errors: list[Exception] = []

    def send(session: Db) -> None:
        gate.wait()
        try:
            one(session, "select howdah.send('new', 'x')")
        except psycopg.Error as error:
            errors.append(error)

    threads = [threading.Thread(target=send, args=(session,)) for session in senders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert one(on, "select count(*) from howdah.destinations where name = 'new'") == 1
    assert len(column(on, "select howdah.receive('new', 100)")) == 20


def in_background(work: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    """Run in a thread; its result or error comes into the list."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(work())
        except psycopg.Error as error:
            results.append(error.sqlstate)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, results


def waits(db: Db, session: Db) -> None:
    """Return once a session waits for a lock."""
    pid = session.info.backend_pid
    wait_until(lambda: one(db, "select wait_event_type = 'Lock' from pg_stat_activity where pid = %s", (pid,)))


@pytest.mark.parametrize("first_ends_by", ["commit", "rollback"])
def test_a_second_first_sender_waits_for_the_first_and_succeeds_however_that_ends(
    on: Db, connect: Connect, first_ends_by: str
) -> None:
    first, second = connect(), connect()
    first.execute("begin")
    one(first, "select howdah.send('new', 'a')")
    thread, results = in_background(lambda: one(second, "select howdah.send('new', 'b')"))
    waits(on, second)
    first.execute(first_ends_by.encode())
    thread.join()
    assert isinstance(results[0], int)
    assert column(on, "select body from howdah.receive('new', 9)") == (
        ["a", "b"] if first_ends_by == "commit" else ["b"]
    )


def test_a_rolled_back_first_use_leaves_nothing(on: Db) -> None:
    on.execute("begin")
    one(on, "select howdah.send('new', 'x')")
    on.execute("rollback")
    assert column(on, NAMES) == []
    assert one(on, "select count(*) from howdah.config_changes where kind <> 'engine'") == 0


def test_a_repeatable_read_transaction_that_comes_second_fails_to_serialize(on: Db, connect: Connect) -> None:
    old = connect()
    old.execute("begin isolation level repeatable read")
    one(old, "select count(*) from pg_class")
    one(on, "select howdah.send('new', 'x')")
    refused(old, "40001", "select howdah.send('new', 'y')")
    old.execute("rollback")
    one(old, "select howdah.send('new', 'y')")


@pytest.mark.slow
def test_two_new_names_in_opposite_order_deadlock_and_a_composite_name_does_not(on: Db, connect: Connect) -> None:
    one_way, other_way = connect(), connect()
    for session, name in ((one_way, "a"), (other_way, "b")):
        session.execute("begin")
        one(session, "select howdah.send(%s, 'x')", (name,))
    thread, results = in_background(lambda: one(one_way, "select howdah.send('b', 'x')"))
    waits(on, one_way)
    second = in_background(lambda: one(other_way, "select howdah.send('a', 'x')"))
    second[0].join()
    if second[1] == ["40P01"]:
        other_way.execute("rollback")
    thread.join()
    assert max(map(str, results + second[1])) == "40P01"
    one_way.execute("rollback")
    other_way.execute("rollback")

    one_way.execute("begin")
    one(one_way, "select howdah.send('c,d', 'x')")
    thread, results = in_background(lambda: one(other_way, "select howdah.send('d,c', 'x')"))
    waits(on, other_way)
    one_way.execute("commit")
    thread.join()
    assert isinstance(results[0], int)
