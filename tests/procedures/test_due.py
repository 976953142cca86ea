"""Messages that were parked and are due, received on the fast paths (howdah._take_by_lane, howdah._take_parked)."""

from __future__ import annotations

import random
import threading

import chance
import pytest
from support import Clock, Connect, Db, column, fail, measured, one, receive, wait_until


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def send(db: Db, number: int = 1, delay: str = "1 min", **more: object) -> list[int]:
    """Send delayed messages; their numbers."""
    extra = "".join(f', "{name}" => %s' for name in more)
    ids: list[int] = one(
        db,
        f"select howdah.send_batch('q', array_fill('x'::text, array[%s]), delay => %s{extra})",
        (number, delay, *more.values()),
    )
    return ids


def take(db: Db, n: int = 1) -> list[int]:
    """The numbers of the next messages."""
    return column(db, "select message_id from howdah.receive('q', %s)", (n,))


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


@pytest.mark.parametrize("n", [1, 10])
def test_a_due_message_that_expired_is_disposed_of_and_the_next_one_given(db: Db, clock: Clock, n: int) -> None:
    old = send(db, time_to_live="2 min")
    fresh = send(db)
    clock.advance(180)
    assert take(db, n) == fresh
    events = db.execute("select event, message_ids from howdah.journal order by event").fetchall()
    assert events == [("consumed", fresh), ("expired", old)]
    assert one(db, "select count(*) from howdah.parked") == 0


@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
@pytest.mark.parametrize("n", [1, 10])
def test_due_messages_that_expired_are_moved_in_the_order_of_their_times(
    db: Db, clock: Clock, n: int, mode: str
) -> None:
    one(db, "select howdah.create_queue('bad')")
    db.execute(
        """select howdah.alter_queue('q', '{"process_expired": true, "process_non_persistent": true,
        "exception_queue": "bad"}')"""
    )
    last, middle, first = (
        send(db, 1, delay, time_to_live="2 min", delivery_mode=mode)[0] for delay in ("30 s", "20 s", "10 s")
    )
    clock.advance(180)
    assert take(db, n) == []
    assert column(db, "select message_id from howdah.receive('bad', 10)") == [first, middle, last]


@pytest.mark.parametrize("level", ["BEST_EFFORT_NONPERSISTENT", "EXPRESS_NONPERSISTENT"])
@pytest.mark.parametrize("n", [1, 10])
def test_a_due_message_whose_sender_has_gone_is_not_given_where_it_goes_with_its_sender(
    db: Db, connect: Connect, clock: Clock, n: int, level: str
) -> None:
    db.execute("""select howdah.alter_queue('q', '{"discard_with_sender": true}')""")
    client = connect()
    send(client, reliability=level)
    pid = client.info.backend_pid
    one(db, "select pg_terminate_backend(%s)", (pid,))
    wait_until(lambda: one(db, "select count(*) from pg_stat_activity where pid = %s", (pid,)) == 0)
    clock.advance(61)
    assert take(db, n) == []
    assert one(db, "select count(*) from howdah.parked") == 0


def test_a_non_persistent_message_lost_in_a_restart_is_swept_by_who_meets_it_when_due(db: Db, clock: Clock) -> None:
    (lost,) = send(db, delivery_mode="non-persistent")
    delayed = send(db)
    ready = column(db, "select howdah.send('q', 'y') from generate_series(1, 5)")
    db.execute("update howdah.parked set boot = boot - interval '1 day' where boot is not null")
    db.execute("update howdah.engine set boot = boot - interval '1 day'")
    clock.advance(61)
    assert [take(db) for _ in range(6)] == [delayed, *([m] for m in ready)]
    assert one(db, "select count(*) from howdah.parked") == 0
    assert column(db, "select message_ids from howdah.journal where event = 'lost'") == [[lost]]


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


@pytest.mark.parametrize("n", [1, 10])
def test_the_failure_of_a_lease_that_ran_out_is_recorded_where_nothing_failed_before(
    db: Db, clock: Clock, n: int
) -> None:
    ((leased,),) = db.execute("select howdah.send('q', 'x')").fetchall()
    assert column(db, "select message_id from howdah.lease('q', 1, '1 min')") == [leased]
    (delayed,) = send(db, 1, "30 s")
    clock.advance(120)
    got = [(m.message_id, m.delivery_count, m.redelivered) for _ in range(0, 2, n) for m in receive(db, n=n)]
    assert sorted(got) == sorted([(leased, 2, True), (delayed, 1, False)])
    assert column(db, "select message_id from howdah.poison_details") == [leased]


