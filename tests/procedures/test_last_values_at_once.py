"""Sessions that send, receive and maintain one key at once leave its last value, and wait for no receiver."""

from __future__ import annotations

import threading

import psycopg
import pytest
from last_values_support import BODIES, DISCARDED, KEY, quote
from policy_support import Create
from psycopg.types.json import Jsonb
from support import (
    Clock,
    Connect,
    Db,
    column,
    measured,
    one,
    receive,
    wait_until_blocked,
)


def test_a_sender_does_not_wait_for_a_receiver_and_what_comes_back_goes_with_the_next_send(
    db: Db, create: Create, connect: Connect
) -> None:
    create(last_value_key=KEY)
    first = quote(db, "IBM", "1")
    receiver = connect()
    db.execute("set lock_timeout = '1s'")
    with receiver.transaction(force_rollback=True):
        assert [m.message_id for m in receive(receiver)] == [first]
        second = quote(db, "IBM", "2")
        third = quote(db, "IBM", "3")
        assert column(db, DISCARDED) == [second]
    assert sorted(column(db, BODIES)) == ["1", "3"]
    quote(db, "IBM", "4")
    assert column(db, BODIES) == ["4"]
    assert sorted(column(db, DISCARDED)) == [first, second, third]


def test_a_message_that_comes_back_while_it_is_looked_for_is_replaced(db: Db, create: Create, connect: Connect) -> None:
    create(last_value_key=KEY)
    quote(db, "IBM", "1")
    lease = one(db, "select lease from howdah.lease('q', 1, interval '1 minute', $$true$$)")
    reader, sender = connect(), connect()
    with reader.transaction():
        reader.execute("lock table howdah.parked in access exclusive mode")
        thread = threading.Thread(target=quote, args=(sender, "IBM", "2"))
        thread.start()
        wait_until_blocked(db, sender)  # it has not found the message among those that are ready
        one(reader, "select howdah.release('q', %s)", (lease,))
    thread.join()
    quote(db, "IBM", "3")
    assert column(db, BODIES) == ["3"]


def test_senders_of_one_key_wait_for_each_other_and_leave_the_last_that_committed(
    db: Db, create: Create, connect: Connect
) -> None:
    create(last_value_key=KEY)
    quote(db, "IBM", "0")
    one_sender, other = connect(), connect()
    with one_sender.transaction():
        quote(one_sender, "IBM", "1")
        quote(other, "SUN", "of another key")
        thread = threading.Thread(target=quote, args=(other, "IBM", "2"))
        thread.start()
        wait_until_blocked(db, other)
    thread.join()
    assert sorted(column(db, BODIES)) == ["2", "of another key"]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("waits", [True, False])
def test_a_sender_with_an_older_snapshot_is_refused(
    db: Db, create: Create, connect: Connect, known: bool, waits: bool
) -> None:
    create(last_value_key=KEY)
    if known:
        quote(db, "IBM", "0")
    late, other = connect(), connect()
    late.execute("begin isolation level repeatable read; select 1")
    other.execute("begin")
    quote(other, "IBM", "1")
    errors: list[BaseException] = []

    def send() -> None:
        try:
            quote(late, "IBM", "2")
        except psycopg.errors.SerializationFailure as error:
            errors.append(error)

    thread = threading.Thread(target=send)
    if waits:
        thread.start()
        wait_until_blocked(db, late)
        other.commit()
    else:
        other.commit()
        thread.start()
    thread.join()
    late.rollback()
    assert len(errors) == 1
    assert column(db, BODIES) == ["1"]


def test_many_senders_and_receivers_of_a_few_keys_leave_one_each(db: Db, create: Create, connect: Connect) -> None:
    create(last_value_key=KEY, journal_level="full")
    errors: list[BaseException] = []

    def run(session: Db, number: int) -> None:
        try:
            for step in range(40):
                with session.transaction(force_rollback=(step + number) % 7 == 0):
                    if number == 0:
                        receive(session, n=2)
                    else:
                        quote(session, f"k{(step * number) % 3}", f"{number}.{step}")
        except psycopg.Error as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(connect(), number)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    for key in range(3):
        quote(db, f"k{key}", "last")
    assert column(db, BODIES) == ["last"] * 3
    assert (
        one(
            db,
            "select count(*) filter (where event = 'sent') - count(*) filter (where event in ('consumed', 'discarded'))"
            " from howdah.audit_journal",
        )
        == 3
    )


def test_a_batch_with_a_key_several_times_locks_its_keys_in_order_too(db: Db, create: Create, connect: Connect) -> None:
    create(last_value_key=KEY)
    first, second = column(db, "select k from unnest(array['a', 'b']) k order by howdah._value_key(%s, k)", (KEY,))
    holder, batch, other = connect(), connect(), connect()
    headers = [Jsonb({KEY: key}) for key in (second, first, second)]
    send_batch = ("select howdah.send_batch('q', array['1', '2', '3'], headers => %s)", (headers,))
    with holder.transaction():
        quote(holder, second, "0")
        threads = [threading.Thread(target=one, args=(batch, *send_batch))]
        threads[0].start()
        wait_until_blocked(db, batch)
        threads.append(threading.Thread(target=quote, args=(other, first, "4")))
        threads[1].start()
        wait_until_blocked(db, other)
    for thread in threads:
        thread.join()
    assert sorted(column(db, BODIES)) == ["3", "4"]


def test_a_send_costs_the_same_however_many_were_replaced_under_an_old_snapshot(
    db: Db, create: Create, connect: Connect
) -> None:
    create(last_value_key=KEY)
    send = "select howdah.send('q', 'x', headers => '{\"stock\": \"IBM\"}')"
    replace = f"do $$ begin for i in 1..400 loop perform ({send}); commit; end loop; end $$"
    one(db, send)
    snapshot = connect()
    snapshot.execute("begin isolation level repeatable read; select 1")
    before = [measured(db, send)["Shared Hit Blocks"] for _ in range(9)]
    db.execute(replace.encode())
    after = [measured(db, send)["Shared Hit Blocks"] for _ in range(9)]
    snapshot.rollback()
    assert sorted(after)[4] < sorted(before)[4] + 100, (before, after)
    assert column(db, BODIES) == ["x"]


def test_maintenance_leaves_a_key_that_somebody_sends_and_one_that_was_sent_meanwhile(
    db: Db, create: Create, clock: Clock, connect: Connect
) -> None:
    create(last_value_key=KEY)
    quote(db, "IBM", "1")
    receive(db)
    clock.advance(3601)
    sender = connect()
    with sender.transaction():
        quote(sender, "IBM", "2")
        one(db, "select howdah.maintain_deduplications()")
    quote(db, "IBM", "3")
    one(db, "select howdah.maintain_deduplications()")
    quote(db, "IBM", "4")
    assert column(db, BODIES) == ["4"]
