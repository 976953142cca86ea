"""Messages in the table leased: who sees them there, how they come back, and what it costs."""

from __future__ import annotations

import os
import random
import threading
from importlib import import_module
from typing import Any

import psycopg
import pytest
from support import SYSTEM, Clock, Connect, Db, column, deliver_and_fail, fail, measured, one, receive, refused

from howdah.migrations import downgrade, migrate


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 3}')""")


def send(db: Db, *bodies: str) -> list[int]:
    return [one(db, "select howdah.send('q', %s)", (body,)) for body in bodies]


def lease(db: Db, n: int = 1, seconds: float = 30, queue: str = "q") -> tuple[int | None, list[int]]:
    rows = db.execute(
        "select lease, message_id from howdah.lease(%s, %s, %s * interval '1 second')", (queue, n, seconds)
    ).fetchall()
    return (rows[0][0] if rows else None), [row[1] for row in rows]


def lying(db: Db) -> tuple[int, int, int]:
    """How many leased messages lie in leased, in parked, and how many leases are on record."""
    return (
        one(db, "select count(*) from howdah.leased"),
        one(db, "select count(*) from howdah.parked where lease_id is not null"),
        one(db, "select count(*) from howdah.leases"),
    )


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
    assert column(db, "select id from howdah.activemq_msgs where container = 'queue://q'") == [other]


def next_lease(db: Db, former: int | None, queue: str = "q", n: int = 2) -> tuple[int | None, list[str]]:
    """The lease before is acknowledged in the same call."""
    rows = db.execute("select lease, body from howdah.lease(%s, %s, acknowledge => %s)", (queue, n, former)).fetchall()
    return (rows[0][0] if rows else None), [row[1] for row in rows]


def test_a_lease_may_acknowledge_the_one_before_in_the_same_call(db: Db) -> None:
    sent = send(db, "a", "b", "c")
    first, bodies = next_lease(db, None)
    assert bodies == ["a", "b"]
    with db.transaction(force_rollback=True):
        assert next_lease(db, first)[1] == ["c"]
    assert lying(db) == (2, 0, 1), "a rollback undoes both"
    second, bodies = next_lease(db, first)
    assert bodies == ["c"]
    assert next_lease(db, second) == (None, []), "acknowledged though there is nothing more"
    assert lying(db) == (0, 0, 0)
    consumed = "select message_id from howdah.audit_journal where event = 'consumed' order by message_id"
    assert column(db, consumed) == sent


def test_a_lease_that_cannot_acknowledge_the_one_before_leases_nothing(db: Db, clock: Clock, connect: Connect) -> None:
    one(db, "select howdah.create_queue('other')")
    send(db, "a", "b", "c")
    number, _ = lease(db)
    again = "select howdah.lease('{}', 1, acknowledge => {})"
    refused(db, "HD026", again.format("other", number))
    refused(db, "HD026", again.format("q", (number or 0) + 1))
    refused(db, "HD005", again.format("*", number))
    refused(db, "HD005", "select howdah.lease('q', 1, '0 s', acknowledge => %s)", (number,))
    refused(connect("howdah_producer"), "42501", again.format("q", number))
    assert lying(db) == (1, 0, 1)
    clock.advance(31)
    assert [m.body for m in receive(db, n=1)] == ["a"]
    refused(db, "HD026", again.format("q", number))
    assert lying(db)[0] == 0


def test_an_error_of_a_lease_undoes_the_acknowledgement_too_and_a_lease_that_has_nothing_left_is_refused(
    db: Db,
) -> None:
    send(db, "a", "b", "c")
    number, ids = lease(db, 2)
    again = f"select howdah.lease('q', 2, acknowledge => {number})"
    one(db, "select howdah.pause('q')")
    refused(db, "HD009", again)
    assert lying(db) == (2, 0, 1)
    assert one(db, "select consumed from howdah.queue_stats('q')") == 0
    assert one(db, "select howdah.ack('q', %s, %s)", (number, ids[:1])) == 1
    assert one(db, "select howdah.ack('q', %s)", (number,)) == 1
    one(db, "select howdah.resume('q')")
    refused(db, "HD026", again)
    assert next_lease(db, None)[1] == ["c"]
    assert one(db, "select consumed from howdah.queue_stats('q')") == 2


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ('{"strict_order": true}', ["a1", "b1", "a2", "b2", "a3"]),
        ('{"message_groups": "transaction"}', ["a1 b1", "a2 b2", "a3"]),
    ],
)
def test_batches_of_a_queue_with_an_order_come_in_it_each_acknowledged_with_the_lease_of_the_next(
    db: Db, options: str, expected: list[str]
) -> None:
    """One message a lease, or one of each group: who acknowledged some and gave back others would break the order."""
    one(db, "select howdah.alter_queue('q', %s::jsonb)", (options,))
    for body in ("a1", "b1", "a2", "b2", "a3"):
        headers = f'{{"JMSXGroupID": "{body[0]}"}}'
        one(db, "select howdah.send('q', %s, headers => %s::jsonb)", (body, headers))
    number, bodies = next_lease(db, None)
    assert lease(db) == (None, []), "held up for everybody until the batch is done with"
    batches = []
    while bodies:
        batches.append(" ".join(bodies))
        number, bodies = next_lease(db, number)
    assert batches == expected
    assert lying(db) == (0, 0, 0)
    assert one(db, "select consumed from howdah.queue_stats('q')") == 5


