"""Messages in the table leased: who sees them there, what a lease does to them, and what it costs."""

from __future__ import annotations

import os
import threading

import psycopg
import pytest
from lease_tables_support import lease, lying, send
from support import (
    SYSTEM,
    Clock,
    Connect,
    Db,
    column,
    deliver_and_fail,
    fail,
    measured,
    one,
    receive,
    refused,
    wait_until_blocked,
)


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 3}')""")


def test_administrators_see_a_leased_message_as_parked_under_its_lease(db: Db, clock: Clock) -> None:
    leased, other = send(db, "a", "b")
    number, _ = lease(db)
    assert lying(db) == (1, 0, 1)
    until = one(db, "select howdah.now() + interval '30 seconds'")
    assert db.execute("select live, parked from howdah.queue_stats('q')").fetchall() == [(1, 1)]
    assert db.execute(
        "select message_id, queue, state, due_at from howdah.audit_messages order by message_id"
    ).fetchall() == [(leased, "q", "parked", until), (other, "q", "live", None)]
    assert db.execute("select lease, messages, leased_until from howdah.list_leases('q')").fetchall() == [
        (number, 1, until)
    ]
    assert db.execute(
        "select (message).message_id, (message).position, state, due_at, parked_reason from howdah.poison_message(%s)",
        (leased,),
    ).fetchall() == [(leased, 1, "parked", until, "lease")]
    assert [m.message_id for m in receive(db, "q", n=9, verb="browse")] == [other]
    assert column(db, "select id from howdah.activemq_msgs where container = 'queue://q' order by 1") == [leased, other]


def test_a_limit_counts_leased_messages(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"message_limit": 2}')""")
    send(db, "a", "b")
    number, _ = lease(db, 2)
    refused(db, "HD018", "select howdah.send('q', 'c')")
    assert one(db, "select howdah.ack('q', %s)", (number,)) == 2
    send(db, "c")


def test_a_queue_with_leased_messages_is_dropped_only_by_force(db: Db) -> None:
    send(db, "a")
    number, _ = lease(db)
    refused(db, "HD011", "select howdah.drop_queue('q')")
    assert one(db, "select howdah.drop_queue('q', true)") == 1
    assert lying(db) == (0, 0, 0)
    refused(db, "HD001", "select howdah.ack('q', %s)", (number,))


def test_an_acknowledged_lease_leaves_no_record(db: Db) -> None:
    sent = send(db, "a", "b", "c")
    number, ids = lease(db, 3)
    assert ids == sent
    for message_id in reversed(sent):
        assert one(db, "select howdah.ack('q', %s, %s)", (number, [message_id])) == 1
    assert lying(db) == (0, 0, 0)
    refused(db, "HD026", "select howdah.ack('q', %s, %s)", (number, sent[:1]))
    assert one(db, "select consumed from howdah.queue_stats('q')") == 3


def test_a_token_of_one_queue_is_none_of_another(db: Db) -> None:
    one(db, "select howdah.create_queue('r')")
    (sent,) = send(db, "a")
    number, _ = lease(db)
    for verb in ("ack", "nack", "release", "extend"):
        refused(db, "HD026", f"select howdah.{verb}('r', %s)", (number,))
    assert one(db, "select howdah.ack('q', %s, %s)", (number, [sent])) == 1


def test_one_lease_acknowledges_at_once_what_lies_in_both_places(db: Db) -> None:
    sent = send(db, "a", "b", "c")
    number, _ = lease(db, 3)
    one(db, "select howdah.extend('q', %s, '60 seconds', %s)", (number, sent[:1]))
    assert lying(db) == (2, 1, 1)
    assert one(db, "select howdah.ack('q', %s, %s)", (number, sent[:2])) == 2
    assert one(db, "select howdah.ack('q', %s)", (number,)) == 1
    assert lying(db) == (0, 0, 0)


def test_an_acknowledgement_of_a_lease_takes_also_what_another_call_extends_meanwhile(db: Db, connect: Connect) -> None:
    sent = send(db, "a", "b", "c")
    number, _ = lease(db, 3)
    other, waiting = connect(), connect()
    done: list[int] = []
    thread = threading.Thread(
        target=lambda: done.append(one(waiting, "select howdah.ack('q', %s)", (number,))),
    )
    with other.transaction():
        one(other, "select howdah.extend('q', %s, '60 seconds', %s)", (number, sent[1:2]))
        thread.start()
        wait_until_blocked(db, waiting)
    thread.join()
    assert done == [3]
    assert lying(db) == (0, 0, 0)


