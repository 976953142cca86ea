"""Sessions at once take, extend and acknowledge leases that end, and each message is consumed once."""

from __future__ import annotations

import random
import threading
from typing import Any

import psycopg
import pytest
from lease_tables_support import hold_up, lease, lying, send
from support import Clock, Connect, Db, column, one, receive


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 3}')""")


def behind_the_hold(db: Db, calls: int, receiver: Any, meanwhile: Any) -> list[Any]:
    """Run a receiver up to the hold, then something else, then the receiver to its end, its transaction open."""
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


@pytest.mark.first_case
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


@pytest.mark.first_case
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


@pytest.mark.slow
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
                (
                    "select exists (select from howdah.msgs) or exists (select from howdah.leased)"
                    " or exists (select from howdah.parked)"
                ),
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
    # The other takes 110 and lays at most as many aside until it ends, beside any that a search leased, which lie apart
    # already.
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
