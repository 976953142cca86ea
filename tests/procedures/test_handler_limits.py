"""Limits on what all consumers of a queue together have in hand, and on how fast messages go to them."""

from __future__ import annotations

import os
import signal
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from policy_support import Create
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, Server, column, fail, one, refused, wait_until


def send(db: Db, *names: str, queue: str = "q") -> None:
    """Messages a1, a2, b1 of the keys a, a, b."""
    for name in names:
        one(db, "select howdah.send(%s, %s, headers => %s)", (queue, name, Jsonb({"tenant": name[0]})))


def take(db: Db, n: int = 1, **options: Any) -> list[str]:
    named = "".join(f", {name} => %s" for name in options)
    return column(db, f"select body from howdah.receive('q', %s{named})", (n, *options.values()))


def lease(db: Db, n: int = 1, duration: str = "1 minute") -> list[tuple[int, str]]:
    return db.execute("select lease, body from howdah.lease('q', %s, %s::interval)", (n, duration)).fetchall()


def bodies(found: list[tuple[int, str]]) -> list[str]:
    return [body for _, body in found]


@pytest.fixture
def others(connect: Connect) -> list[Db]:
    """Four more sessions, each in a transaction."""
    sessions = [connect() for _ in range(4)]
    for session in sessions:
        session.execute("begin")
    return sessions


# Concurrency


def test_no_more_messages_than_the_limit_are_in_hand_of_all_transactions(
    db: Db, create: Create, others: list[Db]
) -> None:
    create(max_concurrent=2)
    send(db, "a1", "a2", "a3", "a4")
    assert [take(session) for session in others] == [["a1"], ["a2"], [], []]
    others[0].execute("commit")
    assert take(others[2]) == ["a3"]
    assert take(others[3]) == []
    others[2].execute("rollback")
    assert take(others[3]) == ["a3"], "a rollback frees its permit too"


def test_a_second_receive_of_a_transaction_needs_permits_of_its_own(db: Db, create: Create, others: list[Db]) -> None:
    create(max_concurrent=3)
    send(db, "a1", "a2", "a3", "a4", "a5")
    assert take(others[0], 2) == ["a1", "a2"]
    assert take(others[0], 2) == ["a3"]
    assert take(others[0]) == []
    assert take(others[1]) == []


def test_a_rolled_back_savepoint_frees_its_permits(db: Db, create: Create, others: list[Db]) -> None:
    create(max_concurrent=1)
    send(db, "a1", "a2")
    others[0].execute("savepoint s")
    assert take(others[0]) == ["a1"]
    assert take(others[1]) == []
    others[0].execute("rollback to s")
    assert take(others[1]) == ["a1"]


def test_a_batch_has_as_many_messages_as_there_are_permits_and_takes_no_more(
    db: Db, create: Create, others: list[Db]
) -> None:
    create(max_concurrent=5)
    send(db, "a1", "a2")
    assert take(others[0], 100) == ["a1", "a2"]
    send(db, *(f"b{n}" for n in range(9)))
    assert take(others[1], 100) == ["b0", "b1", "b2"], "the first batch holds two permits, not five"


def test_a_killed_session_holds_nothing(db: Db, create: Create, connect: Connect) -> None:
    create(max_concurrent=1)
    send(db, "a1")
    victim = connect()
    victim.execute("begin")
    assert take(victim) == ["a1"]
    assert take(db) == []
    one(db, "select pg_terminate_backend(%s)", (victim.info.backend_pid,))
    wait_until(lambda: take(db) == ["a1"])


def test_a_message_under_a_lease_counts_until_the_lease_ends(db: Db, create: Create, clock: Clock) -> None:
    create(max_concurrent=2)
    send(db, "a1", "a2", "a3", "a4", "a5")
    ((first, _),) = lease(db)
    ((second, _),) = lease(db)
    assert lease(db) == []
    assert take(db) == []
    one(db, "select howdah.ack('q', %s)", (first,))
    ((third, body),) = lease(db)
    assert body == "a3"
    assert take(db) == []
    one(db, "select howdah.extend('q', %s, interval '10 minutes')", (third,))
    clock.advance(61)
    assert bodies(lease(db)) == ["a2"], "the second lease has run out, the third was extended"
    assert lease(db) == []
    assert refused(db, "HD026", "select howdah.ack('q', %s)", (second,))


