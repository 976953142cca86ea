"""What a subscription's reads leave in the journal.

A gapless run of numbers is recorded as two of them, and every reader of the journal counts it whole.
"""

from __future__ import annotations

from psycopg.types.json import Jsonb
from support import Connect, Db, column, one, receive
from topics_support import publish, subscribe, topic

ROWS = "select message_ids, last_id from howdah.journal where event = 'consumed' order by message_ids"
UNFOLDED = "select message_id from howdah.audit_journal where event = 'consumed' order by 1"


def rows(db: Db) -> list[tuple[list[int], int | None]]:
    return db.execute(ROWS.encode()).fetchall()


def test_a_gapless_run_is_journaled_by_its_first_and_last_message(db: Db) -> None:
    topic(db)
    subscribe(db)
    sent = [number for _ in range(5) for number in publish(db, "x")]
    receive(db, "t::s", 4)
    receive(db, "t::s", 4)
    assert rows(db) == [(sent[:1], sent[3]), (sent[4:], None)]
    assert column(db, UNFOLDED) == sent


def test_a_run_with_a_gap_is_journaled_message_by_message(db: Db) -> None:
    topic(db)
    subscribe(db)
    first = publish(db, "x")
    with db.transaction(force_rollback=True):
        publish(db, "undone")
    last = publish(db, "x")
    receive(db, "t::s", 10)
    assert rows(db) == [(first + last, None)]
    assert column(db, UNFOLDED) == first + last


def test_a_run_read_in_another_order_than_that_of_its_numbers_is_whole(db: Db, connect: Connect) -> None:
    topic(db)
    subscribe(db)
    late = connect()
    with db.transaction():
        one(db, "select pg_current_xact_id()::text")
        with late.transaction():
            second = publish(late, "of the later transaction")
        first = publish(db, "of the earlier one")
    assert first > second
    assert [message.message_id for message in receive(db, "t::s", 10)] == first + second
    assert rows(db) == [(second, first[0])]
    assert column(db, UNFOLDED) == second + first


def test_a_cursor_amid_a_transaction_whose_numbers_are_not_the_greatest_passes_over_nothing(
    db: Db, connect: Connect
) -> None:
    topic(db)
    subscribe(db)
    late = connect()
    with db.transaction():
        one(db, "select pg_current_xact_id()::text")
        with late.transaction():
            later = publish(late, "1", "2")
            earlier = publish(db, "3", "4")
            later += publish(late, "5", "6")
    got = [message.message_id for _ in range(4) for message in receive(db, "t::s", 4)]
    assert got == earlier + later
    assert rows(db)[0] == (later[:1], earlier[1])


def test_what_follows_gapless_runs_with_a_gap_is_journaled_message_by_message_and_goes_on_gapless(db: Db) -> None:
    topic(db)
    subscribe(db)
    batch = "select howdah.send_batch('t', array_fill('x'::text, array[%s]))"
    with db.transaction():
        sent = one(db, batch, (350,))
        with db.transaction(force_rollback=True):
            publish(db, "undone")
        sent += one(db, batch, (350,))
    for _ in range(7):
        assert len(receive(db, "t::s", 100)) == 100
    folded = [last is not None for _, last in rows(db)]
    assert folded == [True, True, True, False, True, True, True]
    assert column(db, UNFOLDED) == sent


def test_whoever_counts_the_journal_counts_the_whole_run(db: Db) -> None:
    topic(db)
    subscribe(db)
    one(db, "select cardinality(howdah.send_batch('t', array_fill('x'::text, array[14])))")
    start = one(db, "select howdah.journal_offset()")
    receive(db, "t::s", 7)
    half = one(db, "select howdah.journal_offset()")
    receive(db, "t::s", 7)
    consumed = "select consumed, dequeued from howdah.queue_stats('t::s')"
    assert db.execute(consumed.encode()).fetchone() == (14, 14)
    one(db, "select howdah.maintain_totals()")
    assert db.execute(consumed.encode()).fetchone() == (14, 14)
    assert column(db, "select cardinality(message_ids) from howdah.audit_journal_calls") == [7, 7]
    batch = one(db, "select howdah.next_journal_offset(%s, 10)", (Jsonb(start),))
    assert one(db, "select array_agg(r) from howdah.journal_ranges(%s, %s, 1) r", (Jsonb(half), Jsonb(batch))) is None
