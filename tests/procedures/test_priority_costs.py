"""Messages of other priorities that were removed or are in other hands cost a receive nothing."""

from __future__ import annotations

import pytest
from priorities_support import looked_by_lane, send, take
from support import Connect, Db, column, measured, one, receive, wait_until


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


@pytest.mark.parametrize("sent", [[7] * 200 + [4] * 200, [4, 7] * 200, [4, 4, 4, 9] * 3], ids=["runs", "mixed", "few"])
def test_the_usual_message_of_a_queue_with_priorities_is_found_without_going_through_the_lanes(
    db: Db, sent: list[int]
) -> None:
    send(db, *sent)
    with db.transaction():
        db.execute("set local track_functions = 'all'")
        assert sum(len(take(db)) for _ in sent) == len(sent)
        assert looked_by_lane(db) <= len(sent) // 20


def buffers(db: Db) -> int:
    """Buffers that a receive touches, at best: a step of the search is due now and then."""
    return min(int(measured(db, "select howdah.receive('q')")["Buffers"]) for _ in range(8))


def test_dead_rows_of_a_higher_priority_that_a_held_snapshot_keeps_cost_a_receive_nothing(
    db: Db, connect: Connect
) -> None:
    other = connect()
    with other.transaction():
        send(other, 7)
        send(db, 7)  # the lane has a second row, without hints
    assert column(db, "select head is null from howdah.lanes order by id") == [False, True]
    assert len(receive(db, n=2)) == 2
    send(db, *[4] * 300)
    take(db)
    clean = buffers(db)
    with other.transaction():
        other.execute("set transaction isolation level repeatable read")
        one(other, "select count(*) from howdah.destinations")
        for _ in range(5):
            send(db, *[7] * 3000)
            while len(receive(db, n=1000)) == 1000:
                pass
        send(db, *[4] * 300)
        take(db)
        assert buffers(db) <= clean + 20
        for _ in range(5):
            send(db, *[7] * 3000)
            assert one(db, "select count(*) from howdah.receive('q', 3000, selector => 'JMSPriority = 7')") == 3000
        send(db, *[4] * 300)
        assert buffers(db) <= clean + 20


@pytest.mark.slow
def test_higher_messages_that_another_transaction_selected_cost_a_receive_nothing(db: Db, connect: Connect) -> None:
    send(db, 7, *[4] * 300)
    take(db)
    clean = buffers(db)
    high = send(db, *[7] * 9000)
    send(db, *[4] * 300)
    other = connect()
    with other.transaction(force_rollback=True):
        assert one(other, "select count(*) from howdah.receive('q', 9000, selector => 'JMSPriority = 7')") == 9000
        assert buffers(db) <= clean + 20
    got: list[int] = []

    def found() -> bool:
        got.extend(m.message_id for m in receive(db, n=100))
        return set(got) >= set(high)

    wait_until(found)
    assert sorted(got) == sorted(set(got))


def test_a_lane_whose_row_without_hints_came_first_is_served_in_the_short_way(db: Db, connect: Connect) -> None:
    first, second = connect(), connect()
    with first.transaction(force_rollback=True):
        send(first, 7)
        send(second, 7)
    send(db, *[7] * 100)
    assert column(db, "select head is null from howdah.lanes order by id") == [True, False]
    with db.transaction():
        db.execute("set local track_functions = 'all'")
        assert sum(len(take(db)) for _ in range(101)) == 101
        assert looked_by_lane(db) <= 5
