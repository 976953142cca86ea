"""What is recorded for an audit to judge.

Expiry and groups at the send, how a message was received, who held a lock.
"""

from __future__ import annotations

from typing import Any

import pytest
from policy_support import Create
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, column, one, receive, refused
from topics_support import publish, subscribe, topic

ACQUIRE = "select howdah.acquire_lock('l', %s, 10)"


def sent(db: Db) -> list[tuple[Any, ...]]:
    """Expiry, group and priority of each recorded send's message, and whether its row names settled transactions."""
    return db.execute(
        "select expires_at is not null, group_id, priority, settled_xid is not null from howdah.audit_journal"
        " where event = 'sent' order by message_id"
    ).fetchall()


def batch(db: Db, *groups: str | None, **options: Any) -> list[int]:
    headers = [Jsonb({"JMSXGroupID": group}) if group else None for group in groups]
    names = "".join(f", {name} => %s" for name in options)
    numbers: list[int] = one(
        db,
        f"select howdah.send_batch('q', %s::text[], headers => %s::jsonb[]{names})",
        ([str(number) for number in range(len(groups))], headers, *options.values()),
    )
    return numbers


def history(db: Db) -> list[tuple[Any, ...]]:
    return db.execute("select epoch, holder from howdah.audit_locks where name = 'l' order by id").fetchall()


def test_a_full_journal_says_when_each_sent_message_expires(db: Db, create: Create) -> None:
    create(journal_level="full")
    one(db, "select howdah.send('q', 'x', time_to_live => '1 hour')")
    one(db, "select howdah.send_batch('q', array['x', 'y'], time_to_live => '1 hour')")
    one(db, "select howdah.send_batch('q', array['x', 'y'])")
    assert [row[0] for row in sent(db)] == [True, True, True, False, False]
    assert column(db, "select cardinality(expires_at) from howdah.journal order by message_ids") == [1, 2, None]
    assert one(db, "select bool_and(j.expires_at = m.expires_at) from howdah.audit_journal j"
                   " join howdah.msgs m using (message_id) where j.expires_at is not null")  # fmt: skip


def test_a_full_journal_says_when_with_which_priority_and_what_was_sent(db: Db, create: Create) -> None:
    """However a message was sent, and wherever its body lies: the digest on record is that of what lies there."""
    create(journal_level="full")
    one(db, "select howdah.send('q', 'x')")
    one(
        db,
        (
            "select howdah.send('q', repeat('x', 5000), headers => '{\"a\": 1}', priority => 7,"
            " correlation_id => 'c', reply_to => 'r')"
        ),
    )
    one(db, "select howdah.send_batch('q', array[repeat('y', 5000), 'z'], headers => array[null, '{\"k\":"
            " 1.50}']::jsonb[], priorities => array[null, 1],"
            " message_types => array['t', null], conversation_ids => array[null, gen_random_uuid()])")  # fmt: skip
    one(db, "select howdah.send('q', '\\x00ff'::bytea, delivery_mode => 'non-persistent', delay => '1 hour')")
    assert db.execute(
        "select j.priority, j.oldest_sent_at = m.sent_at, j.priority = m.priority,"
        " j.digest = m.digest, length(j.digest)"
        " from howdah.audit_journal j join howdah.audit_messages m using (message_id) order by message_id"
    ).fetchall() == [(priority, True, True, True, 32) for priority in (4, 7, 4, 1, 4)]
    assert one(db, "select count(distinct digest) from howdah.audit_messages") == 5
    before = one(db, "select digest from howdah.audit_messages where body_bytes = 1 and priority = 4")
    db.execute("update howdah.msgs set body = 'X' where body = 'x'")
    assert one(db, "select digest from howdah.audit_messages where body_bytes = 1 and priority = 4") != before


def test_an_auditor_reads_what_digests_say_and_not_the_secret(db: Db, create: Create, connect: Connect) -> None:
    create(journal_level="full")
    number = one(db, "select howdah.send('q', 'x')")
    one(db, "select outcome from howdah.record_failure('q', %s, 'no')", (number,))
    auditor = connect("howdah_auditor")
    assert one(
        auditor,
        "select m.digest = j.digest from howdah.audit_messages m join howdah.audit_journal j using (message_id)",
    )
    assert one(auditor, "select unchanged from howdah.audit_incidents")
    refused(auditor, "42501", "select digest_secret from howdah.engine")