def test_one_reader_of_a_subscription_works_lease_after_lease(db: Db) -> None:
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's')")
    for body in "abc":
        one(db, "select howdah.send('t', %s)", (body,))
    first, bodies = next_lease(db, None, "t::s")
    assert bodies == ["a", "b"]
    refused(db, "HD024", "select howdah.lease('t::s')")
    assert next_lease(db, first, "t::s")[1] == ["c"]


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


def test_what_comes_back_comes_in_its_old_order_before_what_was_sent_later(db: Db, clock: Clock) -> None:
    sent = send(db, "a", "b", "c", "d")
    lease(db, 3, seconds=10)
    clock.advance(11)
    assert [m.message_id for m in receive(db, n=9)] == sent
    assert lying(db) == (0, 0, 0)


def test_receivers_share_the_messages_of_a_lease_that_ran_out(db: Db, clock: Clock, connect: Connect) -> None:
    sent = send(db, "a", "b")
    lease(db, 2, seconds=10)
    clock.advance(11)
    other = connect()
    with other.transaction(force_rollback=True):
        assert [m.message_id for m in receive(other)] == sent[:1]
        assert [m.message_id for m in receive(db)] == sent[1:], "the first one's transaction holds up nobody"
    assert [(m.message_id, m.delivery_count) for m in receive(db, n=9)] == [(sent[0], 2)]
    assert lying(db) == (0, 0, 0)


def test_who_takes_one_message_of_a_lease_that_ran_out_holds_up_nobody_who_wants_another(
    db: Db, clock: Clock, connect: Connect
) -> None:
    sent = send(db, "a", "b", "c")
    lease(db, 3)
    clock.advance(31)
    other = connect()
    with other.transaction():
        assert column(other, "select message_id from howdah.receive_message('q', %s)", (sent[1],)) == [sent[1]]
        assert [m.message_id for m in receive(db, "q", n=9)] == [sent[0], sent[2]]


def test_a_lease_that_ran_out_is_acknowledged_or_extended_as_far_as_nobody_else_has_it(
    db: Db, clock: Clock, connect: Connect
) -> None:
    sent = send(db, "a", "b", "c")
    number, _ = lease(db, 3, seconds=10)
    clock.advance(11)
    other = connect()
    with other.transaction():
        assert [m.message_id for m in receive(other)] == sent[:1]
        refused(db, "HD026", "select howdah.extend('q', %s, '10 seconds', %s)", (number, sent))
        until = one(db, "select howdah.extend('q', %s, '10 seconds')", (number,))
        assert [m.message_id for m in receive(db, n=9)] == []
    assert db.execute("select lease, messages, leased_until from howdah.list_leases('q')").fetchall() == [
        (number, 2, until)
    ]
    assert one(db, "select howdah.ack('q', %s)", (number,)) == 2
    assert lying(db) == (0, 0, 0)


def test_a_part_of_a_lease_is_extended_alone(db: Db, clock: Clock) -> None:
    sent = send(db, "a", "b", "c")
    number, _ = lease(db, 3, seconds=10)
    one(db, "select howdah.extend('q', %s, '60 seconds', %s)", (number, sent[:1]))
    clock.advance(11)
    assert [m.message_id for m in receive(db, n=9)] == sent[1:]
    assert one(db, "select howdah.ack('q', %s)", (number,)) == 1


def test_one_lease_acknowledges_at_once_what_lies_in_both_places(db: Db) -> None:
    sent = send(db, "a", "b", "c")
    number, _ = lease(db, 3)
    one(db, "select howdah.extend('q', %s, '60 seconds', %s)", (number, sent[:1]))
    assert lying(db) == (2, 1, 1)
    assert one(db, "select howdah.ack('q', %s, %s)", (number, sent[:2])) == 2
    assert one(db, "select howdah.ack('q', %s)", (number,)) == 1
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