def test_leases_and_receives_share_the_limit(db: Db, create: Create, others: list[Db], connect: Connect) -> None:
    create(max_concurrent=2)
    send(db, "a1", "a2", "a3")
    assert take(others[0]) == ["a1"]
    assert bodies(lease(db, 5)) == ["a2"]
    assert take(others[1]) == []
    others[0].execute("commit")
    assert take(others[1]) == ["a3"]


def test_an_uncommitted_lease_counts_and_a_rolled_back_one_does_not(
    db: Db, create: Create, others: list[Db]
) -> None:
    create(max_concurrent=1)
    send(db, "a1", "a2")
    assert bodies(lease(others[0])) == ["a1"]
    assert take(others[1]) == []
    others[0].execute("rollback")
    assert bodies(lease(others[2])) == ["a1"]
    others[2].execute("commit")
    assert take(others[1]) == []
    assert take(db) == []


def test_many_leases_leave_no_more_rows_than_permits(db: Db, create: Create) -> None:
    create(max_concurrent=2)
    for _ in range(20):
        send(db, "a1")
        ((number, _),) = lease(db)
        one(db, "select howdah.ack('q', %s)", (number,))
    assert one(db, "select count(*) from howdah.leased_permits") <= 2


def test_an_older_snapshot_is_refused(db: Db, create: Create, connect: Connect) -> None:
    create(max_concurrent=1)
    db.execute("begin isolation level repeatable read")
    said = refused(db, "HD005", "select howdah.receive('q')")
    assert said.message_primary == "receiving from 'q' needs READ COMMITTED"
    db.execute("rollback")


# Keys


def test_a_key_at_its_limit_is_passed_over_and_others_go_on(db: Db, create: Create, others: list[Db]) -> None:
    create(limit_key="tenant", max_concurrent_per_key=1)
    send(db, "a1", "a2", "a3", "b1", "b2", "c1")
    assert [take(session) for session in others] == [["a1"], ["b1"], ["c1"], []]
    others[0].execute("commit")
    assert take(others[3]) == ["a2"], "the oldest of those that may go"


def test_a_batch_takes_of_each_key_what_its_limit_allows(db: Db, create: Create, others: list[Db]) -> None:
    create(limit_key="tenant", max_concurrent_per_key=2)
    send(db, "a1", "a2", "a3", "b1", "b2", "b3")
    one(db, "select howdah.send('q', 'none')")
    assert take(others[0], 10) == ["a1", "a2", "b1", "b2", "none"]
    assert take(others[1], 10) == []


def test_a_batch_of_leases_takes_of_each_key_what_its_limit_allows(db: Db, create: Create, clock: Clock) -> None:
    create(limit_key="tenant", max_concurrent_per_key=2, max_concurrent=3)
    send(db, "a1", "a2", "a3", "b1", "b2", "b3")
    assert bodies(lease(db, 10)) == ["a1", "a2", "b1"]
    assert lease(db, 10) == []
    clock.advance(61)
    assert bodies(lease(db, 10)) == ["a1", "a2", "b1"]


def test_thousands_of_messages_of_a_full_key_starve_nobody(db: Db, create: Create, others: list[Db]) -> None:
    create(limit_key="tenant", max_concurrent_per_key=1)
    db.execute(
        "select howdah.send('q', 'a' || n, headers => '{\"tenant\": \"a\"}') from generate_series(1, 5000) n"
    ).fetchall()
    send(db, "b1")
    assert take(others[0]) == ["a1"]
    assert take(others[1]) == ["b1"]
    assert take(others[2]) == []
    others[0].execute("commit")
    assert take(others[2]) == ["a2"]


def test_many_full_keys_starve_nobody(db: Db, create: Create, others: list[Db]) -> None:
    create(limit_key="tenant", max_concurrent_per_key=1)
    db.execute(
        "select howdah.send('q', 'm' || n, headers => jsonb_build_object('tenant', n % 100))"
        " from generate_series(1, 300) n"
    ).fetchall()
    taken = take(others[0], 50) + take(others[1], 50)
    assert len(set(taken)) == 100
    send(db, "z1")
    assert take(others[2]) == ["z1"]
    assert take(others[3]) == []


