"""A delayed message comes when it is due."""

from datetime import timedelta

import pytest
from support import (
    Clock,
    Connect,
    Db,
    column,
    deliver_and_fail,
    one,
    receive,
)


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def send(db: Db, queue: str = "q", body: str = "x") -> int:
    number: int = one(db, "select howdah.send(%s, %s)", (queue, body))
    return number


def test_a_message_sent_with_a_delay_comes_on_time(db: Db, clock: Clock) -> None:
    one(db, "select howdah.send('q', 'late', delay => '10 s')")
    on_time = send(db)
    assert [m.message_id for m in receive(db, n=9)] == [on_time]
    assert receive(db, verb="browse") == []
    clock.advance(9.999)
    assert receive(db) == []
    clock.advance(0.001)
    with db.transaction(force_rollback=True):
        assert [m.body for m in receive(db)] == ["late"]
    (late,) = receive(db)
    assert (late.delivery_count, late.redelivered) == (1, False)


def test_a_queues_redelivery_delay_and_a_calls_own_hold_a_failed_message_back(db: Db, clock: Clock) -> None:
    one(db, """select howdah.alter_queue('q', '{"redelivery_delay_ms": 1500}')""")
    send(db)
    assert deliver_and_fail(db) == (1, "delayed")
    assert one(db, "select due_at from howdah.audit_messages") == clock.now + timedelta(milliseconds=1500)
    clock.advance(1.5)
    assert deliver_and_fail(db, delay=timedelta(hours=1)) == (2, "delayed")
    assert one(db, "select due_at from howdah.audit_messages") == clock.now + timedelta(hours=1)
    clock.advance(3600)
    assert deliver_and_fail(db, delay=timedelta(0)) == (3, "returned")
    assert receive(db)[0].delivery_count == 4


def test_a_delayed_message_of_higher_priority_and_a_non_persistent_one_wait_like_any_other(
    db: Db, clock: Clock
) -> None:
    one(db, "select howdah.send('q', 'a', delay => '1 s', priority => 9, delivery_mode => 'non-persistent')")
    one(db, "select howdah.send('q', 'b', delay => '1 s', time_to_live => '1 s')")
    send(db, body="c")
    assert [m.body for m in receive(db, n=9)] == ["c"]
    clock.advance(1)
    assert [m.body for m in receive(db, n=9)] == ["a"]
    assert "expired" in column(db, "select event from howdah.audit_journal")


def test_two_receivers_share_the_messages_that_are_due(db: Db, connect: Connect, clock: Clock) -> None:
    ids = one(db, "select howdah.send_batch('q', array['a', 'b', 'c', 'd'], delay => '1 s')")
    clock.advance(1)
    other = connect()
    with db.transaction(), other.transaction():
        first, second = receive(db, n=2), receive(other, n=2)
    assert sorted(m.message_id for m in first + second) == ids