def test_below_full_no_digests_are_made_of_what_lies_there(db: Db, create: Create) -> None:
    create()
    one(db, "select howdah.send('q', 'x')")
    assert column(db, "select digest from howdah.audit_messages") == [None]


def test_a_topics_journal_says_it_too(db: Db) -> None:
    topic(db, journal_level="full")
    subscribe(db)
    publish(db, "x", time_to_live="1 hour")
    publish(db, "y")
    assert [row[0] for row in sent(db)] == [True, False]
    assert one(db, "select count(distinct digest) from howdah.audit_journal where priority = 4") == 2


def test_a_full_journal_names_the_groups_of_a_queue_that_keeps_their_order(db: Db, create: Create) -> None:
    create(journal_level="full", message_groups="transaction")
    batch(db, "a", None, "b", priorities=[1, 2, None])
    batch(db, None)
    one(db, "select howdah.send('q', 'x', headers => %s, priority => 7)", (Jsonb({"JMSXGroupID": "c"}),))
    one(db, "select howdah.send('q', 'x', conversation_id => '11111111-1111-1111-1111-111111111111')")
    conversation = "11111111-1111-1111-1111-111111111111"
    assert [row[1:] for row in sent(db)] == [
        ("a", 1, True), (None, 2, True), ("b", 4, True),
        (None, 4, False),
        ("c", 7, True), (conversation, 4, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "delay"),
    [
        ({"journal_level": "full"}, None),
        ({"journal_level": "full", "message_groups": "sticky"}, "1 hour"),
    ],
)
def test_no_groups_are_recorded_where_they_bind_nothing(
    db: Db, create: Create, options: dict[str, str], delay: str | None
) -> None:
    create(**options)
    batch(db, "a", delay=delay)
    one(db, "select howdah.send('q', 'x', headers => %s, delay => %s)", (Jsonb({"JMSXGroupID": "c"}), delay))
    assert [row[1:] for row in sent(db)] == [(None, 4, False)] * 2


def test_below_full_nothing_is_recorded_of_sends(db: Db, create: Create) -> None:
    create(message_groups="transaction")
    batch(db, "a", time_to_live="1 hour")
    assert sent(db) == []


def test_transactions_under_way_are_not_settled(db: Db, create: Create, connect: Connect) -> None:
    create(journal_level="full", message_groups="transaction")
    other = connect()
    with other.transaction():
        open_xid = one(other, "select pg_current_xact_id()::text::bigint")
        batch(db, "a")
        assert one(db, "select settled_xid from howdah.journal") <= open_xid
    batch(db, "a")
    assert one(db, "select max(settled_xid) from howdah.journal") > open_xid


def test_a_week_made_later_takes_the_evidence(db: Db, create: Create, clock: Clock) -> None:
    create(journal_level="full", message_groups="transaction")
    clock.advance(86400 * 7 * 20)
    batch(db, "a", time_to_live="1 hour")
    assert one(db, "select count(*) from howdah.journal_default") == 1
    clock.advance(86400 * 7)
    one(db, "select howdah.maintain_journal()")
    batch(db, "a", time_to_live="1 hour")
    assert one(db, "select count(*) from howdah.journal_default") == 1
    assert sent(db) == [(True, "a", 4, True)] * 2


def test_consumed_says_held_of_what_was_locked_or_leased_and_selected_of_what_a_selector_took(
    db: Db, create: Create
) -> None:
    create(message_groups="transaction")
    numbers = batch(db, "a", "b", "c", "d")
    assert [message.message_id for message in receive(db)] == numbers[:1]
    one(db, "select count(*) from howdah.receive('q', 1, selector => 'JMSXGroupID = ''d''')")
    with db.transaction():
        (held,) = receive(db, verb="receive_locked")
        one(db, "select howdah.consume_locked('q', %s, %s, %s)",
            ([held.message_id], [held.priority], [held.position]))  # fmt: skip
    lease = one(db, "select lease from howdah.lease('q', 1)")
    assert one(db, "select howdah.ack('q', %s)", (lease,)) == 1
    assert column(db, "select reason from howdah.audit_journal order by message_id") == [
        None, "held", "held", "selected"
    ]  # fmt: skip


