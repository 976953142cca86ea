"""Messages that were parked and are due, received on the fast paths (howdah._take_by_lane, howdah._take_parked)."""

from __future__ import annotations

import random
import threading

import chance
import pytest
from due_support import send, take
from support import Clock, Connect, Db, column, measured, one, wait_until


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def calls(db: Db, function: str) -> int:
    """How often the open transaction called a function of howdah."""
    query = "select coalesce(sum(calls), 0)::integer from pg_stat_xact_user_functions where funcname = %s"
    number: int = one(db, query, (function,))
    return number


@pytest.mark.parametrize("n", [1, 100])
def test_due_messages_are_received_in_the_short_way_by_priority_time_and_position(db: Db, clock: Clock, n: int) -> None:
    second = send(db, 20, "30 s")
    first = send(db, 20, "10 s", delivery_mode="non-persistent")
    high = send(db, 5, "40 s", priorities=[7] * 5)
    send(db, 5, "1 hour")
    ready = column(db, "select howdah.send('q', 'ready') from generate_series(1, 5)")
    clock.advance(60)
    with db.transaction():
        db.execute("set local track_functions = 'all'")
        got = [m for _ in range(0, 50, n) for m in take(db, n)]
        if n == 1:
            assert calls(db, "_receive_by_lane") == 0
        else:
            assert calls(db, "_take_parked") == 2
            assert calls(db, "_deliver_found") == 1, "the few that are ready were found, and not drawn"
    assert got == high + first + second + ready
    assert take(db) == []
    assert one(db, "select count(*) from howdah.parked") == 5


@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
@pytest.mark.parametrize("n", [1, 10])
def test_a_due_message_is_given_as_the_way_of_selectors_gives_it_and_recorded_once(
    db: Db, clock: Clock, n: int, mode: str
) -> None:
    db.execute("""select howdah.alter_queue('q', '{"journal_level": "full"}')""")
    for body in ("short", "long " * 4000):
        one(
            db,
            "select howdah.send('q', %s::text, headers => '{\"a\": 1}', priority => 6, correlation_id => 'c',"
            " message_type => 'm', reply_to => 'q', time_to_live => '1 hour', delivery_mode => %s, delay => '1 min')",
            (body, mode),
        )
    one(db, "select howdah.send('q', %s::bytea, delay => '1 min', delivery_mode => %s)", (b"\x00bytes", mode))
    clock.advance(120)
    with db.transaction(force_rollback=True):
        expected = db.execute("select * from howdah.receive('q', 10, selector => 'JMSPriority > 0')").fetchall()
    assert len(expected) == 3
    got = [row for _ in range(0, 3, n) for row in db.execute("select * from howdah.receive('q', %s)", (n,)).fetchall()]
    assert got == expected
    journal = db.execute("select nonpersistent, message_ids from howdah.journal where event = 'consumed'").fetchall()
    assert {nonpersistent for nonpersistent, _ in journal} == {mode == "non-persistent"}
    assert [m for _, ids in journal for m in ids] == [row[0] for row in got]
    assert one(db, "select count(*) from howdah.parked") == 0
    assert one(db, "select count(*) from howdah.bodies") == 0


def test_a_batch_of_both_modes_is_journaled_by_mode(db: Db, clock: Clock) -> None:
    lasting = send(db, 3)
    passing = send(db, 2, delivery_mode="non-persistent")
    clock.advance(61)
    assert take(db, 10) == lasting + passing
    assert db.execute("select nonpersistent, message_ids from howdah.journal where event = 'consumed'").fetchall() == [
        (False, lasting),
        (True, passing),
    ]