def test_expired_messages_and_those_past_their_limit_are_not_leased(db: Db, clock: Clock, connect: Connect) -> None:
    expiring = one(db, "select howdah.send('q', 'x', time_to_live => '5 seconds')")
    failing, rejected, last = send(db, "a", "b", "c")
    with connect().transaction(force_rollback=True) as transaction:
        assert len(receive(transaction.connection, n=9)) == 4
        assert fail(db, failing)[2] == "held"
        assert fail(db, rejected, reject=True)[2] == "held"
    clock.advance(6)
    number, ids = lease(db, 9)
    assert ids == [failing, last]
    assert db.execute("select expired, moved_out from howdah.queue_stats('q')").fetchall() == [(1, 1)]
    assert [m.message_id for m in receive(db, SYSTEM, verb="browse")] == [rejected]
    assert expiring not in column(db, "select message_id from howdah.audit_messages")
    assert one(db, "select howdah.release('q', %s)", (number,)) == 2
    rows = db.execute("select message_id, delivery_count, redelivered from howdah.lease('q', 9)").fetchall()
    assert rows == [(failing, 2, True), (last, 1, False)]


def test_a_moved_message_is_leased_with_its_origin_and_goes_back_to_its_place(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 1}')""")
    sent = send(db, "a", "b")
    for _ in sent:
        deliver_and_fail(db)
    rows = db.execute("select lease, message_id, origin_queue, stage from howdah.lease(%s, 9)", (SYSTEM,)).fetchall()
    assert [row[1:] for row in rows] == [(message_id, "q", 1) for message_id in sent]
    assert one(db, "select howdah.release(%s, %s)", (SYSTEM, rows[0][0])) == 2
    assert [m.message_id for m in receive(db, SYSTEM, n=9)] == sent


def test_a_lease_fills_up_from_behind_the_head_and_across_gaps(db: Db, connect: Connect) -> None:
    """Positions far apart, given back by rollbacks under a backlog, keep their own places under the lease."""
    db.execute("select howdah.send_batch('q', array(select n::text from generate_series(1, 400) n))")
    other = connect()
    with other.transaction(force_rollback=True):
        receive(other, n=100)
        receive(db, n=50)
    seen: list[int] = []
    while (taken := lease(db, 70))[1]:
        number, ids = taken
        assert one(db, "select howdah.release('q', %s, %s)", (number, ids[:1])) == 1
        if len(ids) > 1:
            assert one(db, "select howdah.ack('q', %s)", (number,)) == len(ids) - 1
            seen += ids[1:]
        else:
            seen += [message.message_id for message in receive(db)]
    assert len(seen) == len(set(seen)) == 350
    assert lying(db) == (0, 0, 0)


def test_what_a_lease_finds_after_its_head_was_set_back_lies_under_its_own_number(db: Db) -> None:
    """A sequence that cycles gives a later draw a lower position, as another session's setval does."""
    db.execute("select howdah.send_batch('q', array(select n::text from generate_series(1, 200) n))")
    head = one(db, "select head::text from howdah.destinations where name = 'q'")
    one(db, "select setval(%s::regclass, 100)", (head,))
    db.execute(f"alter sequence {head} maxvalue 101 cycle".encode())
    number, ids = lease(db, 20)
    assert len(ids) == 20
    assert column(db, "select distinct seq >> 20 from howdah.leased") == [number]
    assert one(db, "select howdah.ack('q', %s)", (number,)) == 20


def test_who_may_receive_by_a_grant_of_its_own_may_lease(db: Db, connect: Connect) -> None:
    (sent,) = send(db, "a")
    producer = connect("howdah_producer")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        producer.execute("select howdah.lease('q')")
    consumer = connect("howdah_consumer")
    number, ids = lease(consumer)
    assert ids == [sent]
    assert one(consumer, "select howdah.ack('q', %s)", (number,)) == 1


def test_a_session_that_dies_in_its_lease_or_acknowledgement_changes_nothing(db: Db, connect: Connect) -> None:
    sent = send(db, "a", "b")
    for statement in ("select howdah.lease('q', 2)", "select howdah.ack('q', %(lease)s)"):
        doomed = connect()
        doomed.execute("begin")
        number = lease(db, 2)[0] if "ack" in statement else None
        doomed.execute(statement.encode(), {"lease": number} if number else None)
        one(db, "select pg_terminate_backend(%s, 10000)", (doomed.info.backend_pid,))
        if number:
            assert one(db, "select howdah.ack('q', %s, %s)", (number, sent)) == 2
    assert lying(db) == (0, 0, 0)


