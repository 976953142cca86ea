"""Messages of several priorities and places, received one by one on the fast path (howdah._take_by_lane)."""

from __future__ import annotations

import random
import threading
import time

import chance
import pytest
from priorities_support import looked_by_lane, send, take
from support import Clock, Connect, Db, column, one, receive, wait_until


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def test_messages_come_by_priority_then_place_then_arrival_whatever_is_given_back(db: Db) -> None:
    dice = chance.dice()
    waiting: list[tuple[int, bool, int]] = []
    for _ in range(600):
        if dice.random() < 0.3:
            priorities = [dice.choice([0, 4, 4, 4, 7, 9]) for _ in range(dice.choice([1, 1, 2, 5, 90]))]
            mode = dice.choice(["persistent", "persistent", "non-persistent"])
            sent = send(db, *priorities, mode=mode)
            waiting += [(-p, mode == "persistent", m) for p, m in zip(priorities, sent, strict=True)]
            waiting.sort()
            continue
        back = dice.random() < 0.2
        with db.transaction(force_rollback=back):
            got = take(db)
        assert got == [m for _, _, m in waiting[:1]]
        if not back:
            del waiting[:1]


def test_a_higher_message_that_came_back_behind_its_head_is_found_before_the_rest_of_a_lower_backlog(
    db: Db, connect: Connect
) -> None:
    first, second, *rest = send(db, 7, 7, *[4] * 3000)
    slow = connect()
    with slow.transaction(force_rollback=True):
        assert take(slow) == [first]
        assert [take(db) for _ in range(100)] == [[second], *([m] for m in rest[:99])]
    got: list[int] = []
    for _ in range(200):
        time.sleep(0.01)  # rare receives: each is later than the pace of the search
        got += take(db)
        if first in got:
            break
    assert got[-1] == first
    assert got[:-1] == rest[99 : 98 + len(got)]


def test_many_that_came_back_come_in_order_before_the_lower_ones_end(db: Db, connect: Connect) -> None:
    sent = send(db, *[7] * 300, *[4] * 300)
    slow = connect()
    with slow.transaction(force_rollback=True):
        assert [m for _ in range(150) for m in take(slow)] == sent[:150]
        assert take(db) == sent[150:151]
    back: list[int] = []
    while len(back) < 599:
        back += take(db)
    assert sorted(back) == sorted(sent[:150] + sent[151:])
    returned = [m for m in back if m in sent[:150]]
    assert returned == sent[:150]
    assert back[-1] == sent[-1], "they were found before the end of the lower ones"


def test_a_lower_message_is_given_while_others_have_the_higher_ones_in_hand(db: Db, connect: Connect) -> None:
    high, low = send(db, 7, 4)
    other = connect()
    with other.transaction(force_rollback=True):
        assert take(other) == [high]
        with db.transaction(force_rollback=True):
            assert take(db) == [low]
    assert take(db) == [high]
    assert take(db) == [low]


def test_a_delayed_message_comes_by_its_priority_once_it_is_due(db: Db, clock: Clock) -> None:
    send(db, *[4] * 100)
    one(db, "select howdah.send('q', 'late', priority => 7, delay => '1 min')")
    one(db, "select howdah.send('q', 'later', priority => 1, delay => '1 min')")
    assert [m.body for m in receive(db)] == ["x"]
    clock.advance(61)
    assert [m.body for m in receive(db)] == ["late"]
    got = [m.body for _ in range(100) for m in receive(db)]
    assert got == ["x"] * 99 + ["later"]


def test_a_non_persistent_message_is_received_whole_and_recorded_as_such(db: Db, clock: Clock) -> None:
    db.execute("""select howdah.alter_queue('q', '{"journal_level": "full"}')""")
    one(
        db,
        "select howdah.send('q', %s::text, headers => '{\"a\": 1}', priority => 6, correlation_id => 'c',"
        " message_type => 'm', reply_to => 'q', time_to_live => '1 min', delivery_mode => 'non-persistent')",
        ("long " * 4000,),
    )
    sent = db.execute("select * from howdah.browse('q')").fetchone()
    assert sent is not None
    with db.transaction(force_rollback=True):
        db.execute("set local track_functions = 'all'")
        (got,) = receive(db)
        assert looked_by_lane(db) == 0
    assert (got.body, got.headers["a"], got.priority) == ("long " * 4000, 1, 6)
    assert (got.correlation_id, got.message_type, got.delivery_mode) == ("c", "m", "non-persistent")
    assert (got.redelivered, got.delivery_count, got.reliability) == (False, 1, "EXPRESS_NONPERSISTENT")
    assert receive(db) == [got]
    assert db.execute("select nonpersistent, message_ids from howdah.journal where event = 'consumed'").fetchall() == [
        (True, [got.message_id])
    ]
    assert one(db, "select count(*) from howdah.msgs_nonpersistent") == 0
    one(db, "select howdah.send('q', 'old', delivery_mode => 'non-persistent', time_to_live => '1 s')")
    clock.advance(2)
    assert receive(db) == []
    assert one(db, "select count(*) from howdah.msgs_nonpersistent") == 0


