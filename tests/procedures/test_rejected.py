"""Rejected messages, which are tried no more, and delays that a failure asks for."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.types.json import Jsonb
from support import SYSTEM, Clock, Connect, Db, all_refused, column, fail, one, receive

RECORD = "select attempt, outcome from howdah.record_failures('q', %s, in_hand => true)"
SETTLE = "select outcome from howdah.settle_failures('q', %s, %s, %s)"


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def send(db: Db) -> int:
    number: int = one(db, "select howdah.send('q', 'x')")
    return number


def option(db: Db, **options: object) -> None:
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb(options),))


def settle(db: psycopg.Connection, number: int) -> str:
    return str(one(db, SETTLE, ([number], [4], [number // 1_000_000])))


@pytest.mark.parametrize("limit", [5, 1, 0])
def test_a_rejected_message_is_dead_at_once_whatever_the_limit_and_its_count_is_true(db: Db, limit: int) -> None:
    option(db, max_failed_deliveries=limit)
    number = send(db)
    assert fail(db, number, reject=True)[1:] == (1, "moved")
    assert receive(db) == []
    (dead,) = receive(db, SYSTEM, verb="browse")
    assert (dead.message_id, dead.dead_reason, dead.delivery_count) == (number, "rejected by its handler", 1)
    assert db.execute("select attempt, rejected from howdah.poison_details").fetchall() == [(1, True)]


@pytest.mark.parametrize("limit", [5, 0])
def test_a_message_rejected_while_another_session_has_it_is_never_delivered_again(
    db: Db, connect: Connect, limit: int
) -> None:
    """Nor if the session that was to settle it died before it did."""
    option(db, max_failed_deliveries=limit)
    numbers = [send(db), send(db)]
    holder = connect()
    with holder.transaction(force_rollback=True):
        receive(holder, n=2)
        assert fail(db, numbers[0], reject=True)[1:] == (1, "held")
        failure = {"message_id": numbers[1], "reject": True}
        assert db.execute(RECORD, (Jsonb([failure]),)).fetchone() == (1, "moved")
    assert [m.message_id for m in receive(db, verb="browse", n=9)] == numbers
    assert [m.delivery_count for m in receive(db, verb="browse", n=9)] == [2, 2]
    assert receive(db) == receive(db, n=9) == []
    assert column(db, "select message_id from howdah.browse(%s) order by 1", (SYSTEM,)) == numbers
    assert set(column(db, "select dead_reason from howdah.browse(%s)", (SYSTEM,))) == {"rejected by its handler"}


def test_a_rejected_message_is_settled_by_its_holder_and_lost_by_nobody(db: Db, connect: Connect) -> None:
    option(db, max_failed_deliveries=0)
    number = send(db)
    holder = connect()
    with holder.transaction():
        receive(holder, verb="receive_locked")
        assert db.execute(RECORD, (Jsonb([{"message_id": number, "reject": True}]),)).fetchone() == (1, "moved")
        assert settle(holder, number) == "moved"
    assert settle(db, number) == "gone"
    assert [m.message_id for m in receive(db, SYSTEM, verb="browse")] == [number]


@pytest.mark.parametrize("hold", [False, True])
def test_a_rejected_message_of_a_queue_without_exception_destination_is_blocked_and_retried(
    db: Db, clock: Clock, hold: bool
) -> None:
    """The way of the limit there; each further failure blocks it again, and its count is true."""
    option(db, exception_mode="none", blocked_retry_ms=1000)
    number = send(db)
    assert fail(db, number, reject=True)[1:] == (1, "blocked")
    for count in (2, 3):
        assert receive(db) == []
        clock.advance(1)
        with db.transaction(force_rollback=True):
            assert [m.delivery_count for m in receive(db, verb="receive_locked" if hold else "receive")] == [count]
        assert fail(db, number)[1:] == (count, "blocked")


def test_a_rejected_message_that_is_replayed_counts_from_the_start(db: Db) -> None:
    number = send(db)
    fail(db, number, reject=True)
    assert one(db, "select howdah.replay(%s)", (SYSTEM,)) == 1
    (again,) = receive(db, verb="browse")
    assert (again.message_id, again.delivery_count, again.redelivered) == (number, 1, False)
    assert fail(db, number)[1:] == (1, "returned")


def test_the_delay_a_failure_asks_for_survives_its_recording_in_hand(db: Db, connect: Connect, clock: Clock) -> None:
    """In place of the queue's; that of the last failure counts, and 0 means at once."""
    option(db, redelivery_delay_ms=60_000)
    number = send(db)
    for attempt, (delay, outcome) in enumerate([(3000, "delayed"), (0, "returned"), (None, "delayed")], 1):
        with connect().transaction(force_rollback=True) as held:
            assert len(receive(held.connection)) == 1
            failure = {"message_id": number, "delay_ms": delay}
            assert db.execute(RECORD, (Jsonb([failure]),)).fetchone() == (attempt, outcome)
        assert settle(db, number) == outcome
        if outcome == "delayed":
            clock.advance((delay or 60_000) / 1000 - 1)
            assert receive(db) == []
            clock.advance(1)
        assert [m.delivery_count for m in receive(db, verb="receive_locked")] == [attempt + 1]


def test_a_rejection_recorded_twice_with_one_key_counts_once(db: Db) -> None:
    number = send(db)
    key = "01234567-89ab-cdef-0123-456789abcdef"
    assert fail(db, number, reject=True, failure_key=key) == fail(db, number, reject=True, failure_key=key)
    assert one(db, "select count(*) from howdah.poison_details") == 1


def test_what_is_no_truth_value_is_refused(db: Db) -> None:
    number = send(db)
    all_refused(db, [
        ("HD005", f"select howdah.record_failures('q', '[{{\"message_id\": {number}, \"reject\": {value}}}]')")
        for value in ('"perhaps"', "7", "[]")
    ])  # fmt: skip
    assert fail(db, number, reject=None)[1:] == (1, "returned")