# Rates


def drain(db: Db, n: int = 1) -> int:
    """How many messages go now."""
    taken = 0
    while found := len(take(db, n)):
        taken += found
    return taken


@pytest.mark.parametrize("batch", [1, 7, 100])
def test_a_rate_is_kept_in_every_span_and_reached(db: Db, create: Create, clock: Clock, batch: int) -> None:
    create(rate_limit="100/1s")
    db.execute("select howdah.send('q', n::text) from generate_series(1, 1000) n").fetchall()
    given: list[int] = []
    for step in range(400):
        given += [step] * drain(db, batch)
        clock.advance(0.01)
    most = max(sum(begin <= at < begin + 100 for at in given) for begin in range(300))
    assert most <= 100
    assert sum(at >= 100 for at in given) >= 0.95 * 300


def test_a_burst_goes_at_once_and_then_the_rest_evenly(db: Db, create: Create, clock: Clock) -> None:
    create(rate_limit="10/1m burst 5")
    db.execute("select howdah.send('q', n::text) from generate_series(1, 100) n").fetchall()
    assert drain(db) == 5
    clock.advance(9.9)
    assert drain(db) == 0
    clock.advance(0.1)
    assert drain(db) == 1
    clock.advance(3600)
    assert drain(db) == 5, "what is not used is not saved up"


def test_what_a_rolled_back_transaction_was_given_stays_spent(db: Db, create: Create, clock: Clock) -> None:
    create(rate_limit="2/1m")
    send(db, "a1", "a2")
    with db.transaction(force_rollback=True):
        assert take(db) == ["a1"]
    assert take(db) == []
    clock.advance(30)
    assert take(db) == ["a1"]


def test_each_key_has_a_rate_of_its_own(db: Db, create: Create, clock: Clock) -> None:
    create(limit_key="tenant", rate_limit_per_key="1/1s")
    send(db, "a1", "a2", "b1", "b2", "b3")
    assert take(db, 10) == ["a1", "b1"]
    clock.advance(1)
    assert take(db) == ["a2"]
    assert take(db) == ["b2"]
    clock.advance(1)
    assert take(db) == ["b3"]


def test_more_keys_than_cells_wait_and_none_goes_too_fast(db: Db, create: Create, clock: Clock) -> None:
    create(limit_key="tenant", rate_limit_per_key="1/1s", rate_keys=3)
    send(db, "a1", "b1", "c1", "d1", "a2", "e1")
    assert take(db, 10) == ["a1", "b1", "c1"]
    assert take(db, 10) == []
    clock.advance(1)
    assert take(db, 10) == ["d1", "a2", "e1"]


def test_the_rate_of_the_queue_and_of_the_key_hold_together(db: Db, create: Create, clock: Clock) -> None:
    create(limit_key="tenant", rate_limit_per_key="1/1s", rate_limit="3/1s burst 2")
    send(db, "a1", "a2", "b1", "c1")
    assert take(db, 10) == ["a1", "b1"]
    clock.advance(0.5)
    assert take(db, 10) == ["c1"]
    clock.advance(0.5)
    assert take(db, 10) == ["a2"]


def test_a_crash_of_the_server_counts_as_spent(db: Db, create: Create, clock: Clock) -> None:
    create(rate_limit="4/1m burst 2")
    send(db, "a1", "a2", "a3")
    for cell in column(db, "select unnest(array[spent, mark]) from howdah.rate_cells"):
        db.execute(f"alter sequence {cell} restart")  # as a crash leaves an unlogged sequence
    assert take(db) == []
    clock.advance(20)
    assert take(db) == ["a1"]
    assert take(db) == []


def test_a_clock_that_is_set_back_stops_nobody_for_long(db: Db, create: Create, clock: Clock) -> None:
    create(rate_limit="1/1s")
    send(db, "a1", "a2")
    assert take(db) == ["a1"]
    clock.set(clock.now - timedelta(days=1))
    assert take(db) == []
    clock.advance(1)
    assert take(db) == ["a2"]
