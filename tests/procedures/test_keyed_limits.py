"""Limits hold for each key, and a key at its limit stops no other."""

from __future__ import annotations

import pytest
from handler_limits_support import bodies, lease, send, take
from policy_support import Create
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, one, refused


@pytest.fixture
def others(connect: Connect) -> list[Db]:
    """Four more sessions, each in a transaction."""
    sessions = [connect() for _ in range(4)]
    for session in sessions:
        session.execute("begin")
    return sessions


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


@pytest.mark.slow
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


def test_limits_by_key_forbid_looking_up(db: Db, create: Create) -> None:
    create(limit_key="tenant", max_concurrent_per_key=1)
    refused(db, "HD005", "select howdah.receive_message('q', 1)")


def test_a_receive_of_groups_obeys_the_limit_and_keeps_the_order(db: Db, create: Create, others: list[Db]) -> None:
    create(message_groups="transaction", limit_key="JMSXGroupID", max_concurrent_per_key=1, max_concurrent=2)
    for name in ("a1", "a2", "b1", "c1"):
        one(db, "select howdah.send('q', %s, headers => %s)", (name, Jsonb({"JMSXGroupID": name[0]})))
    assert take(others[0], 10) == ["a1", "b1"]
    assert take(others[1], 10) == []
    others[0].execute("commit")
    assert take(others[1], 10) == ["a2", "c1"]
