"""A receive begins where the living begin, and what comes back behind that point is found (docs/decisions/0006)."""

from __future__ import annotations

import time

import pytest
from psycopg import sql
from support import Clock, Connect, Db, column, measured, one, receive, wait_until
from thinned import grid


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def send(db: Db, number: int = 1, extra: str = "") -> list[int]:
    ids: list[int] = one(
        db,
        f"select howdah.send_batch('q', array_fill('x'::text, array[n]){extra}) from (values (%s::integer)) v(n)",
        (number,),
    )
    return ids


def ids(db: Db, number: int) -> list[int]:
    return [message.message_id for message in receive(db, n=number)]


def buffers(db: Db, number: int) -> int:
    """Buffers that one receive touches."""
    return int(measured(db, f"select howdah.receive('q', {number})")["Buffers"])


HIGHER = ", priorities => array_fill(7, array[n])"
LANES = pytest.mark.parametrize(
    "lane",
    ["", ", delivery_mode => 'non-persistent'", ", delay => '1 us'", HIGHER],
    ids=["ready", "non-persistent", "parked", "higher"],
)


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
@pytest.mark.first_case
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
@pytest.mark.first_case
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


@pytest.mark.parametrize("head", [0, 1, 70, 99, 100, 101, 5000, 9_000_000_000, 2**63 - 1])
@pytest.mark.parametrize("search", [0, 2**20 * 99, 2**62])
def test_hints_may_say_anything(db: Db, head: int, search: int) -> None:
    sent = send(db, 50) + send(db, 50)
    ids(db, 30)
    db.execute(
        "select setval(d.head, %s), setval(d.search, %s) from howdah.destinations d where d.name = 'q'", (head, search)
    )
    got: list[int] = []
    for _ in range(70):
        got += ids(db, 1)
    assert sorted(got) == sent[30:]
    assert ids(db, 1) == []
    more = send(db, 200)
    assert [n for _ in range(4) for n in ids(db, 50)] == more


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("head", "search", "lane"),
    grid(
        [0, 1, 99, 101, 5000, 1_700_000_000_000_000, 9_000_000_000_000_000, 2**63 - 1],
        [0, 2**20 * 99, 2**62, 2**63 - 1],
        [", delivery_mode => 'non-persistent'", ", delay => '1 us'", HIGHER],
        every=7,
    ),
)
def test_hints_of_other_lanes_may_say_anything(db: Db, lane: str, head: int, search: int) -> None:
    sent = send(db, 50, lane) + send(db, 50, lane)
    ids(db, 30)
    db.execute("select setval(l.head, %s), setval(l.search, %s) from howdah.lanes l", (head, search))
    got: list[int] = []

    def drained() -> bool:
        got.extend(ids(db, 1))
        return len(got) >= 70

    wait_until(drained)
    assert sorted(got) == sent[30:]
    assert ids(db, 1) == []
    more = send(db, 200, lane)
    assert sorted(n for _ in range(4) for n in ids(db, 50)) == more


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


def test_no_message_is_held_twice_though_the_head_was_put_back_under_the_call(db: Db) -> None:
    """Whoever puts it back at that moment is played by the function that locks what was drawn."""
    one(db, "select cardinality(howdah.send_batch('q', array(select i::text from generate_series(1, 400) i)))")
    assert len(column(db, "select body from howdah.receive('q', 2)")) == 2
    db.execute("delete from howdah.msgs where seq between 20 and 80")
    source = one(db, "select prosrc from pg_proc where oid = 'howdah._lock_drawn'::regproc")
    db.execute(
        sql.SQL(
            "create or replace function howdah._lock_drawn(p_lane howdah.lanes, p_positions bigint[]) returns bigint[]"
            " language plpgsql as {}"
        ).format(
            sql.Literal(
                "declare v_locked bigint[]; begin"
                f" v_locked := ({source}); perform setval(p_lane.head, p_positions[1] - 1); return v_locked; end"
            )
        )
    )
    held = column(db, "select message_id from howdah.receive_locked('q', 100)")
    assert len(held) == len(set(held)) == 100


def test_no_message_is_held_twice_though_the_head_was_put_back_behind_what_the_search_found(
    db: Db, connect: Connect
) -> None:
    """Whoever puts it back at that moment is played by the search."""
    send(db, 30)
    with connect().transaction(force_rollback=True) as taking:
        assert len(column(taking.connection, "select body from howdah.receive('q', 20)")) == 20
    one(db, "select howdah._search_from(d.id, d.main_rank, 1) from howdah.destinations d where d.name = 'q'")
    arguments = "p_lane howdah.lanes, p_head bigint, p_want integer, p_deep boolean, p_tickets bigint default 0"
    db.execute("alter function howdah._search rename to _search_itself")
    db.execute(
        f"create function howdah._search({arguments}) returns bigint[] language plpgsql as $$"
        " declare v_found bigint[] := howdah._search_itself(p_lane, p_head, p_want, p_deep, p_tickets);"
        " begin perform setval(p_lane.head, 5); return v_found; end $$"
    )
    held = column(db, "select message_id from howdah.receive_locked('q', 30)")
    assert len(held) == len(set(held)) == 30


@pytest.mark.first_case
@pytest.mark.parametrize("call", ["receive('q', 100)", "lease('q', 100)"])
def test_a_batch_is_in_order_though_a_search_comes_due_in_the_middle_of_its_call(
    db: Db, connect: Connect, call: str
) -> None:
    """What had come back before is for the next call. The clock is played by a look that is due from the second on."""
    send(db, 300)
    with connect().transaction(force_rollback=True) as taking:
        assert column(taking.connection, "select message_id / 1000000 from howdah.receive('q')") == [1]
        assert len(column(db, "select body from howdah.receive('q', 40)")) == 40
    db.execute("delete from howdah.msgs where seq between 60 and 70")
    db.execute("create sequence looks")
    db.execute("grant usage on sequence looks to public")
    db.execute(
        "create or replace function howdah._is_due(p_search bigint, p_pace bigint) returns boolean"
        " language plpgsql as $$ begin return nextval('public.looks') > 1; end $$"
    )
    got = column(db, f"select message_id / 1000000 from howdah.{call}")
    assert len(got) > 80
    assert got == sorted(got)


def test_a_failed_message_that_comes_back_under_a_call_is_not_taken_without_its_failures(db: Db) -> None:
    """Whoever puts it back at that moment is played by a look that sees no failure."""
    db.execute("select howdah.alter_queue('q', '{\"redelivery_delay_ms\": 60000}')")
    number = send(db, 200)[4]
    db.execute("select howdah.record_failure('q', %s)", (number,))
    assert one(db, "select howdah.retry('q')") == 1
    db.execute(
        "create or replace function howdah._any_failed(p_lane howdah.lanes, p_positions bigint[]) returns boolean"
        " language sql as 'select false'"
    )
    taken: dict[int, int] = {}
    for _ in range(3):
        taken |= dict(db.execute("select message_id, delivery_count from howdah.receive('q', 100)").fetchall())
    assert taken[number] == 2
    assert len(taken) == 200