def hold_up(db: Db, table: str) -> None:
    """Let sessions with test.held wait for an advisory lock at that call for a row of a table, in the middle of their statement."""
    db.execute(
        b"""
        create function public.held_up() returns boolean language plpgsql volatile as $$
        begin
            if current_setting('test.held', true) <> '' then
                if current_setting('test.held')::integer = 1 then
                    perform pg_advisory_lock_shared(77);
                    perform pg_advisory_unlock_shared(77);
                end if;
                perform set_config('test.held', (current_setting('test.held')::integer - 1)::text, false);
            end if;
            return true;
        end $$;
        """
    )
    db.execute(f"alter table howdah.{table} enable row level security, force row level security".encode())
    db.execute(f"create policy held_up on howdah.{table} using (public.held_up())".encode())


def behind_the_hold(db: Db, calls: int, receiver: Any, meanwhile: Any) -> list[Any]:
    """Run a receiver up to the hold, something else meanwhile, and then the receiver to its end, its transaction open."""
    db.execute("select pg_advisory_lock(77)")
    receiver.execute(f"set test.held = '{calls}'".encode())
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.extend(receive(receiver, n=9)))
    thread.start()
    pid = receiver.info.backend_pid
    try:
        while not one(
            db, "select exists (select from pg_locks where pid = %s and locktype = 'advisory' and not granted)", (pid,)
        ):
            assert thread.is_alive(), "the receiver was not held up"
        meanwhile()
    finally:
        db.execute("select pg_advisory_unlock(77)")
    thread.join()
    return found


@pytest.mark.parametrize("calls", [1, 2])
def test_a_receiver_that_began_before_a_lease_was_committed_does_not_make_its_acknowledgement_wait(
    db: Db, connect: Connect, calls: int
) -> None:
    sent = send(db, "a", "b")
    hold_up(db, "msgs")
    leased: list[Any] = []
    receiver = connect()
    with receiver.transaction(force_rollback=True):
        found = behind_the_hold(db, calls, receiver, lambda: leased.extend(lease(db, 2)))
        assert [message.message_id for message in found] == sent[: calls - 1]
        assert leased[1] == sent[calls - 1 :]
        assert one(receiver, "select current_setting('test.held')::integer < 1"), "it was held up"
        db.execute("set lock_timeout = '20s'")
        assert one(db, "select howdah.ack('q', %s)", (leased[0],)) == 3 - calls


@pytest.mark.parametrize("calls", [1, 2, 3, 4])
def test_a_receiver_that_took_a_lease_for_ended_while_it_was_extended_does_not_make_it_wait(
    db: Db, clock: Clock, connect: Connect, calls: int
) -> None:
    """Held up in one and then another of the looks at the lease's record."""
    send(db, "a", "b")
    number, _ = lease(db, 2, seconds=10)
    hold_up(db, "leases")
    clock.advance(9)
    receiver, other = connect(), connect()
    with other.transaction(), receiver.transaction(force_rollback=True):
        one(other, "select howdah.extend('q', %s, '1 hour')", (number,))
        clock.advance(2)
        found = behind_the_hold(db, calls, receiver, lambda: other.execute("commit").execute("begin"))
        assert found == []
        other.execute("set lock_timeout = '20s'")
        one(other, "select howdah.extend('q', %s, '1 hour')", (number,))
        assert one(other, "select howdah.ack('q', %s)", (number,)) == 2


def test_a_downgrade_keeps_leased_messages_under_their_lease(db: Db, dsn: str, clock: Clock) -> None:
    revision = import_module("howdah.migrations.versions.r0014_leased")
    sent = send(db, "a", "b")
    number, _ = lease(db, 2)
    downgrade(dsn, revision.down_revision)
    assert db.execute("select seq, message_id, parked_reason, lease_id from howdah.parked order by seq").fetchall() == [
        (n, message_id, "lease", number) for n, message_id in enumerate(sent, 1)
    ]
    assert migrate(dsn).current
    assert one(db, "select howdah.ack('q', %s)", (number,)) == 2


def test_one_message_at_a_time_of_a_long_lease_is_found_among_those_acknowledged(db: Db) -> None:
    db.execute("select howdah.send_batch('q', array(select n::text from generate_series(1, 300) n))")
    number, ids = lease(db, 300)
    assert len(ids) == 300
    for message_id in ids:
        assert one(db, "select howdah.ack('q', %s, %s)", (number, [message_id])) == 1
    assert lying(db) == (0, 0, 0)


