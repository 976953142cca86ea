"""A read of 500 or more of what one transaction published.

Each message is looked at once, and nothing is passed over where numbers are missing.
"""

from __future__ import annotations

import pytest
from support import Clock, Connect, Db, column, one, receive
from topics_support import listed, publish, rotate, subscribe, topic

LOOKED_AT = (
    "select sum(idx_tup_fetch)::integer from pg_stat_xact_user_tables where relname like 'topic!_msgs!__' escape '!'"
)
JOURNAL = (
    "select cardinality(message_ids), last_id is not null from howdah.journal"
    " where event = 'consumed' order by message_ids"
)
UNFOLDED = "select message_id from howdah.audit_journal where event = 'consumed' order by 1"


def batch(db: Db, number: int, mode: str = "persistent", to: str = "t", time_to_live: str | None = None) -> list[int]:
    sent: list[int] = one(
        db,
        (
            "select howdah.send_batch(%s, array(select n::text from generate_series(1, %s) n),"
            " delivery_mode => %s, time_to_live => %s)"
        ),
        (to, number, mode, time_to_live),
    )
    return sent


def numbers(db: Db, n: int, subscription: str = "t::s") -> list[int]:
    return [message.message_id for message in receive(db, subscription, n)]


def journal(db: Db) -> list[tuple[int, bool]]:
    """How many numbers each call left in the journal, and whether they stand for a run."""
    return db.execute(JOURNAL.encode()).fetchall()


def test_each_message_of_a_run_is_looked_at_once(db: Db) -> None:
    topic(db)
    subscribe(db)
    sent = batch(db, 2000)
    with db.transaction():
        before = one(db, LOOKED_AT)
        assert numbers(db, 1000) == sent[:1000]
        looked_at = one(db, LOOKED_AT) - before
    assert 1000 <= looked_at < 1010
    assert numbers(db, 1000) == sent[1000:]
    assert numbers(db, 1000) == []
    assert journal(db) == [(1, True), (1, True)]
    assert column(db, UNFOLDED) == sent


