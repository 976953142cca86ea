"""Deduplication keys: a second send within the window returns the first message's number and stores nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from policy_support import Create
from support import Clock, Connect, Db, column, one, receive, refused, wait_until_blocked

SEND = "select howdah.send('q', %s, deduplication_key => %s)"
BATCH = "select howdah.send_batch('q', %s::text[], deduplication_keys => %s::text[])"


@pytest.fixture(autouse=True)
def queue(create: Create) -> None:
    create()


def stored(db: Db) -> list[str]:
    return column(db, "select convert_from(body, 'UTF8') from howdah.msgs order by seq")


def test_a_second_send_returns_the_first_number_and_stores_nothing(db: Db) -> None:
    first = one(db, SEND, ("a", "k"))
    assert one(db, SEND, ("b", "k")) == first
    assert one(db, "select howdah.send('q', 'c'::bytea, priority => 9, deduplication_key => 'k')") == first
    assert one(db, "select howdah.send('q', '{}'::jsonb, delay => '1 hour', deduplication_key => 'k')") == first
    assert one(db, SEND, ("d", "K")) != first
    assert stored(db) == ["a", "d"]
    assert one(db, "select count(*) from howdah.parked") == 0


def test_a_consumed_message_is_still_known_by_its_key(db: Db) -> None:
    first = one(db, SEND, ("a", "k"))
    assert len(receive(db)) == 1
    assert one(db, SEND, ("a", "k")) == first
    assert stored(db) == []


def test_the_window_is_five_minutes_from_the_first_send_or_what_the_queue_says(db: Db, clock: Clock) -> None:
    first = one(db, SEND, ("a", "k"))
    clock.advance(299)
    assert one(db, SEND, ("b", "k")) == first
    clock.advance(1)
    second = one(db, SEND, ("c", "k"))
    assert second != first
    one(db, """select howdah.alter_queue('q', '{"deduplication_window_ms": 1000}')""")
    short = one(db, SEND, ("d", "l"))
    clock.advance(1)
    assert one(db, SEND, ("e", "l")) != short
    assert one(db, SEND, ("f", "k")) == second
    assert stored(db) == ["a", "c", "d", "e"]


def test_queues_know_only_their_own_keys(db: Db, create: Create) -> None:
    create("r")
    assert one(db, SEND, ("a", "k")) != one(db, "select howdah.send('r', 'a', deduplication_key => 'k')")


def test_a_rolled_back_send_was_none(db: Db) -> None:
    with db.transaction(force_rollback=True):
        first = one(db, SEND, ("a", "k"))
        assert one(db, SEND, ("b", "k")) == first
    assert one(db, SEND, ("c", "k")) != first
    assert stored(db) == ["c"]


@pytest.mark.parametrize("committed", [True, False])
def test_a_concurrent_duplicate_waits_for_the_first_and_is_stored_only_if_that_rolls_back(
    db: Db, connect: Connect, committed: bool
) -> None:
    first, second = connect(), connect()
    first.execute("begin")
    number = one(first, SEND, ("a", "k"))
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(one, second, SEND, ("b", "k"))
        wait_until_blocked(db, second)
        first.execute("commit" if committed else "rollback")
        assert (sent.result(10) == number) is committed
    assert stored(db) == (["a"] if committed else ["b"])


def test_a_duplicate_under_a_snapshot_held_on_to_is_to_be_tried_again(db: Db, connect: Connect) -> None:
    other = connect()
    other.execute("begin isolation level repeatable read")
    one(other, "select count(*) from howdah.list_queues()")
    first = one(db, SEND, ("a", "k"))
    with pytest.raises(psycopg.errors.SerializationFailure):
        one(other, SEND, ("b", "k"))
    other.execute("rollback")
    assert one(other, SEND, ("b", "k")) == first


def test_sixteen_senders_of_the_same_keys_store_each_once_and_all_learn_its_number(db: Db, connect: Connect) -> None:
    sessions = [connect() for _ in range(16)]

    def work(number: int) -> list[int]:
        return [one(sessions[number], SEND, (str(number), f"k{n}")) for n in range(20)]

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(work, range(16)))
    assert all(answer == answers[0] for answer in answers)
    assert len(stored(db)) == len(set(answers[0])) == 20


def test_a_batch_stores_what_is_new_and_answers_in_order(db: Db) -> None:
    known = one(db, SEND, ("x", "k1"))
    numbers = one(db, BATCH, (["a", "b", "c", "d", "e"], ["k0", "k1", None, "k0", None]))
    assert stored(db) == ["x", "a", "c", "e"]
    assert numbers[1] == known
    assert numbers[3] == numbers[0]
    assert len(set(numbers)) == 4
    assert column(db, "select message_id from howdah.msgs order by seq") == [known, numbers[0], numbers[2], numbers[4]]
    assert one(db, BATCH, (["y", "z"], ["k0", "k1"])) == [numbers[0], known]


def test_a_batchs_properties_stay_with_their_bodies(db: Db) -> None:
    one(db, SEND, ("x", "k"))
    one(
        db,
        "select howdah.send_batch('q', array['a', 'b'], headers => array['{\"n\": 1}', '{\"n\": 2}']::jsonb[],"
        " priorities => array[9, 8], correlation_ids => array['c1', 'c2'], message_types => array['t1', 't2'],"
        " deduplication_keys => array['k', 'l'])",
    )
    (message,) = [m for m in receive(db, n=5) if m.body != "x"]
    assert (message.body, message.headers, message.priority) == ("b", {"n": 2}, 8)
    assert (message.correlation_id, message.message_type) == ("c2", "t2")


def test_batches_of_the_same_keys_in_other_orders_do_not_deadlock(db: Db, connect: Connect) -> None:
    sessions = [connect() for _ in range(8)]
    keys = [f"k{n}" for n in range(50)]

    def work(number: int) -> list[int]:
        turned = keys[number * 6 :] + keys[: number * 6]
        found = dict(zip(turned, one(sessions[number], BATCH, (turned, turned)), strict=True))
        return [found[key] for key in keys]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(work, range(8)))
    assert all(answer == answers[0] for answer in answers)
    assert len(stored(db)) == 50


def test_a_topic_knows_keys_too(db: Db, clock: Clock) -> None:
    one(db, """select howdah.create_topic('t', '{"deduplication_window_ms": 1000}')""")
    one(db, "select howdah.subscribe('t', 's')")
    subscription = one(db, "select name from howdah.destinations where kind = 'subscription'")
    send = "select howdah.send('t', 'x', deduplication_key => 'k')"
    first = one(db, send)
    assert one(db, send) == first
    assert one(
        db, "select howdah.send_batch('t', array['y', 'z'], deduplication_keys => array['k', 'l'])"
    )[0] == first  # fmt: skip
    clock.advance(1)
    assert one(db, send) != first
    assert [m.body for m in receive(db, subscription, 9)] == ["x", "z", "x"]
    one(db, """select howdah.alter_topic('t', '{"deduplication_window_ms": 2000}')""")
    assert one(db, "select howdah.topic_options('t') ->> 'deduplication_window_ms'") == "2000"


def test_a_duplicate_needs_no_room_and_a_refused_send_leaves_no_key(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"message_limit": 1}')""")
    first = one(db, SEND, ("a", "k"))
    assert one(db, SEND, ("a", "k")) == first
    refused(db, "HD018", SEND, ("b", "l"))
    receive(db)
    one(db, SEND, ("b", "l"))
    assert stored(db) == ["b"]


