"""Limits on what is in hand hold, where a lease that ran out or another's locks get in their way."""

from __future__ import annotations

import random

import pytest
from handler_limits_support import lease_of_one as lease
from handler_limits_support import send, take
from policy_support import Create
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, column, one, refused


def test_a_lease_that_ran_out_is_not_extended_because_its_permit_may_be_anothers(
    db: Db, create: Create, clock: Clock
) -> None:
    create(max_concurrent=1)
    send(db, "a1", "b1", "c1")
    late = lease(db)
    clock.advance(61)
    other = lease(db, "tenant = 'b'")
    for ids in (None, [one(db, "select min(message_id) from howdah.parked")]):
        assert refused(db, "HD026", "select howdah.extend('q', %s, '1 hour', %s)", (late, ids))
    assert one(db, "select howdah.extend('q', %s, '1 hour') > howdah.now()", (other,))
    assert take(db) == []
    assert one(db, "select howdah.ack('q', %s)", (other,)) == 1
    assert one(db, "select howdah.ack('q', %s)", (late,)) == 1, "what nobody else has may still be acknowledged"
    assert take(db) == ["c1"]


def test_a_lease_that_ran_out_is_extended_where_nothing_is_limited(db: Db, create: Create, clock: Clock) -> None:
    create()
    send(db, "a1")
    late = lease(db, "tenant = 'a'")
    clock.advance(61)
    assert one(db, "select howdah.extend('q', %s) > howdah.now()", (late,))


def test_what_comes_again_after_a_lease_ran_out_has_one_permit(
    db: Db, create: Create, clock: Clock, connect: Connect
) -> None:
    create(max_concurrent=4)
    send(db, "a1", "b1", "c1", "d1")
    column(db, "select lease from howdah.lease('q', 2)")
    clock.advance(61)
    sessions = [connect() for _ in range(4)]
    for session in sessions:
        session.execute("begin")
    assert [take(session) for session in sessions] == [["a1"], ["b1"], ["c1"], ["d1"]]


@pytest.mark.parametrize("seed", range(12))
def test_a_lowered_limit_gives_out_no_more_until_less_is_in_hand(db: Db, create: Create, seed: int) -> None:
    chance = random.Random(seed)
    create(max_concurrent=5)
    send(db, *(f"a{n}" for n in range(20)))
    one(db, "select setseed(%s)", (chance.random(),))  # which permits they get
    in_hand = [lease(db) for _ in range(4)]
    one(db, "select howdah.alter_queue('q', '{\"max_concurrent\": 2}')")
    chance.shuffle(in_hand)
    for _ in range(6):
        before = len(in_hand)
        in_hand += [number for (number,) in db.execute("select lease from howdah.lease('q', 2)")]
        assert len(in_hand) == max(2, before)
        one(db, "select howdah.ack('q', %s)", (in_hand.pop(0),))


@pytest.mark.parametrize("way", ["lease", "receive_locked"])
def test_what_is_held_of_a_queue_limited_by_key_has_one_message_of_each_group(db: Db, create: Create, way: str) -> None:
    create(message_groups="transaction", limit_key="JMSXGroupID", max_concurrent_per_key=2)
    for name in ("a1", "a2", "b1"):
        one(db, "select howdah.send('q', %s, headers => %s)", (name, Jsonb({"JMSXGroupID": name[0]})))
    with db.transaction():
        assert column(db, f"select body from howdah.{way}('q', 10)") == ["a1", "b1"]


@pytest.mark.parametrize("lapsed", [False, True])
def test_what_is_redelivered_needs_room_like_any_other(db: Db, create: Create, clock: Clock, lapsed: bool) -> None:
    create(max_concurrent=2, rate_limit="3/1h burst 3")
    send(db, "a1", "b1", "c1")
    number = lease(db, "tenant = 'a'")
    ids = column(db, "select message_id from howdah.parked")
    if lapsed:
        clock.advance(61)
        lease(db, "tenant = 'b'")
        lease(db, "tenant = 'c'")
    again = column(db, "select body from howdah.redeliver('q', %s, %s)", ([number], ids))
    assert again == ([] if lapsed else ["a1"])
    assert one(db, "select leased from howdah.list_handler_limits('q')") == (2 if lapsed else 1)
    if lapsed:
        assert column(db, "select body from howdah.browse('q')") == ["a1"], "it is in the queue again"
    else:
        assert take(db, 2) == ["b1"]
        assert take(db) == [], "the rate is spent: two, and one that came again"


def test_no_attempt_begins_in_a_queue_with_limits(db: Db, create: Create) -> None:
    create(max_concurrent=1)
    create("earlier")
    send(db, "a1")
    error = refused(db, "HD005", "select * from howdah.begin_attempts('q')")
    assert error.message_primary == "attempts cannot begin at queue 'q': it has a limit of concurrency or a rate"
    one(db, "select howdah.send('earlier', 'x')")
    attempt = one(db, "select attempt from howdah.begin_attempts('earlier')")
    one(db, "select howdah.alter_queue('earlier', '{\"max_concurrent\": 1}')")
    assert column(db, "select body from howdah.receive_attempt('earlier', %s)", (attempt,)) == []
    assert column(db, "select body from howdah.receive('earlier')") == ["x"]
    assert one(db, "select count(*) from howdah.attempts") == 0