@pytest.mark.parametrize("priority", [4, 2])
def test_dead_rows_of_ready_messages_cost_the_receive_of_a_due_one_nothing(
    db: Db, connect: Connect, clock: Clock, priority: int
) -> None:
    def buffers() -> int:
        got = [int(measured(db, "select howdah.receive('q')")["Buffers"]) for _ in range(8)]
        return min(got)

    send(db, 8)
    one(db, "select howdah.send('q', 'other', priority => 2)")
    clock.advance(61)
    clean = buffers()
    holder = connect()
    with holder.transaction():
        holder.execute("set transaction isolation level repeatable read")
        one(holder, "select count(*) from howdah.destinations")
        query = "select cardinality(howdah.send_batch('q', array_fill('x'::text, array[9000]), priorities => p))"
        one(db, f"{query} from (values (array_fill(%s, array[9000]))) v(p)", (priority,))
        one(db, "select howdah.purge_queue('q')")
        send(db, 100)
        clock.advance(61)
        assert buffers() <= clean + 20


def test_a_due_time_before_1970_makes_no_receive_fail(db: Db, connect: Connect, clock: Clock) -> None:
    holder = connect()
    with holder.transaction():
        holder.execute("set transaction isolation level repeatable read")
        one(holder, "select count(*) from howdah.destinations")
        for _ in range(3):
            send(db, 5000)
            db.execute("update howdah.parked set due_at = timestamptz '1907-01-01' + seq * interval '1 us'")
            for n in (5, 1, 1, 1, 1000, 1000):
                take(db, n)
            wait_until(lambda: not take(db, 5000) and one(db, "select count(*) from howdah.parked") == 0)


def test_a_due_message_in_others_hands_is_skipped_and_comes_again_if_they_roll_back(
    db: Db, connect: Connect, clock: Clock
) -> None:
    first, second = send(db, 2)
    (ready,) = column(db, "select howdah.send('q', 'ready')")
    clock.advance(61)
    other, third = connect(), connect()
    with other.transaction(force_rollback=True):
        assert take(other) == [first]
        with third.transaction(force_rollback=True):
            assert take(third) == [second]
            with db.transaction(force_rollback=True):
                assert take(db) == [ready]
    got: list[int] = []

    def all_came() -> bool:
        got.extend(take(db))
        return len(got) == 3

    wait_until(all_came)
    assert sorted(got) == sorted([first, second, ready])


def test_a_strict_order_gives_due_messages_by_their_time_and_waits_for_what_is_in_hand(
    db: Db, connect: Connect, clock: Clock
) -> None:
    db.execute("""select howdah.alter_queue('q', '{"strict_order": true}')""")
    first, second = send(db, 2)
    clock.advance(61)
    other = connect()
    with other.transaction(force_rollback=True):
        assert take(other) == [first]
        assert take(db) == []
    assert take(db) == [first]
    assert take(db) == [second]


@pytest.mark.slow
def test_receivers_and_senders_of_delayed_messages_lose_and_double_nothing(db: Db, connect: Connect) -> None:
    dice = chance.dice()
    plans = [[dice.choice(["0 s", "1 us", "20 ms", "60 ms"]) for _ in range(120)] for _ in range(3)]
    lock = threading.Lock()
    sent: list[int] = []
    got: list[int] = []
    done = threading.Event()

    def produce(session: Db, plan: list[str]) -> None:
        for delay in plan:
            mine = send(session, 1, delay)
            with lock:
                sent.extend(mine)

    def consume(session: Db, seed: int) -> None:
        own = random.Random(seed)
        while not done.is_set():
            back = own.random() < 0.2
            with session.transaction(force_rollback=back):
                mine = take(session, own.choice([1, 1, 3, 20]))
            if not back:
                with lock:
                    got.extend(mine)

    consumers = [threading.Thread(target=consume, args=(connect(), dice.randrange(2**32))) for _ in range(6)]
    producers = [threading.Thread(target=produce, args=(connect(), plan)) for plan in plans]
    for thread in consumers + producers:
        thread.start()
    for thread in producers:
        thread.join()
    try:
        wait_until(lambda: len(got) >= 360)
    finally:
        done.set()
        for thread in consumers:
            thread.join()
    assert sorted(got) == sorted(sent)