def test_under_random_leases_receives_rollbacks_and_kills_each_message_is_consumed_once(
    db: Db, connect: Connect
) -> None:
    """Four sessions do all that can be done with a lease, and end when nothing is left; the journal is the judge."""
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 1000}')""")
    db.execute("select howdah.send_batch('q', array(select n::text from generate_series(1, 800) n))")
    faults: list[psycopg.Error] = []

    def consume(own: Db, choice: random.Random) -> None:
        try:
            while one(
                own,
                "select exists (select from howdah.msgs) or exists (select from howdah.leased) or exists (select from howdah.parked)",
            ):
                step(own, choice)
        except psycopg.OperationalError:
            pass  # killed
        except psycopg.Error as fault:
            faults.append(fault)

    def step(own: Db, choice: random.Random) -> None:
        way = choice.random()
        if way < 0.3:
            with own.transaction(force_rollback=choice.random() < 0.3):
                receive(own, n=choice.randint(1, 20))
            return
        with own.transaction(force_rollback=way > 0.95):
            number, ids = lease(own, choice.randint(1, 40), choice.choice([0.001, 0.1]))
        if number is None or way > 0.95:
            return
        some = choice.sample(ids, choice.randint(1, len(ids)))
        acts = [
            ("select howdah.ack('q', %s)", (number,)),
            ("select howdah.ack('q', %s, %s)", (number, some)),
            ("select howdah.nack('q', %s, %s)", (number, some)),
            ("select howdah.release('q', %s, %s)", (number, some)),
            ("select howdah.extend('q', %s, '20 milliseconds')", (number,)),
            ("select howdah.extend('q', %s, '20 milliseconds', %s)", (number, some)),
        ]
        for query, params in [*choice.sample(acts, 2), ("select howdah.release('q', %s)", (number,))]:
            try:
                with own.transaction(force_rollback=choice.random() < 0.1):
                    own.execute(query.encode(), params)
            except psycopg.Error as error:
                if error.sqlstate != "HD026":
                    raise

    sessions = [connect() for _ in range(4)]
    threads = [threading.Thread(target=consume, args=(own, random.Random(n))) for n, own in enumerate(sessions)]
    for thread in threads:
        thread.start()
    one(db, "select pg_terminate_backend(%s, 10000)", (sessions[0].info.backend_pid,))
    for thread in threads:
        thread.join()
    assert faults == []
    consumed = column(
        db, "select i.id from howdah.journal j, unnest(j.message_ids) i(id) where j.event = 'consumed' order by 1"
    )
    assert len(consumed) == len(set(consumed)) == 800
    assert one(db, "select count(*) from howdah.msgs") == 0
    assert lying(db)[:2] == (0, 0)


def test_a_receiver_gets_past_many_ended_leases_that_others_hold(db: Db, clock: Clock, connect: Connect) -> None:
    # The other takes 110 and lays at most as many aside until it ends, beside any that a search leased, which lie apart already.
    sent = send(db, *(str(n) for n in range(300)))
    for _ in sent:
        lease(db, seconds=10)
    clock.advance(11)
    other = connect()
    with other.transaction(force_rollback=True):
        assert [m.message_id for m in receive(other, n=110)] == sent[:110]
        (found,) = [m.message_id for m in receive(db)]
        assert found in sent[110:]
    assert [m.message_id for m in receive(db, n=999)] == [number for number in sent if number != found]
    assert lying(db) == (0, 0, 0)


def test_a_leased_message_is_looked_up_when_its_lease_has_ended_and_not_before(db: Db, clock: Clock) -> None:
    sent = [one(db, "select howdah.send('q', 'a', correlation_id => %s)", (key,)) for key in "abc"]
    number, _ = lease(db, 3, seconds=10)
    by_number = "select message_id from howdah.receive_message('q', %s)"
    by_correlation = "select message_id from howdah.receive_correlated('q', %s)"
    assert column(db, by_number, (sent[0],)) == column(db, by_correlation, ("b",)) == []
    clock.advance(11)
    assert column(db, by_number, (sent[0],)) == sent[:1]
    assert column(db, by_correlation, ("b",)) == sent[1:2]
    assert one(db, "select howdah.ack('q', %s)", (number,)) == 1
    assert column(db, "select error_class from howdah.incidents('q')") == ["LeaseExpired"] * 2