def test_a_batch_of_non_persistent_messages_comes_in_order_without_what_expired(db: Db, clock: Clock) -> None:
    first = send(db, *[4] * 40, mode="non-persistent")
    one(db, "select howdah.send('q', 'old', delivery_mode => 'non-persistent', time_to_live => '1 s')")
    with db.transaction(force_rollback=True):
        assert column(db, "select message_id from howdah.receive('q', 30)") == first[:30]
    last = send(db, *[4] * 20, mode="non-persistent")
    clock.advance(2)
    with db.transaction():
        db.execute("set local track_functions = 'all'")
        got = receive(db, n=100)
        calls = "select sum(calls) from pg_stat_xact_user_functions where funcname = '_deliver_found'"
        assert one(db, calls) is None
    assert [m.message_id for m in got] == first + last
    assert {(m.delivery_mode, m.delivery_count, m.redelivered) for m in got} == {("non-persistent", 1, False)}
    journal = db.execute("select event, nonpersistent, message_ids from howdah.journal order by event").fetchall()
    assert [(event, np) for event, np, _ in journal] == [("consumed", True), ("expired", True)]
    assert journal[0][2] == first + last
    assert one(db, "select count(*) from howdah.msgs_nonpersistent") == 0


@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
def test_a_failed_and_an_expired_message_of_another_priority_are_disposed_of(db: Db, clock: Clock, mode: str) -> None:
    one(db, "select howdah.create_queue('bad')")
    db.execute("""select howdah.alter_queue('q', '{"max_failed_deliveries": 2, "exception_queue": "bad"}')""")
    one(db, "select howdah.send('q', 'old', priority => 9, time_to_live => '1 s')")
    failed, plain = send(db, 7, 4, mode=mode)
    clock.advance(2)
    for _ in range(2):
        with db.transaction(force_rollback=True):
            assert take(db) == [failed]
        one(db, "select outcome from howdah.record_failure('q', %s, 'bad')", (failed,))
        clock.advance(3600)
    assert take(db) == [plain]
    assert take(db) == []
    assert column(db, "select message_id from howdah.receive('bad')") == [failed]


def test_an_exclusive_consumer_keeps_others_out_of_a_queue_with_priorities(db: Db, connect: Connect) -> None:
    send(db, 7, 4)
    other = connect()
    consumer = one(other, "select howdah.open_consumer('q', exclusive => true)")
    assert column(other, "select priority from howdah.receive('q', consumer => %s)", (consumer,)) == [7]
    assert take(db) == []


def test_a_strict_order_goes_by_priority_and_waits_for_what_is_in_hand(db: Db, connect: Connect) -> None:
    db.execute("""select howdah.alter_queue('q', '{"strict_order": true}')""")
    high, low = send(db, 7, 4)
    other = connect()
    with other.transaction(force_rollback=True):
        assert take(other) == [high]
        assert take(db) == []
    assert take(db) == [high]
    assert take(db) == [low]


@pytest.mark.slow
def test_eight_receivers_and_four_senders_of_mixed_priorities_lose_and_double_nothing(db: Db, connect: Connect) -> None:
    dice = chance.dice()
    plans = [[dice.choice([2, 4, 4, 7]) for _ in range(150)] for _ in range(4)]
    lock = threading.Lock()
    sent: list[int] = []
    got: list[int] = []
    done = threading.Event()

    def produce(session: Db, plan: list[int]) -> None:
        for priority in plan:
            with session.transaction():
                mine = send(session, priority)
            with lock:
                sent.extend(mine)

    def consume(session: Db, seed: int) -> None:
        own = random.Random(seed)
        while not done.is_set():
            back = own.random() < 0.2
            with session.transaction(force_rollback=back):
                mine = take(session)
            if not back:
                with lock:
                    got.extend(mine)

    consumers = [threading.Thread(target=consume, args=(connect(), dice.randrange(2**32))) for _ in range(8)]
    producers = [threading.Thread(target=produce, args=(connect(), plan)) for plan in plans]
    for thread in consumers + producers:
        thread.start()
    for thread in producers:
        thread.join()
    try:
        wait_until(lambda: len(got) >= 600)
    finally:
        done.set()
        for thread in consumers:
            thread.join()
    assert sorted(got) == sorted(sent)