def test_a_look_up_without_room_does_not_try_each_message(db: Db, create: Create, connect: Connect) -> None:
    create(max_concurrent=2)
    assert (
        len(column(db, "select howdah.send('q', n::text, correlation_id => 'c') from generate_series(1, 50) n")) == 50
    )
    by_id = "select body from howdah.receive_correlated('q', 'c', 10)"
    other = connect()
    with db.transaction(), other.transaction():
        assert column(db, by_id) == ["1", "2"]
        before = one(other, "select pg_current_xact_id()")
        assert column(other, by_id) == []
    assert one(db, "select pg_current_xact_id()::text::bigint") - int(before) < 10, (
        "a subtransaction for each has an id"
    )
    assert column(other, by_id) == ["3", "4"]
    other.execute("begin isolation level repeatable read")
    refused(other, "HD005", by_id)


def test_many_full_keys_of_other_priorities_are_passed_over_together(db: Db, create: Create, connect: Connect) -> None:
    create(limit_key="tenant", max_concurrent_per_key=1)
    db.execute(
        "select howdah.send('q', 'm' || n, headers => jsonb_build_object('tenant', n % 100), priority => 7)"
        " from generate_series(1, 200) n"
    ).fetchall()
    send(db, "z1")
    first, second = connect(), connect()
    with first.transaction(), second.transaction():
        assert len(take(first, 50) + take(first, 50)) == 100
        before = one(second, "select pg_current_xact_id()")
        assert take(second) == ["z1"]
    assert one(db, "select pg_current_xact_id()::text::bigint") - int(before) < 20, "not a subtransaction for each key"


def test_the_list_bears_locks_of_any_number(db: Db, create: Create, connect: Connect) -> None:
    create(max_concurrent=3)
    send(db, "a1")
    stranger, consumer = connect(), connect()
    for session in (stranger, consumer):
        session.execute("begin")
    for number in (9223372036854775807, -9223372036854775808, 0):
        stranger.execute("select pg_advisory_xact_lock(%s)", (number,))
    assert take(consumer) == ["a1"]
    assert one(db, "select in_hand from howdah.list_handler_limits('q')") == 1


def test_metrics_and_the_list_say_what_is_in_use_and_only_read(
    db: Db, create: Create, clock: Clock, connect: Connect
) -> None:
    create(max_concurrent=3, rate_limit="9/1h burst 9")
    one(db, "select howdah.create_queue('plain')")
    send(db, "a1", "b1", "c1")
    lease(db)
    clock.advance(61)
    lease(db, "tenant = 'b'")
    consumer = connect()
    consumer.execute("begin")
    assert take(consumer) == ["a1"]
    db.execute("begin read only")
    listed = db.execute("select in_hand, leased from howdah.list_handler_limits('q')").fetchall()
    found = db.execute(
        "select name, labels ->> 'queue', labels ->> 'by', value from howdah.metrics()"
        " where name ~ 'permits|max_concurrent|rate_opens' order by 1, 3"
    ).fetchall()
    db.execute("commit")
    assert listed == [(1, 1)]
    assert found == [
        ("howdah_queue_max_concurrent", "q", None, 3),
        ("howdah_queue_permits_in_use", "q", "leases", 1),
        ("howdah_queue_permits_in_use", "q", "receives", 1),
        ("howdah_queue_rate_opens_seconds", "q", None, 0),
    ], "the lease that ran out is none"


def test_a_prepared_transaction_holds_its_permit_until_it_is_committed(
    db: Db, create: Create, connect: Connect
) -> None:
    create(max_concurrent=1)
    send(db, "a1", "a2")
    consumer = connect()
    consumer.execute("begin")
    assert take(consumer) == ["a1"]
    consumer.execute("prepare transaction 'permit'")
    consumer.close()
    assert take(db) == []
    db.execute("commit prepared 'permit'")
    assert take(db) == ["a2"]


def test_a_limited_message_costs_no_update(db: Db, create: Create, connect: Connect) -> None:
    create(
        max_concurrent=9,
        rate_limit="99/1s burst 99",
        limit_key="tenant",
        max_concurrent_per_key=9,
        rate_limit_per_key="99/1s burst 99",
    )
    send(db, "a1", "a2", "a3", "b1")
    consumer = connect()
    consumer.execute("begin")
    assert take(consumer, 2) == ["a1", "a2"]
    assert one(consumer, "select howdah.ack('q', %s)", (lease(consumer),)) == 1
    updated = column(consumer, "select relname::text from pg_stat_xact_user_tables where n_tup_upd > 0")
    consumer.execute("commit")
    assert updated == []