def test_neither_a_lease_nor_its_end_writes_a_large_body(db: Db) -> None:
    """The least of three counts: a checkpoint in between makes the next change of every page write it whole."""
    body = os.urandom(300_000)
    for _ in range(3):
        one(db, "select howdah.send('q', %s)", (body,))
    assert min(measured(db, "select howdah.lease('q')")["WAL Bytes"] for _ in range(3)) < 20_000
    numbers = column(db, "select lease from howdah.list_leases('q')")
    assert min(measured(db, "select howdah.extend('q', %s)", (number,))["WAL Bytes"] for number in numbers) < 20_000
    assert min(measured(db, "select howdah.ack('q', %s)", (number,))["WAL Bytes"] for number in numbers) < 50_000


def test_no_row_that_others_may_claim_or_acknowledge_is_ever_updated(db: Db, clock: Clock) -> None:
    """An updated row would be locked, in its new version, by whoever began to look at the old one."""
    with db.transaction():
        sent = send(db, *"abcdefgh")
        number, ids = lease(db, 8)
        assert ids == sent
        one(db, "select howdah.extend('q', %s)", (number,))
        one(db, "select howdah.ack('q', %s, %s)", (number, ids[:2]))
        db.execute("select howdah.nack('q', %s, %s)", (number, ids[2:4])).fetchall()
        one(db, "select howdah.release('q', %s, %s)", (number, ids[4:5]))
        one(db, "select howdah.ack('q', %s)", (number,))
        number, ids = lease(db, 9, seconds=10)
        assert ids == sent[2:5]
        clock.advance(11)
        assert len(receive(db, n=9)) == 3
        for table in ("msgs", "leased", "leases"):
            assert one(db, f"select pg_stat_get_xact_tuples_updated('howdah.{table}'::regclass)") == 0, table
        assert one(db, "select pg_stat_get_xact_tuples_deleted('howdah.leased'::regclass)") > 0, "counts are on"


def test_one_message_at_a_time_of_a_long_lease_is_found_among_those_acknowledged(db: Db) -> None:
    db.execute("select howdah.send_batch('q', array(select n::text from generate_series(1, 300) n))")
    number, ids = lease(db, 300)
    assert len(ids) == 300
    for message_id in ids:
        assert one(db, "select howdah.ack('q', %s, %s)", (number, [message_id])) == 1
    assert lying(db) == (0, 0, 0)


@pytest.mark.parametrize(
    "options",
    ['{"message_groups": "transaction"}', '{"strict_order": true}', '{"persistent": false}'],
)
def test_queues_with_an_order_or_in_memory_lease_into_parked(db: Db, options: str) -> None:
    one(db, "select howdah.alter_queue('q', %s::jsonb)", (options,))
    (sent,) = send(db, "a")
    number, ids = lease(db)
    assert ids == [sent]
    assert lying(db) == (0, 1, 0)
    assert one(db, "select howdah.ack('q', %s)", (number,)) == 1


def test_a_selector_leases_into_parked_and_finds_what_comes_back_from_a_lease(db: Db, clock: Clock) -> None:
    sent = [one(db, "select howdah.send('q', 'a', headers => %s)", (f'{{"n": {n}}}',)) for n in (1, 2, 3)]
    lease(db, 2, seconds=10)
    selected = "select message_id from howdah.lease('q', 9, selector => %s)"
    assert column(db, selected, ("n > 1",)) == sent[2:]
    assert lying(db) == (2, 1, 1)
    clock.advance(11)
    assert column(db, selected, ("n = 2",)) == sent[1:2]


def test_a_proof_of_handing_over_and_a_session_see_a_lease_where_it_lies(db: Db) -> None:
    sent = send(db, "a", "b", "c")
    number, _ = lease(db, 3)
    assert one(db, "select howdah.handed('q', %s, %s)", (number, sent[:1])) == 1
    assert one(db, "select howdah.ack_interval('q', array[%s::bigint], %s, %s)", (number, *sent[:2])) == 2
    assert column(db, "select howdah.renew_leases(array['q'], array[%s::bigint])", (number,)) == [number]
    assert lying(db) == (1, 0, 1)
    ended = "select message_id, outcome from howdah.end_leases('q', array[%s::bigint], %s)"
    assert db.execute(ended, (number, sent)).fetchall() == [(sent[2], "returned")]
    assert lying(db) == (0, 0, 0)
    refused(db, "HD026", "select howdah.handed('q', %s)", (number,))
