"""Senders at once fill a queue to its limit exactly, whatever becomes of their transactions."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest
from full_queue_support import SEND, depth, together, until_full
from policy_support import Create
from support import Connect, Db, one, receive, refused, wait_until


@pytest.mark.first_case
@pytest.mark.parametrize("limit", [100, 1000])
def test_thirty_two_producers_at_once_fill_a_queue_to_its_limit_exactly(
    db: Db, create: Create, connect: Connect, limit: int
) -> None:
    create(message_limit=limit)
    assert sum(together(connect, 32, lambda session, _: until_full(session))) == limit
    assert depth(db) == limit


@pytest.mark.slow
def test_thirty_two_producers_at_once_fill_a_queue_to_the_last_byte_that_fits(
    db: Db, create: Create, connect: Connect
) -> None:
    create(byte_limit=10240)
    assert sum(together(connect, 32, lambda session, _: until_full(session, "x" * 100))) == 102
    assert depth(db) == 102


@pytest.mark.slow
def test_batches_of_transactions_that_commit_or_roll_back_never_exceed_the_limit(
    db: Db, create: Create, connect: Connect
) -> None:
    create(message_limit=50)
    sending = threading.Event()
    deepest = 0

    def work(session: Db, number: int) -> int:
        nonlocal deepest
        if number == 0:
            while not sending.is_set():
                deepest = max(deepest, one(session, "select count(*) from howdah.msgs"))
            return 0
        if number < 3:
            while not sending.is_set():
                receive(session, n=2)
            return 0
        for round_ in range(15):
            try:
                with session.transaction(force_rollback=round_ % 3 == 0):
                    for _ in range(number % 4 + 1):
                        one(session, "select howdah.send_batch('q', array['x', 'y', 'z'])")
            except psycopg.Error as error:
                if error.sqlstate != "HD018":
                    raise
        if number == 3:
            sending.set()
        return 1

    together(connect, 12, work)
    assert 0 < deepest <= 50
    until_full(db)
    assert depth(db) == 50


@pytest.mark.slow
def test_an_idle_transaction_that_sent_takes_only_its_own_room(db: Db, create: Create, connect: Connect) -> None:
    create(message_limit=50)
    idle = connect()
    with idle.transaction():
        one(idle, SEND, ("idle",))
        for _ in range(4):
            for _ in range(40):
                one(db, SEND, ("x",))
            assert len(receive(db, n=40)) == 40
        assert until_full(db) == 49
    assert depth(db) == 50


def test_a_killed_senders_room_is_free_again(db: Db, create: Create, connect: Connect) -> None:
    create(message_limit=10)
    victim = connect()
    victim.execute("begin")
    one(victim, "select howdah.send_batch('q', array_fill('x'::text, array[10]))")
    pid = victim.info.backend_pid
    one(db, "select pg_terminate_backend(%s)", (pid,))
    wait_until(lambda: one(db, "select count(*) from pg_stat_activity where pid = %s", (pid,)) == 0)
    assert until_full(db) == 10


@pytest.mark.slow
def test_two_transactions_that_wait_for_each_others_messages_are_both_told_that_the_queue_is_full(
    db: Db, create: Create, connect: Connect
) -> None:
    create(message_limit=2)

    def work(session: Db, number: int) -> int:
        session.execute("begin")
        one(session, SEND, ("x",))
        sent.wait()
        try:
            one(session, SEND, ("y",))
        except psycopg.Error as error:
            return int(error.sqlstate == "HD018")
        finally:
            session.execute("rollback")
        return 0

    sent = threading.Barrier(2)
    assert sum(together(connect, 2, work)) >= 1
    assert until_full(db) == 2


def test_a_transaction_of_many_sends_holds_few_locks(db: Db, create: Create) -> None:
    create(message_limit=100_000)
    with db.transaction():
        for _ in range(3000):
            one(db, SEND, ("x",))
        assert one(db, "select count(*) from pg_locks where locktype = 'advisory'") <= 5


@pytest.mark.parametrize("limit", [{"message_limit": 150}, {"byte_limit": 150}])
def test_room_that_a_transaction_made_and_may_take_back_is_not_given_to_others(
    db: Db, create: Create, connect: Connect, limit: dict[str, Any]
) -> None:
    create(**limit)
    assert until_full(db) == 150
    other = connect()
    with other.transaction(force_rollback=True):
        assert len(receive(other, n=100)) == 100
        one(other, SEND, ("x",))
        refused(db, "HD018", SEND, ("x",))
    refused(db, "HD018", SEND, ("x",))
    assert depth(db) == 150
