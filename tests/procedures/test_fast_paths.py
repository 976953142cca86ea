"""The fast paths of a receive, while other sessions record failures, move, roll back and commit late."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

import psycopg
import pytest
from policy_support import Create
from psycopg.types.json import Jsonb
from selected import SELECTOR, fill, take
from support import Connect, Db, column, one, wait_until_blocked


def test_a_first_failure_recorded_while_a_selective_receive_locks_is_honoured(
    db: Db, create: Create, connect: Connect
) -> None:
    create(redelivery_delay_ms=60_000)
    fill(db, 20_000, every=1_000_000)
    fill(db, 40_000)
    take(db, 3)
    for _ in range(40):
        take(db, 1)
    assert one(db, "select coalesce(sum(cardinality(seqs)), 0)::integer from howdah.candidates") > 10
    holder, receiver = connect(), connect()
    holder.execute("begin")
    db.execute("begin")
    (first,) = take(db)
    db.execute("rollback")
    assert len(column(holder, "select message_id from howdah.receive_message('q', %s)", (first,))) == 1
    db.execute("begin")
    db.execute("lock table howdah.candidates in access exclusive mode")
    got: list[Any] = []

    def work() -> None:
        got.extend(column(receiver, "select message_id from howdah.receive('q', 1, selector => %s)", (SELECTOR,)))

    thread = threading.Thread(target=work)
    thread.start()
    wait_until_blocked(db, receiver)
    one(db, "select outcome from howdah.record_failure('q', %s, 'bad')", (first,))
    holder.execute("rollback")
    db.execute("commit")
    thread.join()
    assert first not in got, "it must wait for its delay"


def test_a_batch_of_groups_keeps_its_order_though_one_chosen_message_is_moved_away(
    db: Db, create: Create, connect: Connect
) -> None:
    create(message_groups="transaction")
    create("r")
    bodies = ["b0", "m1"] + [f"m{i}" for i in range(2, 60)]
    groups = [Jsonb({"JMSXGroupID": b[0]}) for b in bodies]
    ids = one(db, "select howdah.send_batch('q', %s::text[], headers => %s)", (bodies, groups))
    # m1 is held and given back
    other, receiver = connect(), connect()
    other.execute("begin")
    other.execute("select from howdah.msgs where message_id = %s for update", (ids[1],))
    other.execute("rollback")
    db.execute("begin")
    db.execute("lock table howdah.journal in access exclusive mode")
    got: list[Any] = []

    def work() -> None:
        got.extend(column(receiver, "select body from howdah.receive('q', 40)"))

    thread = threading.Thread(target=work)
    thread.start()
    wait_until_blocked(db, receiver)
    with suppress(psycopg.OperationalError), db.transaction():  # refused if the receiver waits with it in its hands
        one(db, "select howdah.move_messages('q', %s::bigint[], 'r')", ([ids[30]],))
    db.execute("commit")
    thread.join()
    assert "m2" not in got or "m1" in got


@pytest.mark.slow
def test_a_late_selected_message_is_found_behind_many_that_are_in_hand(
    db: Db, create: Create, connect: Connect
) -> None:
    create(redelivery_delay_ms=0)
    fill(db, 20_000, every=1_000_000)
    fill(db, 1_660, every=8)
    late, holder = connect(), connect()
    late.execute("begin")
    ours = one(late, "select howdah.send('q', 'late', headers => %s)", (Jsonb({"w": 7}),))
    fill(db, 200, every=8)
    fill(db, 800, every=1_000_000)
    holder.execute("set howdah.x = 1")
    for _ in range(300):
        db.execute("begin")
        take(db, 4)
        db.execute("rollback")
        if one(db, "select count(*) from howdah.selections where head is not null"):
            break
        db.execute("select setval(head, 1) from howdah.selections where head is not null")
    take(db, 4)
    db.execute("select setval(head, 1) from howdah.selections where head is not null")
    take(db, 4)
    holder.execute("begin")
    take(holder, 222)
    late.execute("commit")
    found = [m for _ in range(25) for m in take(db)]
    assert ours in found


def received_at_once(sessions: list[Db]) -> list[int]:
    """What the sessions get that receive one message each at the same moment, in transactions that stay open."""
    got: list[int] = []
    barrier = threading.Barrier(len(sessions))

    def work(session: Db) -> None:
        session.execute("begin")
        barrier.wait()
        got.extend(column(session, "select message_id from howdah.receive('q')"))

    threads = [threading.Thread(target=work, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got


@pytest.mark.slow
def test_what_came_back_is_not_locked_by_a_receive_that_does_not_take_it(
    db: Db, create: Create, connect: Connect
) -> None:
    create()
    missed = 0
    rounds = 200
    one(db, "select cardinality(howdah.send_batch('q', array_agg(i::text order by i))) from generate_series(1, 9000) i")
    sessions = [connect() for _ in range(4)]
    holder = connect()
    for _ in range(rounds):
        holder.execute("begin")
        (back,) = column(holder, "select message_id from howdah.receive('q')")
        column(sessions[0], "select message_id from howdah.receive('q', 3)")
        holder.execute("rollback")
        column(db, "select pg_sleep(0.01)")
        got = received_at_once(sessions)
        if back not in got:
            free = "select count(*) from (select from howdah.msgs where message_id = %s for update skip locked) m"
            missed += one(db, free, (back,)) == 0
        for s in sessions:
            s.execute("rollback")
    assert missed == 0
