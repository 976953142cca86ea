"""record_failures with in_hand and settle_failures: counting a failure before anybody else can take the message."""

import psycopg
import pytest
from psycopg.types.json import Jsonb
from support import SYSTEM, Clock, Connect, Db, one, receive

RECORD = "select attempt, outcome from howdah.record_failures('q', %s, in_hand => true)"
SETTLE = "select message_id, outcome from howdah.settle_failures('q', %s, %s, %s)"


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q', '{\"max_failed_deliveries\": 2}')")


def record(db: Db, number: int) -> tuple[int, str]:
    row = db.execute(RECORD, (Jsonb([{"message_id": number}]),)).fetchone()
    assert row is not None
    return row[0], row[1]


def settle(db: psycopg.Connection, number: int) -> str:
    row = db.execute(SETTLE, ([number], [4], [number // 1_000_000])).fetchone()
    assert row is not None
    assert row[0] == number
    return str(row[1])


def test_a_failure_recorded_in_hand_says_what_settling_will_do_and_does_not_do_it(db: Db, connect: Connect) -> None:
    number = one(db, "select howdah.send('q', 'x')")
    holder = connect()
    with holder.transaction():
        holder.execute("select howdah.receive_locked('q')")
        assert record(db, number) == (1, "returned")
        assert record(db, number) == (2, "moved")
        assert [m.message_id for m in receive(db, verb="browse")] == [number]


def test_the_holder_settles_in_its_own_transaction_and_nobody_gets_the_message_in_between(
    db: Db, connect: Connect
) -> None:
    number = one(db, "select howdah.send('q', 'x')")
    holder = connect()
    with holder.transaction():
        holder.execute("select howdah.receive_locked('q')")
        record(db, number)
        record(db, number)
        assert receive(db) == []
        assert settle(holder, number) == "moved"
    assert receive(db) == []
    assert [m.message_id for m in receive(db, SYSTEM, verb="browse")] == [number]
    assert one(db, "select count(*) from howdah.msgs where message_id = %s", (number,)) == 1


def test_a_rolled_back_receiver_settles_outside(db: Db, connect: Connect, clock: Clock) -> None:
    one(db, "select howdah.alter_queue('q', '{\"redelivery_delay_ms\": 1000}')")
    number = one(db, "select howdah.send('q', 'x')")
    receiver = connect()
    with receiver.transaction(force_rollback=True):
        receiver.execute("select howdah.receive('q')")
        assert record(db, number) == (1, "delayed")
    assert settle(db, number) == "delayed"
    assert receive(db) == []
    clock.advance(1)
    assert [(m.message_id, m.delivery_count) for m in receive(db)] == [(number, 2)]


def test_settling_a_second_time_a_held_a_gone_and_an_innocent_message_does_no_harm(db: Db, connect: Connect) -> None:
    number = one(db, "select howdah.send('q', 'x')")
    assert settle(db, number) == "returned"
    holder = connect()
    with holder.transaction():
        holder.execute("select howdah.receive_locked('q')")
        assert settle(db, number) == "held"
    record(db, number)
    record(db, number)
    assert settle(db, number) == "moved"
    assert settle(db, number) == "gone"


def test_arrays_of_different_length_are_refused(db: Db) -> None:
    with pytest.raises(psycopg.DatabaseError) as refused:
        db.execute(SETTLE, ([1, 2], [4], [1]))
    assert refused.value.sqlstate == "HD005"