@pytest.mark.parametrize("n", [1, 10])
def test_a_message_whose_redelivery_is_due_counts_its_failures_and_goes_at_its_limit(
    db: Db, clock: Clock, n: int
) -> None:
    one(db, "select howdah.create_queue('bad')")
    db.execute(
        """select howdah.alter_queue('q', '{"max_failed_deliveries": 3, "exception_queue": "bad",
        "redelivery_delay_ms": 60000}')"""
    )
    (number,) = column(db, "select howdah.send('q', 'x')")
    other = send(db, 1, "1 hour")
    seen = []
    for _ in range(3):
        with db.transaction(force_rollback=True):
            message = receive(db, n=n)[0]
        assert message.message_id == number
        seen.append((message.delivery_count, message.redelivered))
        fail(db, number, priority=message.priority, position=message.position)
        assert number not in take_back(db, n)
        clock.advance(61)
    clock.advance(3600)
    assert seen == [(1, False), (2, True), (3, True)]
    assert take(db, n) == other
    assert take(db, n) == []
    assert column(db, "select message_id from howdah.receive('bad')") == [number]


def take_back(db: Db, n: int) -> list[int]:
    """What a receive would give now."""
    with db.transaction(force_rollback=True):
        return take(db, n)


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


def browsed(db: Db, **asked: object) -> list[int]:
    extra = "".join(f', "{name}" => %s' for name in asked)
    return column(db, f"select message_id from howdah.browse('q'{extra})", tuple(asked.values()))


@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
def test_browse_shows_a_delayed_message_from_its_time_on(db: Db, clock: Clock, mode: str) -> None:
    (delayed,) = send(db, 1, "1 min", delivery_mode=mode, correlation_ids=["c"], headers=['{"n": 1}'])
    later = send(db, 1, "1 hour")
    ready = [one(db, "select howdah.send('q', 'x')")]
    asked: list[dict[str, object]] = [{"only_id": delayed}, {"selector": "n = 1"}, {"correlation_id": "c"}]
    assert browsed(db) == ready
    assert [browsed(db, **one_of) for one_of in asked] == [[], [], []]
    clock.advance(60)
    assert browsed(db) == [delayed, *ready]
    assert [browsed(db, **one_of) for one_of in asked] == [[delayed]] * 3
    assert browsed(db, max_messages=1) == [delayed]
    after = "select priority, position from howdah.browse('q', 1)"
    priority, position = db.execute(after).fetchone()  # type: ignore[misc]
    assert browsed(db, after_priority=priority, after_position=position) == ready
    assert take(db, 10) == [delayed, *ready]
    clock.advance(3600)
    assert browsed(db) == later


@pytest.mark.parametrize("which", ["", ", selector => 'n = 1'", ", only_id => m", ", correlation_id => 'c'"])
@pytest.mark.parametrize("groups", ["none", "transaction"])
def test_browse_shows_what_comes_back_from_a_lease_as_the_next_receive_gives_it(
    db: Db, clock: Clock, which: str, groups: str
) -> None:
    one(
        db,
        "select howdah.alter_queue('q', jsonb_build_object('redelivery_delay_ms', 0, 'message_groups', %s::text))",
        (groups,),
    )
    headers = '{"n": 1, "JMSXGroupID": "g"}'
    number = one(db, "select howdah.send('q', 'x', headers => %s::jsonb, correlation_id => 'c')", (headers,))
    one(db, "select count(*) from howdah.lease('q', 1, '1 min')")
    columns = "message_id, delivery_count, redelivered"
    shown = f"select {columns} from (select {number}::bigint as m) g, howdah.browse('q'{which})"
    assert db.execute(shown.encode()).fetchall() == []
    clock.advance(61)
    assert db.execute(shown.encode()).fetchall() == [(number, 2, True)]
    assert db.execute(f"select {columns} from howdah.receive('q')".encode()).fetchall() == [(number, 2, True)]
    assert db.execute(shown.encode()).fetchall() == []


def test_the_oldest_age_counts_from_the_time_at_which_a_message_was_due(db: Db, clock: Clock) -> None:
    ages = "select extract(epoch from oldest_age)::integer from howdah.queue_stats('q')"
    counted = "select extract(epoch from howdah.now() - oldest_sent_at)::integer, waiting from howdah.backlog_figures"
    told = """
        select value from howdah.metrics()
        where name = 'howdah_queue_oldest_message_age_seconds' and labels ->> 'queue' = 'q'"""
    send(db, 1, "1 min")
    clock.advance(59)
    assert one(db, ages) is None
    clock.advance(31)
    assert one(db, ages) == 30
    one(db, "select howdah.maintain_backlog()")
    assert db.execute(counted).fetchall() == [(30, 0)]
    assert one(db, told) == 30
    one(db, "select howdah.send('q', 'x')")
    clock.advance(10)
    assert one(db, ages) == 40
    take(db, 10)
    assert one(db, ages) is None