@pytest.mark.first_case
@pytest.mark.parametrize("slot", range(3))
@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
def test_a_run_is_read_from_each_table(db: Db, clock: Clock, mode: str, slot: int) -> None:
    topic(db)
    subscribe(db)
    for _ in range(slot):
        publish(db, "x")
        rotate(db, clock)
        numbers(db, 1)
    sent = batch(db, 600, mode)
    messages = receive(db, "t::s", 10_000)
    assert [
        (m.message_id, m.body, m.delivery_mode, m.position, m.origin_queue, m.delivery_count) for m in messages
    ] == [(number, str(n), mode, number // 1_000_000, "t", 1) for n, number in enumerate(sent, 1)]
    assert numbers(db, 10_000) == []
    assert column(db, UNFOLDED)[-600:] == sent


def test_runs_of_several_transactions_and_what_lies_between_them_come_in_one_call(db: Db) -> None:
    topic(db)
    subscribe(db)
    sent = batch(db, 700) + batch(db, 3) + batch(db, 600) + publish(db, "x")
    assert numbers(db, 1302) == sent[:1302]
    assert numbers(db, 1302) == sent[1302:]
    assert column(db, UNFOLDED) == sent
    assert listed(db, "delivered, behind") == (1304, 0)


def test_a_run_cut_by_the_number_asked_for_goes_on_there(db: Db) -> None:
    topic(db)
    subscribe(db)
    sent = batch(db, 1700) + batch(db, 1300)
    assert [numbers(db, 600) for _ in range(5)] == [sent[600 * n : 600 * n + 600] for n in range(5)]
    assert column(db, UNFOLDED) == sent


def test_after_the_rest_of_a_transaction_the_next_ones_run_is_looked_at_once(db: Db) -> None:
    topic(db)
    subscribe(db)
    sent = batch(db, 800) + batch(db, 1000)
    numbers(db, 600)
    with db.transaction():
        before = one(db, LOOKED_AT)
        assert numbers(db, 1200) == sent[600:]
        looked_at = one(db, LOOKED_AT) - before
    assert 1400 <= looked_at < 1410  # the rest of 200 twice


def test_numbers_that_another_transaction_drew_leave_nothing_out(db: Db, connect: Connect) -> None:
    topic(db)
    subscribe(db)
    other = connect()
    with db.transaction():
        one(db, "select pg_current_xact_id()::text")
        with other.transaction():
            first = batch(db, 400)
            between = batch(other, 5)
            second = batch(db, 400)
            between += batch(other, 700)
            third = batch(db, 400)
    got = [numbers(db, 600) for _ in range(4)]
    assert [number for part in got for number in part] == first + second + third + between
    assert [len(part) for part in got] == [600, 600, 600, 105]
    assert sorted(column(db, UNFOLDED)) == sorted(first + second + third + between)


def test_a_rolled_back_part_leaves_nothing_out(db: Db) -> None:
    topic(db)
    subscribe(db)
    with db.transaction():
        sent = batch(db, 550)
        with db.transaction(force_rollback=True):
            batch(db, 600)
        sent += batch(db, 550)
    assert [number for _ in range(3) for number in numbers(db, 600)] == sent
    assert column(db, UNFOLDED) == sent


def test_what_has_expired_is_passed_and_does_not_end_a_run(db: Db, clock: Clock) -> None:
    topic(db)
    subscribe(db)
    with db.transaction():
        batch(db, 600, time_to_live="1 second")
        sent = batch(db, 600)
        batch(db, 600, time_to_live="1 second")
        sent += batch(db, 600)
    clock.advance(2)
    assert numbers(db, 1000) == sent[:1000]
    assert numbers(db, 1000) == sent[1000:]
    assert numbers(db, 1000) == []
    assert column(db, UNFOLDED) == sent


def test_a_run_all_expired_ends_no_call(db: Db, clock: Clock) -> None:
    topic(db)
    subscribe(db)
    batch(db, 600, time_to_live="1 second")
    sent = batch(db, 600)
    clock.advance(2)
    assert numbers(db, 500) == sent[:500]
    assert numbers(db, 500) == sent[500:]


def test_a_run_that_committed_late_comes_first_and_once(db: Db, connect: Connect) -> None:
    topic(db)
    subscribe(db)
    late = connect()
    with late.transaction():
        held = batch(late, 700)
        early = batch(db, 700)
        assert numbers(db, 600) == early[:600]
    follow = batch(db, 700)
    got = [number for _ in range(4) for number in numbers(db, 600)]
    assert got == early[600:] + held + follow
    assert sorted(column(db, UNFOLDED)) == sorted(held + early + follow)


def test_a_rolled_back_read_of_a_run_gives_it_again(db: Db) -> None:
    topic(db)
    subscribe(db)
    sent = batch(db, 1200)
    with db.transaction(force_rollback=True):
        assert numbers(db, 600) == sent[:600]
        assert numbers(db, 600) == sent[600:]
    assert journal(db) == []
    assert [numbers(db, 600), numbers(db, 600)] == [sent[:600], sent[600:]]


def test_a_run_is_passed_without_a_journal_too(db: Db) -> None:
    topic(db)
    subscribe(db, options={"journal_level": "off"})
    sent = batch(db, 1300)
    assert [numbers(db, 600) for _ in range(3)] == [sent[:600], sent[600:1200], sent[1200:]]
    assert journal(db) == []


@pytest.mark.slow
def test_many_transactions_whose_numbers_alternate_are_read_in_one_piece(db: Db, connect: Connect) -> None:
    topic(db)
    subscribe(db)
    publishers = [connect() for _ in range(20)]
    sent: list[list[int]] = [[] for _ in publishers]
    for publisher in publishers:
        publisher.execute("begin")
        one(publisher, "select pg_current_xact_id()::text")
    for _ in range(50):
        for numbers_of_one, publisher in zip(sent, publishers, strict=True):
            numbers_of_one += publish(publisher, "x")
    for publisher in publishers:
        publisher.execute("commit")
    assert numbers(db, 10_000) == [number for numbers_of_one in sent for number in numbers_of_one]
    assert len(journal(db)) == 2
    assert len(column(db, UNFOLDED)) == 1000


def test_a_look_for_a_run_in_an_empty_stream_ends_the_call(db: Db) -> None:
    topic(db)
    subscribe(db)
    sent = batch(db, 600)
    assert numbers(db, 600) == sent
    assert [numbers(db, 10_000) for _ in range(3)] == [[], [], []]
    sent = publish(db, "x")
    assert numbers(db, 10_000) == sent
