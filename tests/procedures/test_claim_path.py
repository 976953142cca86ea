"""A receive begins where the living begin, and what comes back behind that point is found (docs/decisions/0006)."""

from __future__ import annotations

import time

import pytest
from claims_support import LANES, buffers, ids, send
from support import Connect, Db, one, wait_until


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


@LANES
@pytest.mark.first_case
def test_dead_rows_that_a_held_snapshot_keeps_cost_a_receive_nothing(db: Db, connect: Connect, lane: str) -> None:
    send(db, 300, lane)
    clean = {number: min(buffers(db, number) for _ in range(8)) for number in (1, 10)}
    holder = connect()
    with holder.transaction():
        holder.execute("set transaction isolation level repeatable read")
        one(holder, "select count(*) from howdah.destinations")
        for _ in range(10):
            send(db, 3000, lane)
            while len(ids(db, 1000)) == 1000:
                pass
        db.execute("vacuum howdah.msgs, howdah.msgs_nonpersistent, howdah.parked")
        send(db, 300, lane)
        ids(db, 1)
        for number, cost in clean.items():
            # The best of several, for a step of the search is due now and then.
            assert min(buffers(db, number) for _ in range(8)) <= cost + 12


@pytest.mark.first_case
@pytest.mark.parametrize("number", [1, 20, 100, 5000])
def test_a_batch_given_back_is_received_again_at_once_and_in_order(db: Db, number: int) -> None:
    sent = send(db, number + 200)
    ids(db, 50)
    for _ in range(3):
        with db.transaction(force_rollback=True):
            assert ids(db, number) == sent[50 : number + 50]
    assert ids(db, number) == sent[50 : number + 50]
    assert ids(db, number + 200) == sent[number + 50 :]


def test_what_a_savepoint_gives_back_is_received_again(db: Db) -> None:
    sent = send(db, 300)
    with db.transaction():
        with db.transaction(force_rollback=True):
            assert ids(db, 2) == sent[:2]
        assert ids(db, 3) == sent[:3]


@LANES
@pytest.mark.slow
def test_a_message_given_back_long_after_is_received_though_the_head_went_far_ahead(
    db: Db, connect: Connect, lane: str
) -> None:
    send(db, 20_000, lane)
    slow = connect()
    with slow.transaction(force_rollback=True):
        (early,) = ids(slow, 1)
        while ids(db, 1000):
            pass
    # A look behind 20,000 dead rows may take more than the 2 ms that one receive spends on it.
    wait_until(lambda: ids(db, 1) == [early])


@pytest.mark.slow
@LANES
def test_a_message_given_back_is_received_while_others_keep_the_queue_busy(db: Db, connect: Connect, lane: str) -> None:
    send(db, 40_000, lane)
    slow = connect()
    with slow.transaction(force_rollback=True):
        (early,) = ids(slow, 1)
        for _ in range(30):
            ids(db, 1000)
    got: list[int] = []
    for _ in range(9000):
        got += ids(db, 1)
        if got[-1] == early:
            break
    assert got[-1] == early, "with the newest still waiting"
    assert len(set(got)) == len(got)


@LANES
@pytest.mark.slow
def test_what_came_back_far_behind_is_drained_in_order_once_it_is_found(db: Db, connect: Connect, lane: str) -> None:
    sent = send(db, 20_000, lane)
    slow = connect()
    with slow.transaction(force_rollback=True):
        assert ids(slow, 1500) == sent[:1500]
        while ids(db, 1000):
            pass
    got: list[int] = []

    def drained() -> bool:
        got.extend(ids(db, 100))
        return len(got) >= 1500

    wait_until(drained)
    assert got == sent[:1500]


@LANES
def test_a_sender_that_commits_late_is_not_passed_by(db: Db, connect: Connect, lane: str) -> None:
    late = connect()
    with late.transaction():
        first = send(late, 3, lane)
        others = send(db, 5000, lane)
        assert [n for _ in range(5) for n in ids(db, 1000)] == others
        assert ids(db, 1) == []
    assert ids(db, 10) == first


def test_what_comes_back_under_a_backlog_need_not_wait_for_its_end(db: Db, connect: Connect) -> None:
    sent = send(db, 2000)
    other = connect()
    with other.transaction(force_rollback=True):
        assert ids(other, 1) == sent[:1]
        assert ids(db, 1) == sent[1:2]
    got: list[int] = []
    for _ in range(200):
        time.sleep(0.01)  # rare receives: each is later than the pace of the search
        got += ids(db, 1)
        if sent[0] in got:
            break
    assert sent[0] in got, "with nine in ten of the others still waiting"


def test_the_oldest_is_found_though_younger_ones_come_back_again_and_again(db: Db, connect: Connect) -> None:
    sent = send(db, 10000)
    other = connect()
    with other.transaction(force_rollback=True):
        assert ids(other, 1) == sent[:1]
        for _ in range(9):
            ids(db, 1000)
    for _ in range(2000):
        with db.transaction(force_rollback=True):
            if sent[0] in ids(db, 10):
                break
    else:
        pytest.fail("never found")