def test_the_scheduler_learns_when_the_next_lease_ends_and_wakes_who_waits(
    db: Db, clock: Clock, connect: Connect
) -> None:
    send(db, "a", "b")
    lease(db, seconds=20)
    lease(db, seconds=10)
    listening = connect()
    listening.execute("listen howdah")
    payload = one(db, "select payload from howdah.wait('q')")
    assert db.execute("select woken, next_in from howdah.wake_due(howdah.now())").fetchall() == [(0, 10.0)]
    since = one(db, "select howdah.now()")
    clock.advance(10)
    assert db.execute("select woken from howdah.wake_due(%s)", (since,)).fetchall() == [(1,)]
    assert [n.payload for n in listening.notifies(timeout=20, stop_after=1)] == [payload]


def test_expired_messages_are_reclaimed_when_their_lease_has_ended_and_not_before(db: Db, clock: Clock) -> None:
    one(db, "select howdah.send('q', 'a', time_to_live => '5 seconds')")
    (other,) = send(db, "b")
    number, _ = lease(db, 2, seconds=10)
    clock.advance(6)
    assert one(db, "select howdah.maintain_expired()") == 0
    clock.advance(6)
    assert one(db, "select howdah.maintain_expired()") == 1
    assert one(db, "select howdah.ack('q', %s)", (number,)) == 1
    assert column(db, "select i from howdah.journal j, unnest(j.message_ids) i where j.event = 'consumed'") == [other]


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


def test_a_queue_of_strict_order_stands_still_for_what_was_leased_before_it_was_one(db: Db, clock: Clock) -> None:
    sent = send(db, "a", "b")
    lease(db, seconds=10)
    one(db, """select howdah.alter_queue('q', '{"strict_order": true}')""")
    assert receive(db) == []
    clock.advance(11)
    assert [m.message_id for m in receive(db)] == sent[:1]


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


def test_a_selective_receive_lays_a_bounded_number_of_ended_leases_aside_and_the_next_goes_on(
    db: Db, clock: Clock
) -> None:
    with db.transaction():
        for _ in range(3):
            one(db, "select cardinality(howdah.send_batch('q', array(select 'x' from generate_series(1, 1000))))")
            assert len(lease(db, 1000, seconds=10)[1]) == 1000
    one(db, """select howdah.send('q', 'wanted', headers => '{"a": 1}')""")
    assert len(lease(db, 1, seconds=11)[1]) == 1
    clock.advance(20)
    parked = []
    for _ in range(9):
        got = column(db, "select body from howdah.receive('q', 1, selector => 'a = 1')")
        parked.append(lying(db)[1])
        if got:
            break
    assert got == ["wanted"]
    assert parked == [2002, 3000], "a receive that has found nothing looks twice"
    assert lying(db)[0] == 0


@pytest.mark.parametrize("verb", ["evict", "operator", "retry", "maintenance"])
def test_others_than_receives_take_no_more_of_ended_leases_than_they_want(db: Db, clock: Clock, verb: str) -> None:
    one(db, "select cardinality(howdah.send_batch('q', array(select 'x' from generate_series(1, 600))))")
    _, ids = lease(db, 600, seconds=10)
    clock.advance(20)
    if verb == "evict":
        one(db, """select howdah.alter_queue('q', '{"message_limit": 600, "limit_behaviour": "remove_oldest"}')""")
        send(db, "new")
        assert 450 < lying(db)[0] < 600
    elif verb == "operator":
        assert one(db, "select howdah.discard('q', %s)", (ids[:3],)) == 3
        assert lying(db) == (597, 0, 1)
    elif verb == "retry":
        assert one(db, "select howdah.retry('q', %s)", (ids[:3],)) == 3
        assert one(db, "select howdah.retry('q')") == 0
        assert lying(db) == (597, 0, 1)
    else:
        one(db, "select howdah.maintain_expired(null, 100)")
        assert lying(db)[:2] == (500, 100)
    assert len(receive(db, n=1000)) >= 590


@pytest.mark.parametrize("call", ["ack", "release", "nack", "extend"])
@pytest.mark.parametrize("begun", ["before the end", "after the end"])
def test_what_an_open_transaction_does_to_a_lease_that_ends_meanwhile_holds_up_a_queue_of_strict_order(
    db: Db, clock: Clock, connect: Connect, call: str, begun: str
) -> None:
    one(db, "select howdah.alter_queue('q', '{\"strict_order\": true}')")
    first, second = send(db, "1", "2")
    number, ids = lease(db, 1, 10)
    assert ids == [first]
    consumer = connect()
    clock.advance(9 if begun == "before the end" else 11)
    with consumer.transaction(force_rollback=True):
        one(consumer, f"select count(*) from howdah.{call}('q', %s)", (number,))
        clock.advance(2)
        assert receive(db, n=9) == []
    assert [m.message_id for m in receive(db, n=1)] == [first]
    assert [m.message_id for m in receive(db, n=1)] == [second]
