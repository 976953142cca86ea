"""Limits of a queue: what is exact about them, and what a full queue does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from policy_support import Create
from support import SYSTEM, Clock, Connect, Db, column, fail, one, receive, refused, wait_until

SEND = "select howdah.send('q', %s)"
BEHAVIOURS = ["reject", "remove_oldest", "remove_lowest_priority", "block"]


def depth(db: Db, queue: str = "q") -> int:
    """The messages that lie in a queue, whatever they wait for."""
    counted: int = one(db, "select live + parked from howdah.queue_stats(%s)", (queue,))
    return counted


def bodies(db: Db, queue: str = "q") -> list[str | None]:
    return [message.body for message in receive(db, queue, 100, verb="browse")]


def until_full(db: Db, body: str = "x") -> int:
    """Send until the queue is full; how many were accepted."""
    for accepted in range(100_000):
        try:
            one(db, SEND, (body,))
        except psycopg.Error as error:
            if error.sqlstate != "HD018":
                raise
            return accepted
    raise AssertionError("it never was full")


def together(connect: Connect, count: int, act: Callable[[Db, int], int]) -> list[int]:
    """Run an act in so many sessions at once."""
    sessions = [connect() for _ in range(count)]
    start = threading.Barrier(count)

    def run(number: int) -> int:
        start.wait()
        return act(sessions[number], number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


@pytest.mark.behaviour("IMQ-89")
def test_the_eleventh_message_of_a_queue_of_ten_is_refused_and_goes_in_once_one_is_consumed(
    db: Db, create: Create
) -> None:
    create(message_limit=10)
    for _ in range(10):
        one(db, SEND, ("x",))
    hint = refused(db, "HD018", SEND, ("x",)).message_hint
    assert hint is not None
    assert "10 messages" in hint
    assert len(receive(db)) == 1
    one(db, SEND, ("x",))
    refused(db, "HD018", SEND, ("x",))
    assert depth(db) == 10


@pytest.mark.behaviour("IMQ-90")
@pytest.mark.parametrize("limit", [1000, 10240, 1_000_000])
def test_a_queue_takes_the_byte_at_its_limit_and_refuses_the_one_beyond(db: Db, create: Create, limit: int) -> None:
    create(byte_limit=limit)
    one(db, SEND, ("x" * (limit - 7),))
    refused(db, "HD018", SEND, ("x" * 8,))
    one(db, SEND, ("x" * 7,))
    one(db, SEND, ("",))
    refused(db, "HD018", SEND, ("x",))
    refused(db, "HD018", "select howdah.send_batch('q', array['', 'x'])")
    assert depth(db) == 3


@pytest.mark.behaviour("IMQ-91")
def test_a_message_of_just_the_largest_size_goes_in_and_one_byte_more_does_not(db: Db, create: Create) -> None:
    create(max_message_bytes=100)
    one(db, SEND, ("x" * 100,))
    refused(db, "HD007", SEND, ("x" * 101,))
    refused(db, "HD007", "select howdah.send_batch('q', array['x', repeat('é', 51)])")
    assert depth(db) == 1


@pytest.mark.parametrize("unlimited", ["0", "-1", "null"])
def test_nought_minus_one_and_null_are_no_limit(db: Db, create: Create, unlimited: str) -> None:
    create(message_limit=1, byte_limit=1)
    one(
        db,
        "select howdah.alter_queue('q', %s::jsonb)",
        (f'{{"message_limit": {unlimited}, "byte_limit": {unlimited}}}',),
    )
    assert one(db, "select howdah.queue_options('q') ->> 'message_limit' is null")
    one(db, SEND, ("xx",))
    one(db, SEND, ("xx",))
    assert one(db, "select room is null and tickets is null from howdah.destinations where name = 'q'")


@pytest.mark.slow
def test_a_limit_counts_what_waits_for_a_time_what_is_leased_and_what_is_in_an_open_transaction(
    db: Db, create: Create, connect: Connect
) -> None:
    create(message_limit=5)
    one(db, "select howdah.send('q', 'x', delay => '1 hour')")
    one(db, "select howdah.send('q', 'x', delivery_mode => 'non-persistent')")
    one(db, "select count(*) from howdah.lease('q', 1, '1 hour')")
    other = connect()
    with other.transaction():
        one(other, SEND, ("x",))
        one(other, SEND, ("x",))
        assert until_full(db) == 1
    refused(db, "HD018", SEND, ("x",))
    assert depth(db) == 5


def test_what_is_received_and_not_committed_still_takes_its_room(db: Db, create: Create, connect: Connect) -> None:
    create(message_limit=1)
    one(db, SEND, ("x",))
    consumer = connect()
    with consumer.transaction():
        assert len(receive(consumer)) == 1
        refused(db, "HD018", SEND, ("y",))
        one(consumer, SEND, ("z",))  # it has seen its own room come free
    assert bodies(db) == ["z"]


def test_a_rolled_back_send_gives_its_room_back(db: Db, create: Create) -> None:
    create(message_limit=2)
    for _ in range(5):
        with db.transaction(force_rollback=True):
            one(db, "select howdah.send_batch('q', array['x', 'y'])")
            refused(db, "HD018", SEND, ("x",))
    assert until_full(db) == 2


def test_a_batch_larger_than_the_limit_is_refused_as_a_whole_and_one_that_fits_goes_in(db: Db, create: Create) -> None:
    create(message_limit=300)
    batch = "select howdah.send_batch('q', array_fill('x'::text, array[%s]))"
    refused(db, "HD018", batch, (301,))
    one(db, batch, (299,))
    refused(db, "HD018", batch, (2,))
    one(db, batch, (1,))
    one(db, "select howdah.send_batch('q', array[]::text[])")
    assert depth(db) == 300


def test_a_raised_or_lowered_limit_holds_at_once_for_every_session(db: Db, create: Create, connect: Connect) -> None:
    create(message_limit=1000)
    other = connect()
    one(other, SEND, ("x",))
    stored = 1
    for limit in (5, 700, 3, 800):
        one(db, "select howdah.alter_queue('q', %s::jsonb)", (f'{{"message_limit": {limit}}}',))
        assert until_full(other) == max(limit - stored, 0)
        stored = max(limit, stored)
    assert depth(db) == 800


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_a_sender_that_holds_on_to_its_snapshot_is_held_to_the_limit_it_sees(
    db: Db, create: Create, connect: Connect, isolation: str
) -> None:
    create(message_limit=10)
    other = connect()
    other.execute(f"set default_transaction_isolation = '{isolation}'".encode())
    assert until_full(other) == 10
    assert len(receive(db, n=3)) == 3
    assert until_full(other) == 3
    assert len(receive(db, n=3)) == 3
    assert until_full(db) == 3


@pytest.mark.first_case
@pytest.mark.parametrize("limit", [100, 1000])
def test_thirty_two_producers_at_once_fill_a_queue_to_its_limit_exactly(
    db: Db, create: Create, connect: Connect, limit: int
) -> None:
    create(message_limit=limit)
    assert sum(together(connect, 32, lambda session, _: until_full(session))) == limit
    assert depth(db) == limit


def test_thirty_two_producers_at_once_fill_a_queue_to_the_last_byte_that_fits(
    db: Db, create: Create, connect: Connect
) -> None:
    create(byte_limit=10240)
    assert sum(together(connect, 32, lambda session, _: until_full(session, "x" * 100))) == 102
    assert depth(db) == 102


@pytest.mark.slow
def test_batches_of_transactions_that_commit_or_roll_back_never_exceed_the_limit(
    db: Db, create: Create, connect: Connect
) -> None:
    create(message_limit=50)
    sending = threading.Event()
    deepest = 0

    def work(session: Db, number: int) -> int:
        nonlocal deepest
        if number == 0:
            while not sending.is_set():
                deepest = max(deepest, one(session, "select count(*) from howdah.msgs"))
            return 0
        if number < 3:
            while not sending.is_set():
                receive(session, n=2)
            return 0
        for round_ in range(15):
            try:
                with session.transaction(force_rollback=round_ % 3 == 0):
                    for _ in range(number % 4 + 1):
                        one(session, "select howdah.send_batch('q', array['x', 'y', 'z'])")
            except psycopg.Error as error:
                if error.sqlstate != "HD018":
                    raise
        if number == 3:
            sending.set()
        return 1

    together(connect, 12, work)
    assert 0 < deepest <= 50
    until_full(db)
    assert depth(db) == 50


@pytest.mark.slow
def test_an_idle_transaction_that_sent_takes_only_its_own_room(db: Db, create: Create, connect: Connect) -> None:
    create(message_limit=50)
    idle = connect()
    with idle.transaction():
        one(idle, SEND, ("idle",))
        for _ in range(4):
            for _ in range(40):
                one(db, SEND, ("x",))
            assert len(receive(db, n=40)) == 40
        assert until_full(db) == 49
    assert depth(db) == 50


def test_a_killed_senders_room_is_free_again(db: Db, create: Create, connect: Connect) -> None:
    create(message_limit=10)
    victim = connect()
    victim.execute("begin")
    one(victim, "select howdah.send_batch('q', array_fill('x'::text, array[10]))")
    pid = victim.info.backend_pid
    one(db, "select pg_terminate_backend(%s)", (pid,))
    wait_until(lambda: one(db, "select count(*) from pg_stat_activity where pid = %s", (pid,)) == 0)
    assert until_full(db) == 10


def test_a_cancelled_count_leaves_no_lock_behind(db: Db, create: Create, connect: Connect) -> None:
    create(message_limit=1, limit_behaviour="block", send_timeout_ms=60000)
    one(db, SEND, ("x",))
    blocked = connect()
    blocked.execute("set statement_timeout = '100ms'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        one(blocked, SEND, ("y",))
    assert one(db, "select count(*) from pg_locks where locktype = 'advisory'") == 0
    assert len(receive(db)) == 1
    one(db, SEND, ("y",))


@pytest.mark.behaviour("AMQ-70")
def test_a_message_ends_consumed_expired_or_pushed_out_and_the_journal_says_which(
    db: Db, create: Create, clock: Clock
) -> None:
    create(message_limit=2, limit_behaviour="remove_oldest", exception_mode="none", journal_level="full")
    pushed = one(db, SEND, ("pushed out",))
    consumed = one(db, SEND, ("consumed",))
    expired = one(db, "select howdah.send('q', 'expired', time_to_live => '1 second')")
    clock.advance(1)
    with db.transaction():
        assert [m.message_id for m in receive(db, n=5)] == [consumed]
    assert receive(db) == []
    ends = db.execute("select message_id, event, reason from howdah.audit_journal where event <> 'sent' order by 1")
    assert ends.fetchall() == [
        (pushed, "discarded", "OLDEST"), (consumed, "consumed", None), (expired, "expired", None)
    ]  # fmt: skip
    assert depth(db) == 0


@pytest.mark.behaviour("AMQ-70")
def test_a_queue_that_removes_the_oldest_keeps_the_newest_and_the_others_end_as_dead_ones(
    db: Db, create: Create
) -> None:
    create(message_limit=3, limit_behaviour="remove_oldest")
    for body in "abcde":
        one(db, SEND, (body,))
    assert bodies(db) == ["c", "d", "e"]
    dead = receive(db, SYSTEM, 9, verb="browse")
    assert [(m.body, m.dead_reason, m.origin_queue) for m in dead] == [("a", "OLDEST", "q"), ("b", "OLDEST", "q")]
    assert db.execute("select event, reason from howdah.audit_journal order by message_id").fetchall() == [
        ("moved", "OLDEST"), ("moved", "OLDEST")
    ]  # fmt: skip


@pytest.mark.behaviour("AMQ-70")
@pytest.mark.parametrize("policy", [{"exception_mode": "none"}, {"at_limit": "discard"}])
def test_what_makes_room_is_discarded_where_dead_messages_are_not_kept(
    db: Db, create: Create, policy: dict[str, str]
) -> None:
    create(message_limit=1, limit_behaviour="remove_oldest", **policy)
    one(db, SEND, ("a",))
    one(db, SEND, ("b",))
    assert bodies(db) == ["b"]
    assert db.execute("select event, reason from howdah.audit_journal").fetchall() == [("discarded", "OLDEST")]


def test_a_message_that_had_expired_ends_as_expired_when_it_makes_room(db: Db, create: Create, clock: Clock) -> None:
    create(message_limit=1, limit_behaviour="remove_oldest")
    one(db, "select howdah.send('q', 'a', time_to_live => '1 second')")
    clock.advance(1)
    one(db, SEND, ("b",))
    assert column(db, "select event from howdah.audit_journal") == ["expired"]


def test_room_for_bytes_is_made_by_as_many_of_the_oldest_as_it_needs(db: Db, create: Create) -> None:
    create(byte_limit=10, limit_behaviour="remove_oldest", exception_mode="none")
    for body in ("aaa", "bbb", "cccc"):
        one(db, SEND, (body,))
    one(db, SEND, ("dddd",))
    assert bodies(db) == ["cccc", "dddd"]
    refused(db, "HD018", SEND, ("x" * 11,))
    assert bodies(db) == ["cccc", "dddd"]


def test_a_queue_that_removes_the_lowest_priority_keeps_the_higher_and_of_equals_the_newer(
    db: Db, create: Create
) -> None:
    create(message_limit=3, limit_behaviour="remove_lowest_priority")
    for body, priority in (("a", 2), ("b", 7), ("c", 2), ("d", 4)):
        one(db, "select howdah.send('q', %s, priority => %s)", (body, priority))
    assert bodies(db) == ["b", "d", "c"]
    one(db, "select howdah.send('q', 'e', priority => 9)")
    assert bodies(db) == ["e", "b", "d"]
    assert [m.dead_reason for m in receive(db, SYSTEM, 9, verb="browse")] == ["LOW_PRIORITY"] * 2


def test_a_message_of_lower_priority_than_all_there_are_does_not_push_them_out(db: Db, create: Create) -> None:
    create(message_limit=1, limit_behaviour="remove_lowest_priority")
    one(db, "select howdah.send('q', 'a', priority => 5)")
    refused(db, "HD018", "select howdah.send('q', 'b', priority => 4)")
    one(db, "select howdah.send('q', 'c', priority => 5)")
    assert bodies(db) == ["c"]


def test_what_a_consumer_or_a_lease_has_in_hand_is_not_removed(db: Db, create: Create, connect: Connect) -> None:
    create(message_limit=3, limit_behaviour="remove_oldest", exception_mode="none")
    for body in "abc":
        one(db, SEND, (body,))
    one(db, "select count(*) from howdah.lease('q', 1, '1 hour')")
    consumer = connect()
    with consumer.transaction():
        assert [m.body for m in receive(consumer)] == ["b"]
        one(db, SEND, ("d",))
        assert column(db, "select convert_from(body, 'UTF8') from howdah.msgs order by seq") == ["b", "d"]
    assert depth(db) == 2


def test_a_removal_is_undone_if_the_sender_rolls_back(db: Db, create: Create) -> None:
    create(message_limit=1, limit_behaviour="remove_oldest")
    one(db, SEND, ("a",))
    with db.transaction(force_rollback=True):
        one(db, SEND, ("b",))
        assert bodies(db) == ["b"]
    assert bodies(db) == ["a"]


def test_senders_who_remove_the_oldest_at_once_are_never_refused_and_never_exceed_the_limit(
    db: Db, create: Create, connect: Connect
) -> None:
    create(message_limit=20, limit_behaviour="remove_oldest", exception_mode="none")

    def work(session: Db, number: int) -> int:
        for _ in range(15):
            one(session, SEND, ("x",))
            assert one(session, "select count(*) from howdah.msgs") <= 20
        return 15

    assert sum(together(connect, 10, work)) == 150
    assert depth(db) == 20
    assert one(db, "select discarded from howdah.queue_stats('q')") == 130


@pytest.mark.behaviour("AMQ-38")
def test_a_blocked_send_goes_on_as_soon_as_there_is_room(db: Db, create: Create, connect: Connect) -> None:
    create(message_limit=1, limit_behaviour="block", send_timeout_ms=20000)
    one(db, SEND, ("a",))
    blocked = connect()
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(one, blocked, SEND, ("b",))
        wait_until(
            lambda: one(db, "select count(*) from pg_stat_activity where wait_event = 'PgSleep' and pid = %s",
                        (blocked.info.backend_pid,)) == 1
        )  # fmt: skip
        assert not sent.done()
        assert [m.body for m in receive(db)] == ["a"]
        assert sent.result(10) > 0
    assert bodies(db) == ["b"]


@pytest.mark.behaviour("AMQ-38")
def test_a_blocked_send_is_refused_after_its_time_and_nothing_is_lost_or_stored(db: Db, create: Create) -> None:
    create(message_limit=1, limit_behaviour="block", send_timeout_ms=60)
    one(db, SEND, ("a",))
    refused(db, "HD018", SEND, ("b",))
    refused(db, "HD018", "select howdah.send_batch('q', array['b', 'c'])")
    assert bodies(db) == ["a"]


def test_under_a_snapshot_held_on_to_a_block_is_a_refusal_for_the_room_would_never_be_seen(
    db: Db, create: Create, connect: Connect
) -> None:
    create(message_limit=1, limit_behaviour="block", send_timeout_ms=60000)
    one(db, SEND, ("a",))
    other = connect()
    other.execute("set default_transaction_isolation = 'repeatable read'")
    refused(other, "HD018", SEND, ("b",))


@pytest.mark.slow
def test_two_transactions_that_wait_for_each_others_messages_are_both_told_that_the_queue_is_full(
    db: Db, create: Create, connect: Connect
) -> None:
    create(message_limit=2)

    def work(session: Db, number: int) -> int:
        session.execute("begin")
        one(session, SEND, ("x",))
        sent.wait()
        try:
            one(session, SEND, ("y",))
        except psycopg.Error as error:
            return int(error.sqlstate == "HD018")
        finally:
            session.execute("rollback")
        return 0

    sent = threading.Barrier(2)
    assert sum(together(connect, 2, work)) >= 1
    assert until_full(db) == 2


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_a_full_dead_letter_queue_makes_room_or_lets_the_fallback_take_the_message(
    db: Db, create: Create, behaviour: str
) -> None:
    create("dead", message_limit=1, limit_behaviour=behaviour, exception_mode="none")
    create(message_limit=1, limit_behaviour="remove_oldest", exception_queue="dead")
    for body in "abc":
        one(db, SEND, (body,))
    assert bodies(db) == ["c"]
    if behaviour == "remove_oldest" or behaviour == "remove_lowest_priority":
        assert (bodies(db, "dead"), bodies(db, SYSTEM)) == (["b"], [])
    else:
        assert (bodies(db, "dead"), bodies(db, SYSTEM)) == (["a"], ["b"])


@pytest.mark.parametrize("behaviour", ["reject", "block"])
def test_a_receive_waits_for_nobody_who_fills_the_dead_letter_queue(
    db: Db, create: Create, connect: Connect, behaviour: str
) -> None:
    create("dead", message_limit=2, limit_behaviour=behaviour, exception_mode="none")
    create(max_failed_deliveries=1, exception_queue="dead")
    for queue in ("dead", *"q" * 9):
        one(db, "select howdah.send(%s, 'x')", (queue,))
    other = connect()
    with other.transaction(force_rollback=True):
        for message in receive(other, n=9):
            assert fail(db, message.message_id)[2] == "held"
    with other.transaction():
        one(other, "select howdah.send('dead', 'y')")
        db.execute("set statement_timeout = '8s'")  # a wait of a second for each message would be longer
        assert receive(db, n=9) == []
    assert depth(db, "dead") + depth(db, SYSTEM) == 11


def test_a_wrong_behaviour_is_refused(db: Db, create: Create) -> None:
    create()
    for option in ('{"limit_behaviour": "drop"}', '{"send_timeout_ms": -1}', '{"message_limit": -2}'):
        refused(db, "HD004", "select howdah.alter_queue('q', %s::jsonb)", (option,))


def test_a_queue_without_limits_has_neither_sequences_nor_locks(db: Db, create: Create) -> None:
    create()
    with db.transaction():
        one(db, SEND, ("x",))
        assert one(db, "select count(*) from pg_locks where locktype = 'advisory'") == 0
    assert one(db, "select room is null from howdah.destinations where name = 'q'")


def test_a_transaction_of_many_sends_holds_few_locks(db: Db, create: Create) -> None:
    create(message_limit=100_000)
    with db.transaction():
        for _ in range(3000):
            one(db, SEND, ("x",))
        assert one(db, "select count(*) from pg_locks where locktype = 'advisory'") <= 5


def test_the_sequences_of_a_limited_queue_go_with_it(db: Db, create: Create, clock: Clock) -> None:
    create(message_limit=5)
    one(db, SEND, ("x",))
    one(db, "select howdah.drop_queue('q', force => true)")
    clock.advance(7200)
    one(db, "select howdah.maintain_dropped()")
    assert one(db, "select count(*) from pg_class where relname ~ '^(room|tickets)_'") == 0


@pytest.mark.parametrize("limit", [{"message_limit": 150}, {"byte_limit": 150}])
def test_room_that_a_transaction_made_and_may_take_back_is_not_given_to_others(
    db: Db, create: Create, connect: Connect, limit: dict[str, Any]
) -> None:
    create(**limit)
    assert until_full(db) == 150
    other = connect()
    with other.transaction(force_rollback=True):
        assert len(receive(other, n=100)) == 100
        one(other, SEND, ("x",))
        refused(db, "HD018", SEND, ("x",))
    refused(db, "HD018", SEND, ("x",))
    assert depth(db) == 150
