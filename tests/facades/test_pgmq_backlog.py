"""Reads of the facade under a backlog, which have a way of their own, and deletes: the promises of all others."""

from __future__ import annotations

import random
import time
from datetime import timedelta

import chance
import psycopg
import pytest
from pgmq_worlds import BEGIN, Worlds
from support import Clock, Connect, Db, column, counting, one, rows_read

from howdah.migrations import add_facade

pytestmark = pytest.mark.own_database
BACKLOG = 300
FILL = f"select count(*) from pgmq.send_batch('tasks', array(select to_jsonb(n) from generate_series(1, {BACKLOG}) n))"


@pytest.fixture
def worlds(worlds: Worlds) -> Worlds:
    worlds.both("select pgmq.create('tasks')")
    worlds.both(FILL)
    return worlds


@pytest.fixture
def backlog(dsn: str, db: Db) -> str:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('tasks')")
    db.execute(FILL.encode())
    db.execute("select pgmq.delete('tasks', (select msg_id from pgmq.read('tasks', 30, 1)))")
    return "tasks"


def read(db: Db, quantity: int = 1, vt: int = 30) -> list[int]:
    """Read messages, and return their numbers."""
    return [row[0] for row in db.execute("select msg_id from pgmq.read('tasks', %s, %s)", (vt, quantity))]


SLOW = """select pg_get_functiondef(p.oid) from pg_proc p
    where p.pronamespace = 'pgmq'::regnamespace and p.prosrc like '%interval ''1 ms''%'"""
"""The functions that go other ways where a look took longer."""


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "slow"), [(seed, slow) for slow in (False, True) for seed in chance.seeds(3)])
def test_under_a_backlog_random_calls_give_the_same_answers_and_leave_the_same(
    worlds: Worlds, seed: int, slow: bool
) -> None:
    if slow:
        slowed = [text.replace("interval '1 ms'", "interval '-1 s'") for text in column(worlds.facade, SLOW)]
        assert len(slowed) == 2
        for text in slowed:
            worlds.facade.execute(text.encode())
    maker, moment = random.Random(chance.use(seed)), BEGIN
    for number in range(150):
        if maker.random() < 0.2:
            moment += timedelta(seconds=maker.choice((0.5, 1, 5, 30)))
            worlds.set_clock(moment)
        ids = sorted({maker.randint(1, 40) for _ in range(maker.randint(0, 5))})
        one_id = maker.choice((maker.randint(1, 40), maker.randint(1, 40), 0, -1, 9223372036854775807))
        vt = maker.choice((0, 1, 5, 30, -2, 1_000_000))
        call, values = maker.choice(
            (
                *[("pgmq.read('tasks', %s, %s)", (vt, maker.choice((0, 1, 1, 2, 3))))] * 4,
                *[("pgmq.delete('tasks', %s::bigint)", (one_id,))] * 2,
                *[("pgmq.delete('tasks', %s::bigint[])", (ids,))] * 2,
                ("pgmq.pop('tasks', %s)", (maker.choice((1, 2)),)),
                ("pgmq.archive('tasks', %s::bigint[])", (ids,)),
                ("pgmq.set_vt('tasks', %s::bigint, %s)", (one_id, vt)),
                ("pgmq.send('tasks', '1'::jsonb, %s)", (maker.choice((0, 5)),)),
                ("pgmq.read('tasks', %s, 1, '7')", (vt,)),
            )
        )
        worlds.both(f"select * from {call}", values)
        if number % 25 == 24:
            worlds.compare()


def test_many_come_in_the_order_of_their_numbers(db: Db, backlog: str) -> None:
    assert read(db, 100) == list(range(2, 102))
    assert read(db, 100) == list(range(102, 202))
    assert read(db, 300) == list(range(202, BACKLOG + 1))
    assert read(db) == []


def test_readers_skip_each_other_and_get_what_was_rolled_back(db: Db, backlog: str, connect: Connect) -> None:
    other = connect()
    other.execute("begin")
    assert (read(other), read(db), read(other, 2)) == ([2], [3], [4, 5])
    other.execute("rollback")
    left, found = {2, 4, 5}, []
    until = time.monotonic() + 30
    while left and time.monotonic() < until:  # under a backlog a search finds them after some milliseconds
        found += read(db)
        left -= set(found)
    assert not left
    assert len(found) == len(set(found))


def test_what_is_visible_again_comes_before_the_backlog(db: Db, backlog: str, clock: Clock) -> None:
    assert read(db, 2) == [2, 3]
    clock.advance(31)
    assert db.execute("select msg_id, read_ct from pgmq.read('tasks', 30, 3)").fetchall() == [(2, 2), (3, 2), (4, 1)]
    assert [read(db, 1, vt=0) for _ in range(3)] == [[5]] * 3


def test_a_lease_that_ran_out_comes_before_the_backlog(db: Db, backlog: str, clock: Clock) -> None:
    leased = one(db, "select position from howdah.lease('tasks', 1, '10 seconds')")
    assert read(db) == [leased + 1]
    clock.advance(11)
    assert read(db) == [leased]


def test_a_priority_of_howdah_comes_before_the_backlog(db: Db, backlog: str) -> None:
    db.execute("select howdah.send('tasks', '9'::jsonb, priority => 9)")
    assert one(db, "select message from pgmq.read('tasks', 30, 1)") == 9


