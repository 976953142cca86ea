"""A queue's limit is exact, holds at once, and refuses or blocks sends to a full queue."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from full_queue_support import SEND, bodies, depth, until_full
from policy_support import Create
from support import Clock, Connect, Db, one, receive, refused, wait_until


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


def test_the_sequences_of_a_limited_queue_go_with_it(db: Db, create: Create, clock: Clock) -> None:
    create(message_limit=5)
    one(db, SEND, ("x",))
    one(db, "select howdah.drop_queue('q', force => true)")
    clock.advance(7200)
    one(db, "select howdah.maintain_dropped()")
    assert one(db, "select count(*) from pg_class where relname ~ '^(room|tickets)_'") == 0
