"""What holds things up: open transactions, and what they keep from others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from support import Clock, Connect, Db, one, refused, wait_until

LISTED = "select * from howdah.list_open_transactions({})"


def listed(db: Db, arguments: str = "") -> list[dict[str, Any]]:
    with db.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(LISTED.format(arguments).encode()).fetchall()


def of(db: Db, other: Db, arguments: str = "") -> list[dict[str, Any]]:
    """The rows of another session."""
    return [row for row in listed(db, arguments) if row["name"] == str(other.info.backend_pid)]


@pytest.fixture
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send('q', 'x'::text)")


@pytest.fixture
def stranger(db: Db, dsn: str) -> Iterator[Db]:
    """A session of another role, which the owner of Howdah's functions may not look at."""
    db.execute("create role open_stranger login password 'x'; grant howdah_consumer to open_stranger")
    session = psycopg.connect(
        make_conninfo(dsn, user="open_stranger", password="x", application_name="shop"), autocommit=True
    )
    yield session
    session.close()
    db.execute("drop owned by open_stranger; drop role open_stranger")


@pytest.fixture
def seen(db: Db, stranger: Db) -> Iterator[Db]:
    """The same session, where the owner is a member of its role and so may look at it."""
    db.execute("grant open_stranger to howdah_owner")
    yield stranger
    db.execute("revoke open_stranger from howdah_owner")


def test_a_session_idle_in_its_transaction_is_listed_with_what_it_holds(
    db: Db, seen: Db, queue: None, clock: Clock
) -> None:
    seen.execute("begin")
    one(seen, "select message_id from howdah.receive('q')")
    assert of(db, seen) == []
    clock.advance(60)
    (row,) = of(db, seen)
    assert (row["kind"], row["owner"], row["application"], row["state"]) == (
        "session",
        "open_stranger",
        "shop",
        "idle in transaction",
    )
    assert 50 < row["age"].total_seconds() < 90
    assert row["idle_for"] is not None
    assert row["horizon"] >= 1
    assert row["locks"] >= 1
    assert not row["hidden"]
    assert f"pg_terminate_backend({seen.info.backend_pid})" in row["advice"]
    assert of(db, seen, "'1 hour'") == []
    seen.execute("commit")
    assert of(db, seen, "'0 s'") == []


def test_a_session_that_may_not_be_looked_at_is_listed_as_hidden_with_what_all_may_know(
    db: Db, stranger: Db, queue: None
) -> None:
    stranger.execute("begin isolation level repeatable read")
    one(stranger, "select count(*) from howdah.list_queues()")
    (row,) = of(db, stranger)
    assert (row["hidden"], row["state"], row["since"], row["age"]) == (True, None, None, None)
    assert (row["owner"], row["application"]) == ("open_stranger", "shop")
    assert row["horizon"] is not None
    assert "grant pg_read_all_stats to howdah_owner" in row["advice"]
    stranger.execute("commit")
    assert of(db, stranger) == []


def test_the_transaction_furthest_back_comes_first(db: Db, stranger: Db, seen: Db, connect: Connect) -> None:
    stranger.execute("begin isolation level repeatable read")
    one(stranger, "select 1")
    for _ in range(3):
        one(db, "select pg_current_xact_id()::text")
    later = connect()
    later.execute("begin isolation level repeatable read")
    one(later, "select 1")
    names = [row["name"] for row in listed(db, "'0 s'")]
    first, second = str(stranger.info.backend_pid), str(later.info.backend_pid)
    assert names.index(first) < names.index(second)
    (row,) = of(db, stranger, "'0 s'")
    assert row["horizon"] >= 3
    assert len(listed(db, "'0 s', 1")) == 1
    later.execute("rollback")


def test_a_young_transaction_is_listed_if_others_wait_for_it(db: Db, seen: Db, connect: Connect, queue: None) -> None:
    seen.execute("begin")
    seen.execute("select pg_advisory_xact_lock(4711)")
    assert of(db, seen, "'1 hour'") == []
    waiting = connect()
    with waiting.pipeline():
        waiting.execute("select pg_advisory_lock(4711)")
        wait_until(lambda: bool(of(db, seen, "'1 hour'")))
        (row,) = of(db, seen, "'1 hour'")
        assert row["blocks"] == 1
        seen.execute("commit")


def test_who_may_see_what_holds_things_up(db: Db, connect: Connect) -> None:
    for role in ("howdah_browser", "howdah_consumer", "howdah_auditor", "howdah_admin"):
        assert listed(connect(role), "'1 hour'") is not None
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        listed(connect("howdah_producer"))
    refused(db, "HD005", "select * from howdah.list_open_transactions(max_rows => 0)")
    assert listed(db, "min_age => null") is not None


@pytest.mark.parametrize("age", ["-1 second", "10001 days", "170000000 years"])
def test_an_age_that_no_transaction_has_is_refused(db: Db, age: str) -> None:
    refused(db, "HD005", "select * from howdah.list_open_transactions(%s::interval)", (age,))