def test_an_expired_message_of_the_backlog_is_not_read(db: Db, backlog: str, clock: Clock) -> None:
    db.execute("select pgmq.create('brief')")
    db.execute("select howdah.send('brief', n::text, time_to_live => '10 s') from generate_series(1, 200) n")
    assert one(db, "select message from pgmq.read('brief', 30, 1)") == "1"
    clock.advance(11)
    assert db.execute("select message from pgmq.read('brief', 30, 10)").fetchall() == []


def test_who_may_not_read_is_refused_under_a_backlog_too(db: Db, backlog: str, connect: Connect) -> None:
    consumer = connect("howdah_consumer")
    assert read(consumer) == [2]
    refusals = (
        ("select howdah.pause('tasks', receiving => true)", "select howdah.resume('tasks')", "HD009"),
        (
            "select howdah.revoke_queue('tasks', 'receive', 'howdah_consumer')",
            "select howdah.grant_queue('tasks', 'receive', 'howdah_consumer')",
            "HD010",
        ),
    )
    for shut, open_again, code in refusals:
        db.execute(shut.encode())
        for call in ("select pgmq.read('tasks', 30, 1)", "select pgmq.delete('tasks', 2)")[: 1 + (code == "HD010")]:
            with pytest.raises(psycopg.Error) as error:
                consumer.execute(call.encode())
            assert error.value.sqlstate == code
        db.execute(open_again.encode())
    assert read(consumer) == [3]


def test_an_exclusive_consumer_keeps_others_from_the_backlog(db: Db, backlog: str, connect: Connect) -> None:
    holder = connect()
    consumer = one(holder, "select howdah.open_consumer('tasks', exclusive => true)")
    assert read(db) == []
    holder.execute("select howdah.close_consumer(%s)", (consumer,))
    assert read(db) == [2]


def test_large_small_and_unread_messages_are_deleted_together(db: Db, backlog: str) -> None:
    db.execute("select pgmq.purge_queue('tasks')")
    large = one(db, "select pgmq.send('tasks', to_jsonb(repeat('x', 20000)))")
    small, unread = (one(db, "select pgmq.send('tasks', '1')") for _ in range(2))
    assert read(db, 2) == [large, small]
    gone = db.execute("select pgmq.delete('tasks', %s::bigint[])", ([large, small, unread, 99999],)).fetchall()
    assert sorted(gone) == [(large,), (small,), (unread,)]
    assert one(db, "select count(*) from howdah.bodies") == 0
    assert db.execute("select pgmq.delete('tasks', %s::bigint[])", ([large, small],)).fetchall() == []
    journaled = "select sum(cardinality(message_ids)) from howdah.journal where event = 'consumed' and reason = 'held'"
    assert one(db, journaled) == 4  # with the one of the fixture


NUMBERS = "select array_agg(message_id / 1000000) from howdah.browse('%s', 20)"
HIDDEN = "select array_agg(msg_id) from pgmq.read('%s', 3600, 20)"


@pytest.mark.parametrize("queue", ["usual", "limited"])
def test_calls_read_by_key_though_the_queue_was_empty_when_the_tables_were_analyzed(
    dsn: str, db: Db, queue: str
) -> None:
    """A drained queue beside a long one: the planner then takes every join with the queue for a join with no row."""
    add_facade(dsn, "pgmq")
    one(db, "select howdah._sweep_lost()")  # once after each start
    for name in ("long", queue):
        db.execute("select pgmq.create(%s)", (name,))
        for wait in (36000, 0):
            bodies = "array(select to_jsonb(n) from generate_series(1, 2000) n)"
            db.execute(f"select count(*) from pgmq.send_batch(%s, {bodies}, {wait})".encode(), (name,))
        db.execute("select count(*) from pgmq.read(%s, 3600, 500)", (name,))
        if queue == "limited":
            db.execute("select howdah.alter_queue(%s, '{\"max_failed_deliveries\": 90}')", (name,))
            ready = "array_fill('1'::jsonb, array[2000]), priorities => array_fill(7, array[2000])"
            db.execute(f"select cardinality(howdah.send_batch(%s, {ready}))".encode(), (name,))
        if name == "long":
            db.execute("vacuum analyze")
    for call, found in (
        ("read('%s', 3600, 20)", "select 1"),
        ("pop('%s', 20)", "select 1"),
        ("set_vt('%s', $1, 3600)", HIDDEN),
        ("archive('%s', $1)", HIDDEN),
        ("delete('%s', $1)", HIDDEN),
        ("set_vt('%s', $1, 3600)", NUMBERS),
        ("archive('%s', $1)", NUMBERS),
        ("delete('%s', $1)", NUMBERS),
    ):
        for _ in range(7):  # the last with the plan that the session keeps
            with counting(db):
                numbers = str(one(db, found % queue if "%s" in found else found)).translate({91: "{", 93: "}"})
                before = rows_read(db)
                done = one(db, f"select count(*) from pgmq.{call % queue}".replace("$1", f"'{numbers}'::bigint[]"))
                assert done == 20
                assert {name: rows for name, rows in rows_read(db).items() if rows - before[name] > 1000} == {}, call
