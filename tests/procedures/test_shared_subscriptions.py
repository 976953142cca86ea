"""Shared subscriptions.

Several consumers lock messages of a topic by pages, beside each other and over what is done.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from lease_tables_support import hold_up
from support import SYSTEM, Clock, Connect, Db, column, fail, one, receive, wait_until, wait_until_blocked

NAME = "t::s"


@pytest.fixture(autouse=True)
def topic(db: Db) -> None:
    one(db, "select howdah.create_topic('t')")
    assert one(db, "select howdah.subscribe('t', 's', shared => true)") == NAME


def publish(db: Db, messages: int) -> list[int]:
    ids: list[int] = one(
        db, "select howdah.send_batch('t', array(select n::text from generate_series(1, %s) n))", (messages,)
    )
    return ids


def taken(db: Db, n: int) -> list[int]:
    return [message.message_id for message in receive(db, NAME, n)]


def test_a_consumer_finds_what_lies_behind_more_than_a_page_that_others_have(db: Db, connect: Connect) -> None:
    sent = publish(db, 150)
    others = [connect() for _ in range(2)]
    for number, other in enumerate(others):
        other.execute("begin")
        assert taken(other, 60) == sent[number * 60 : number * 60 + 60]
    assert taken(db, 1) == sent[120:121]
    others[0].execute("rollback")
    assert taken(db, 50) == sent[:50], "what was rolled back is free at once, and first"
    others[1].execute("commit")
    assert taken(db, 99) == sent[50:60] + sent[121:]
    assert taken(db, 9) == []
    assert one(db, "select count(*) from howdah.acked") == 0, "the cursor went over all that is done"


def test_the_cursor_stops_at_the_first_message_in_hand(db: Db, connect: Connect) -> None:
    sent = publish(db, 300)
    other = connect()
    assert taken(db, 10) == sent[:10]
    with other.transaction():
        assert taken(other, 1) == sent[10:11]
        for first in range(11, 211, 20):
            assert taken(db, 20) == sent[first : first + 20]
        assert one(db, "select count(*) from howdah.acked") >= 200
    assert taken(db, 89) == sent[211:]
    assert taken(db, 1) == []
    assert one(db, "select count(*) from howdah.acked") == 0
    assert one(db, "select delivered from howdah.list_subscriptions('t')") == 300


def test_a_page_gives_out_what_failed_with_its_count_and_ends_what_reached_its_limit(db: Db, connect: Connect) -> None:
    one(db, "select howdah.alter_queue(%s, '{\"max_failed_deliveries\": 2}')", (NAME,))
    sent = publish(db, 5)
    with connect().transaction(force_rollback=True) as transaction:
        assert taken(transaction.connection, 5) == sent
        assert fail(db, sent[1], NAME)[2] == "held"
        assert fail(db, sent[3], NAME, reject=True)[2] == "held"
    messages = receive(db, NAME, 9)
    assert [(m.message_id, m.delivery_count, m.redelivered) for m in messages] == [
        (sent[0], 1, False), (sent[1], 2, True), (sent[2], 1, False), (sent[4], 1, False)
    ]  # fmt: skip
    assert [m.message_id for m in receive(db, SYSTEM, verb="browse")] == [sent[3]]
    assert taken(db, 9) == []


def test_bodies_headers_and_modes_come_through_a_page_unchanged(db: Db, clock: Clock) -> None:
    db.execute("select howdah.send('t', %s::bytea, headers => '{\"k\": [1]}', priority => 7)", (b"\x00\xff",))
    db.execute(
        "select howdah.send('t', 'text', delivery_mode => 'non-persistent', correlation_id => 'c',"
        " time_to_live => '1 hour')"
    )
    first, second = receive(db, NAME, 9)
    assert (first.body, first.bytes, first.headers, first.priority) == (None, b"\x00\xff", {"k": [1]}, 7)
    assert (second.body, second.bytes, second.correlation_id, second.delivery_mode) == (
        "text", None, "c", "non-persistent"
    )  # fmt: skip
    assert second.expires_at is not None
    modes = "select nonpersistent from howdah.journal where event = 'consumed' order by nonpersistent"
    assert [row[0] for row in db.execute(modes).fetchall()] == [False, True]


def test_expired_messages_are_passed_over_and_the_page_is_filled_from_behind_them(db: Db, clock: Clock) -> None:
    db.execute(
        "select howdah.send_batch('t', array(select n::text from generate_series(1, 100) n),"
        " time_to_live => '1 second')"
    )
    sent = publish(db, 3)
    clock.advance(2)
    assert taken(db, 2) == sent[:2]
    assert taken(db, 2) == sent[2:]


def test_a_consumer_whose_cursor_others_moved_goes_on_from_there_and_locks_nothing_on_the_way(connect: Connect) -> None:
    db, slow, quick = connect(), connect(), connect()
    sent = publish(db, 2200)
    with quick.transaction(force_rollback=True):
        assert taken(quick, 1) == sent[:1]
        for first in range(1, 2001, 100):
            assert taken(db, 100) == sent[first : first + 100]
    with slow.transaction(), ThreadPoolExecutor(1) as pool:
        with db.transaction():
            db.execute("lock table howdah.topic_msgs_0")
            assert taken(db, 1) == sent[:1], "and the cursor goes over two thousand others"
            found = pool.submit(taken, slow, 100)
            pid = slow.info.backend_pid
            wait_until(lambda: column(quick, "select pid from pg_locks where not granted and pid = %s", (pid,)))
        assert found.result() == sent[2001:2101]
        locks = one(
            slow, "select count(*) from pg_locks where pid = pg_backend_pid() and locktype = 'advisory' and granted"
        )
    assert locks < 300


def test_a_consumer_gets_no_more_at_once_than_the_servers_lock_table_has_room_for(db: Db, connect: Connect) -> None:
    sent = publish(db, 600)
    most = 4 * int(one(db, "show max_locks_per_transaction"))
    with connect().transaction() as transaction:
        assert taken(transaction.connection, 10_000) == sent[:most]
        assert taken(db, 10_000) == sent[most : 2 * most]
    assert taken(db, 10_000) == sent[2 * most :]


@pytest.mark.parametrize("want", [1, 5])
def test_a_failed_message_comes_again_first_with_its_count_and_the_others_come_after_it(
    db: Db, connect: Connect, want: int
) -> None:
    one(db, "select howdah.alter_queue(%s, '{\"redelivery_delay_ms\": 0}')", (NAME,))
    sent = publish(db, 20)
    with connect().transaction(force_rollback=True) as transaction:
        assert taken(transaction.connection, 2) == sent[:2]
    fail(db, sent[1], NAME)
    got = []
    while messages := receive(db, NAME, want):
        got += [(message.message_id, message.delivery_count) for message in messages]
    assert sorted(got) == [(number, 2 if number == sent[1] else 1) for number in sent]
    assert one(db, "select count(*) from howdah.journal where event = 'consumed'") >= 1


def test_a_consumer_that_waited_for_a_new_definition_reads_by_the_new_one(db: Db, connect: Connect) -> None:
    changer, consumer = connect(), connect()
    pid = consumer.info.backend_pid
    with ThreadPoolExecutor(1) as pool:
        with changer.transaction():
            one(changer, "select howdah.subscribe('t', 's', selector => 'k = 1', shared => true)")
            changer.execute("select howdah.send('t', 'not wanted', headers => '{\"k\": 0}')")
            found = pool.submit(taken, consumer, 9)
            wait_until(lambda: column(db, "select pid from pg_locks where not granted and pid = %s", (pid,)))
        assert found.result() == []
    wanted = one(db, "select howdah.send('t', 'yes', headers => '{\"k\": 1}')")
    assert taken(consumer, 9) == [wanted]


def test_consumers_beside_each_other_note_each_message_once_and_leave_nothing_noted(db: Db, connect: Connect) -> None:
    sent = publish(db, 3000)
    consumers = [connect() for _ in range(4)]

    def drain(number: int) -> list[int]:
        got: list[int] = []
        while more := taken(consumers[number], 1 if number == 0 else 40):
            got += more
        return got

    with ThreadPoolExecutor(4) as pool:
        got = [number for part in pool.map(drain, range(4)) for number in part]
    assert sorted(got) == sent
    assert taken(db, 1) == []
    assert one(db, "select count(*) from howdah.acked") == 0
    assert one(db, "select delivered from howdah.list_subscriptions('t')") == 3000
    journaled = one(
        db,
        "select sum(case when last_id is null then cardinality(message_ids)"
        " else (last_id - message_ids[1]) / 1000000 + 1 end)::bigint from howdah.journal where event = 'consumed'",
    )
    assert journaled == 3000


@pytest.mark.parametrize(("table", "calls"), [("acked", 3), ("acked", 4), ("topic_ring", 1), ("topic_ring", 4)])
def test_a_cursor_does_not_pass_what_is_leased_while_it_moves(db: Db, connect: Connect, table: str, calls: int) -> None:
    """Held up in one and then another of the looks of the acknowledgement that moves it."""
    sent = publish(db, 2)
    first, other = connect(), connect()
    number = one(first, "select lease from howdah.lease(%s, 1)", (NAME,))
    hold_up(db, table)
    db.execute("select pg_advisory_lock(77)")
    first.execute(f"set test.held = '{calls}'".encode())
    with ThreadPoolExecutor() as threads:
        acknowledged = threads.submit(one, first, "select howdah.ack(%s, %s)", (NAME, number))
        try:
            wait_until_blocked(db, first)
            ((later, leased),) = other.execute("select lease, message_id from howdah.lease(%s, 1)", (NAME,)).fetchall()
        finally:
            db.execute("select pg_advisory_unlock(77)")
        assert acknowledged.result() == 1
    assert leased == sent[1]
    assert one(other, "select howdah.ack(%s, %s)", (NAME, later)) == 1
