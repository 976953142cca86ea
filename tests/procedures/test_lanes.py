"""A lane begins with its first message, has a head of its own, and ends with its queue."""

from __future__ import annotations

import pytest
from claims_support import buffers, ids, send
from support import Clock, Connect, Db, column, one, receive, wait_until


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


HEADS = "select howdah._hint(l.head) from howdah.lanes l where l.head is not null"


def dead(db: Db, lane: str, number: int = 30_000) -> None:
    """Send as many messages, and receive them."""
    for _ in range(number // 10_000):
        send(db, 10_000, lane)
    while ids(db, 5000):
        pass


OTHERS = pytest.mark.parametrize(
    "lane", [", delivery_mode => 'non-persistent'", ", delay => '1 us'"], ids=["non-persistent", "parked"]
)


@pytest.mark.slow
@OTHERS
def test_another_lane_has_a_head_only_while_dead_rows_make_it_dear(db: Db, connect: Connect, lane: str) -> None:
    send(db, 300, lane)
    for _ in range(30):
        ids(db, 10)

    def cheap() -> bool:
        sent = send(db, 1, lane)
        assert ids(db, 1) == sent
        assert ids(db, 1) == []
        return column(db, HEADS) == [0]

    assert sum(cheap() for _ in range(15)) > 7, "but for looks that were slow by chance"
    holder = connect()
    with holder.transaction():
        holder.execute("set transaction isolation level repeatable read")
        one(holder, "select count(*) from howdah.destinations")
        dead(db, lane, 100_000)
        assert column(db, HEADS)[0] > 1
    db.execute("vacuum howdah.msgs_nonpersistent, howdah.parked")
    wait_until(cheap)


@pytest.mark.slow
def test_what_comes_back_before_the_dead_rows_of_a_parked_lane_leaves_its_head_where_it_is(
    db: Db, connect: Connect
) -> None:
    lane = ", delay => '1 us'"
    holder, slow = connect(), connect()
    with holder.transaction():
        holder.execute("set transaction isolation level repeatable read")
        one(holder, "select count(*) from howdah.destinations")
        early = send(db, 50, lane)
        with slow.transaction(force_rollback=True):
            assert ids(slow, 50) == early
            dead(db, lane, 100_000)
            (head,) = column(db, HEADS)
            assert head > 1

        left: list[bool] = []

        def stepped() -> bool:
            db.execute("select setval(l.head, %s) from howdah.lanes l where l.head is not null", (head,))
            with db.transaction(force_rollback=True):
                got = ids(db, 10)
            assert got in ([], early[:10]), "by a step"
            if got:
                left.append(column(db, HEADS) == [head])
            return len(left) == 15

        wait_until(stepped)
        assert sum(left) > 7, "but for steps that were slow by chance"
        got: list[int] = []

        def drained() -> bool:
            got.extend(ids(db, 10))
            return len(got) >= len(early)

        wait_until(drained)
        assert got == early


@pytest.mark.slow
def test_a_lane_that_two_began_at_once_is_asked_for_due_messages_by_the_row_with_hints(
    db: Db, connect: Connect
) -> None:
    lane = ", delay => '1 us'"
    first, second = connect(), connect()
    with first.transaction(), second.transaction():
        send(first, 1, lane)
        send(second, 1, lane)
    assert one(db, "select count(*) from howdah.lanes") == 2
    holder = connect()
    with holder.transaction():
        holder.execute("set transaction isolation level repeatable read")
        one(holder, "select count(*) from howdah.destinations")
        dead(db, lane, 100_000)
        send(db, 100)
        assert sorted(buffers(db, 1) for _ in range(9))[4] < 300


def test_the_first_senders_of_a_priority_wait_for_nobody_and_stop_nobody(db: Db, connect: Connect) -> None:
    db.execute("set lock_timeout = '20s'")
    first, second = connect(), connect()
    with first.transaction():
        one(first, "select howdah.send('q', 'a', priority => 9)")
        with second.transaction():
            one(second, "select howdah.send('q', 'b', priority => 9)")
            one(db, "select howdah.send('q', 'c', priority => 9)")
            db.execute("select howdah.pause('q'); select howdah.resume('q')")
            assert [m.body for m in receive(db, n=5)] == ["c"]
        assert [m.body for m in receive(db, n=5)] == ["b"]
    one(db, "select howdah.send('q', 'd', priority => 9)")
    one(db, "select howdah.send('q', 'e')")
    assert [m.body for m in receive(db, n=5)] == ["a", "d", "e"]


def test_a_sender_that_rolled_back_leaves_the_lane_to_the_next_one(db: Db) -> None:
    with db.transaction(force_rollback=True):
        one(db, "select howdah.send('q', 'a', priority => 0)")
    assert column(db, "select rank from howdah.lanes") == []
    one(db, "select howdah.send('q', 'b', priority => 0)")
    assert [m.body for m in receive(db)] == ["b"]


def test_another_default_priority_is_another_lane(db: Db) -> None:
    one(db, "select howdah.send('q', 'four')")
    db.execute("""select howdah.alter_queue('q', '{"default_priority": 6}')""")
    one(db, "select howdah.send('q', 'six')")
    one(db, "select howdah.send_batch('q', array['six too'])")
    assert [(m.body, m.priority) for m in receive(db, n=5)] == [("six", 6), ("six too", 6), ("four", 4)]


def test_the_number_of_a_message_is_its_first_position_and_queue(db: Db) -> None:
    queue = one(db, "select howdah.create_queue('other')")
    assert [one(db, "select howdah.send('other', 'x')") for _ in range(3)] == [n * 1_000_000 + queue for n in (1, 2, 3)]
    assert [m.position for m in receive(db, "other", n=3)] == [1, 2, 3]


def test_the_sequences_of_a_queue_go_an_hour_after_it_unless_somebody_uses_them(
    db: Db, connect: Connect, clock: Clock
) -> None:
    queue = one(db, "select howdah.create_queue('gone', '{\"message_groups\": \"transaction\"}')")
    one(db, "select howdah.send('gone', 'x', priority => 9, delay => '1 ms')")
    count = f"select count(*) from pg_sequences where sequencename ~ '_{queue}$' and schemaname = 'howdah'"
    before, lanes = one(db, count), one(db, "select count(*) from pg_sequences where sequencename ~ '^head_[0-9]'")
    assert (before >= 4, lanes) == (True, 1)
    user = connect()
    with user.transaction(force_rollback=True):
        one(user, "select howdah.send('gone', 'late')")
        one(db, "select howdah.drop_queue('gone', true)")
        one(db, "select howdah.maintain_dropped()")
        clock.advance(3601)
        one(db, "select howdah.maintain_dropped()")
        assert one(db, count) == before
    one(db, "select howdah.maintain_dropped()")
    assert one(db, "select count(*) from pg_sequences where sequencename ~ '^(head|search)_[0-9]'") == 0
    assert one(db, f"select count(*) from pg_sequences where sequencename ~ '_of_{queue}$|^positions_{queue}$'") == 0
    one(db, "select howdah.maintain_dropped()")