def test_each_change_of_holder_is_on_record_and_keeping_a_lock_writes_nothing_new(db: Db, clock: Clock) -> None:
    for _ in range(3):
        assert one(db, ACQUIRE, ("a",)) == 1
        clock.advance(5)
    assert history(db) == [(1, "a")]
    clock.advance(10)
    assert one(db, ACQUIRE, ("b",)) == 2
    one(db, "select howdah.release_lock('l', 2, 'b')")
    assert one(db, ACQUIRE, ("b",)) == 3
    assert history(db) == [(1, "a"), (2, "b"), (3, "b")]


def test_a_lock_that_is_not_given_leaves_no_record(db: Db, connect: Connect) -> None:
    with db.transaction(force_rollback=True):
        one(db, ACQUIRE, ("a",))
    one(db, ACQUIRE, ("b",))
    assert one(connect(), ACQUIRE, ("c",)) is None
    assert history(db) == [(1, "b")]


def test_two_sessions_of_one_holder_get_one_epoch_the_second_once_the_first_has_committed(
    db: Db, connect: Connect
) -> None:
    other = connect()
    one(db, "select howdah.release_lock('l', howdah.acquire_lock('l', 'x'), 'x')")
    with db.transaction():
        assert one(db, ACQUIRE, ("a",)) == 2
        assert one(other, ACQUIRE, ("a",)) is None
    assert one(other, ACQUIRE, ("a",)) == 2
    assert history(db) == [(1, "x"), (2, "a")]


def test_old_changes_of_holder_are_forgotten_but_for_the_last(db: Db, clock: Clock) -> None:
    for holder in ("a", "b", "c"):
        one(db, ACQUIRE, (holder,))
        clock.advance(11)
    clock.advance(86400 * 91)
    one(db, "select howdah.maintain_incidents()")
    one(db, "select howdah.maintain_incidents()")
    assert history(db) == [(3, "c")]


def test_auditors_read_the_history_of_locks_and_nobody_writes_it(db: Db, connect: Connect) -> None:
    one(db, ACQUIRE, ("a",))
    auditor = connect("howdah_auditor")
    assert one(auditor, "select count(*) from howdah.audit_locks where name = 'l'") == 1
    refused(auditor, "42501", "select * from howdah.lock_epochs")
    refused(connect("howdah_admin"), "42501", "delete from howdah.lock_epochs")


def test_a_change_of_groups_or_delivery_policy_is_dated_and_no_other(db: Db, create: Create, clock: Clock) -> None:
    create()
    at = "select groups_at from howdah.audit_destinations where queue = 'q'"
    one(db, "select howdah.alter_queue('q', '{\"max_failed_deliveries\": 2}')")
    assert one(db, at) is None
    one(db, "select howdah.alter_queue('q', '{\"message_groups\": \"transaction\"}')")
    assert one(db, at) == clock.now
    changed = clock.now
    clock.advance(1)
    one(db, "select howdah.alter_queue('q', '{\"max_failed_deliveries\": 3}')")
    assert one(db, at) == changed
    one(db, "select howdah.alter_queue('q', '{\"delivery_policy\": \"single\"}')")
    assert one(db, at) == clock.now


def test_the_transaction_that_wrote_a_row_is_not_the_one_it_says_where_it_was_a_savepoint(db: Db) -> None:
    """Why no rule of an audit compares the two: see what no audit can see."""
    one(db, "select howdah.create_queue('q')")
    db.execute("select howdah.send('q', 'x') from generate_series(1, 3)")
    receive = "select count(*) from howdah.receive('q')"
    with db.transaction():
        one(db, receive)
    with db.transaction():
        one(db, "select pg_current_xact_id()::text")
        with db.transaction():  # a savepoint
            one(db, receive)
    db.execute(f"do $$ begin perform count(*) from ({receive}) r; exception when division_by_zero then null; end $$")
    rows = db.execute(
        "select xid, xmin::text::bigint from howdah.journal where event = 'consumed' order by xid"
    ).fetchall()
    assert [written == said for said, written in rows] == [True, False, False]
    assert all(written >= said for said, written in rows)
    for statement in ("vacuum (freeze) howdah.journal", "vacuum (full) howdah.journal"):
        db.execute(statement.encode())
        assert (
            rows
            == db.execute(
                "select xid, xmin::text::bigint from howdah.journal where event = 'consumed' order by xid"
            ).fetchall()
        )