@pytest.mark.parametrize("key", ["", "k" * 251])
def test_a_key_has_1_to_250_characters(db: Db, key: str) -> None:
    refused(db, "HD005", SEND, ("a", key))
    refused(db, "HD005", BATCH, (["a"], [key]))
    one(db, SEND, ("a", "é" * 250))
    refused(db, "HD005", BATCH, (["a", "b"], ["k"]))


def test_what_may_not_be_sent_is_refused_though_its_key_is_known(db: Db, connect: Connect) -> None:
    one(db, SEND, ("a", "k"))
    refused(connect("howdah_consumer"), "42501", SEND, ("a", "k"))
    refused(db, "HD006", "select howdah.send('q', 'a', priority => 10, deduplication_key => 'k')")
    one(db, "select howdah.pause('q')")
    refused(db, "HD008", SEND, ("a", "k"))


def test_upkeep_forgets_keys_whose_window_is_over_and_no_others(db: Db, clock: Clock, connect: Connect) -> None:
    for number in range(5):
        one(db, SEND, ("a", f"k{number}"))
    clock.advance(300)
    kept = one(db, SEND, ("a", "new"))
    consumer = connect("howdah_consumer")
    assert one(consumer, "select howdah.maintain_deduplications(max_keys => 3)") == 3
    assert one(consumer, "select howdah.maintain_deduplications()") == 2
    assert column(db, "select message_id from howdah.deduplications") == [kept]
    refused(db, "HD005", "select howdah.maintain_deduplications(max_keys => 0)")
    refused(db, "HD014", "select howdah.maintain_deduplications(99)")


def test_a_send_without_a_key_writes_none(db: Db) -> None:
    one(db, "select howdah.send('q', 'a')")
    one(db, "select howdah.send_batch('q', array['a', 'b'], deduplication_keys => array[null, null]::text[])")
    assert one(db, "select count(*) from howdah.deduplications") == 0
    assert len(stored(db)) == 3
