"""Limits hold on what all consumers of a queue together have in hand."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from handler_limits_support import bodies, lease, send, take
from policy_support import Create
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, column, one, refused, wait_until


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


def test_an_uncommitted_lease_counts_and_a_rolled_back_one_does_not(db: Db, create: Create, others: list[Db]) -> None:
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


# What else there is


def test_a_message_that_is_looked_up_needs_room_too(db: Db, create: Create, others: list[Db], clock: Clock) -> None:
    create(max_concurrent=1, rate_limit="2/1h burst 2")
    send(db, "a1", "a2", "a3")
    ids = column(db, "select message_id from howdah.browse('q', 10)")
    by_id = "select body from howdah.receive_message('q', %s)"
    assert column(others[0], by_id, (ids[1],)) == ["a2"]
    assert column(others[1], by_id, (ids[0],)) == []
    others[0].execute("commit")
    assert column(others[1], by_id, (ids[0],)) == ["a1"]
    others[1].execute("commit")
    assert take(db) == [], "the rate is spent"


def test_the_list_shows_what_is_in_hand_and_how_long_a_rate_is_spent(
    db: Db, create: Create, others: list[Db], clock: Clock, connect: Connect
) -> None:
    create(max_concurrent=3, rate_limit="2/1m")
    create("plain")
    send(db, "a1", "a2", "a3")
    listed = "select in_hand, leased, limited_for from howdah.list_handler_limits()"
    assert db.execute(listed).fetchall() == [(0, 0, None)]
    assert take(others[0]) == ["a1"]
    assert db.execute(listed).fetchall() == [(1, 0, timedelta(seconds=30))]
    clock.advance(30)
    assert bodies(lease(db)) == ["a2"]
    clock.advance(10)
    assert db.execute(listed).fetchall() == [(1, 1, timedelta(seconds=20))]
    assert connect("howdah_browser").execute(listed).fetchall() == db.execute(listed).fetchall()
    refused(connect("howdah_producer"), "42501", listed)
    assert one(db, "select limited_for from howdah.wait('q')") == timedelta(seconds=20)
    assert one(db, "select limited_for from howdah.wait('plain')") is None


def test_a_stranger_who_takes_all_small_numbers_stops_nobody(db: Db, create: Create, connect: Connect) -> None:
    create(max_concurrent=1)
    send(db, "a1")
    stranger = connect()
    stranger.execute("select pg_advisory_lock(n) from generate_series(-2000, 2000) n").fetchall()
    assert take(db) == ["a1"]


def test_maintenance_forgets_permits_that_are_over_and_keeps_the_others(
    db: Db, create: Create, others: list[Db]
) -> None:
    create(max_concurrent=3)
    send(db, "a1", "a2", "a3", "a4")
    ((ended, _),) = lease(db)
    one(db, "select howdah.ack('q', %s)", (ended,))
    lease(db)
    one(db, "select howdah.maintain_attempts()")
    assert one(db, "select count(*) from howdah.leased_permits") == 1
    assert take(others[0]) == ["a3"]
    one(db, "select howdah.maintain_attempts()")
    assert take(others[0], 5) == ["a4"], "its first permit is still on record"
    others[0].execute("commit")
    others[1].execute("commit")
    others[2].execute("commit")
    others[3].execute("commit")
    one(db, "select howdah.maintain_attempts()")
    assert one(db, "select count(*) from howdah.permits_in_hand") == 0


def test_a_limit_can_be_changed_and_taken_away(db: Db, create: Create, others: list[Db], clock: Clock) -> None:
    create()
    send(db, "a1", "a2", "a3", "a4")
    assert take(others[0]) == ["a1"]
    one(db, """select howdah.alter_queue('q', '{"max_concurrent": 1, "rate_limit": "1/1m"}')""")
    assert take(others[1]) == ["a2"]
    assert take(others[2]) == []
    others[1].execute("commit")
    one(db, """select howdah.alter_queue('q', '{"max_concurrent": 2, "rate_limit": "1/1ms"}')""")
    clock.advance(0.001)
    assert take(others[2]) == [], "what was spent under the old rate is forgotten within one spacing of the new"
    clock.advance(0.001)
    assert take(others[2]) == ["a3"]
    one(db, """select howdah.alter_queue('q', '{"max_concurrent": null, "rate_limit": null}')""")
    assert take(others[2]) == ["a4"]


@pytest.mark.parametrize(
    "options",
    [
        {"rate_limit": "100"},
        {"rate_limit": "0/1s"},
        {"rate_limit": "10/8d"},
        {"rate_limit": "5/1s burst 6"},
        {"rate_limit": 5},
        {"rate_limit": "10000/1ms"},
        {"max_concurrent": 0},
        {"max_concurrent": 1001},
        {"limit_key": ""},
        {"max_concurrent_per_key": 1},
        {"rate_limit_per_key": "1/1s"},
        {"rate_keys": 0},
        {"limit_key": "k", "max_concurrent_per_key": 1, "strict_order": True},
        {"limit_key": "k", "max_concurrent_per_key": 1, "message_groups": "transaction"},
        {"limit_key": "k", "rate_limit_per_key": "1/1s", "delivery_policy": "single"},
        {"max_concurrent": 1, "backout_count": "hardened"},
    ],
)
def test_limits_that_make_no_sense_are_refused(db: Db, options: dict[str, Any]) -> None:
    refused(db, "HD004", "select howdah.create_queue('q', %s)", (Jsonb(options),))


def test_a_limited_queue_keeps_bodies_once(db: Db, create: Create, others: list[Db]) -> None:
    create(max_concurrent=1, keep_bodies_ms=60_000)
    send(db, "a1", "a2")
    assert take(others[0]) == ["a1"]
    assert take(others[1]) == []
    others[0].execute("commit")
    assert column(db, "select body from howdah.browse_kept('q')") == ["a1"]
