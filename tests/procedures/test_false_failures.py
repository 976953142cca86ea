"""Failures that never were: what is refused, what is recorded and does not count, and who is still believed."""

from __future__ import annotations

from uuid import uuid4

import pytest
from policy_support import Create, alter, begin, ids, receive_attempt, send
from psycopg.types.json import Jsonb
from support import SYSTEM, Clock, Connect, Db, column, deliver_and_fail, fail, one, receive, refused

RECORD = "select outcome from howdah.record_failure('q', %s)"
RECORD_KEY = "select outcome from howdah.record_failure('q', %s, failure_key => %s)"


def rejected(message: int, **more: object) -> Jsonb:
    """What records a failure by which the message would die at once."""
    return Jsonb([{"message_id": message, "reject": True, "delay_ms": 60000} | more])


def incidents(db: Db) -> list[tuple[object, ...]]:
    return db.execute(
        "select outcome, uncounted, rejected, due_at is null from howdah.poison_details order by incident_id"
    ).fetchall()


@pytest.fixture
def hardened(db: Db, create: Create) -> int:
    """A hardened queue with one message."""
    create(backout_count="hardened", max_failed_deliveries=2)
    return send(db)


def test_a_failure_of_a_hardened_queue_without_an_attempt_is_refused(db: Db, connect: Connect, hardened: int) -> None:
    refused(db, "HD022", RECORD, (hardened,))
    refused(db, "HD022", RECORD_KEY, (hardened, uuid4()))
    for in_hand in (False, True):
        refused(db, "HD022", "select howdah.record_failures('q', %s, %s)", (rejected(hardened), in_hand))
    ((attempt, _),) = begin(db)
    stranger = connect("howdah_consumer")
    refused(stranger, "HD022", RECORD, (hardened,))
    refused(connect("howdah_producer"), "42501", RECORD_KEY, (hardened, attempt))
    assert incidents(db) == []
    assert receive_attempt(db, attempt) == 1


def test_an_attempt_fails_once_whoever_records_it(db: Db, connect: Connect, hardened: int) -> None:
    ((attempt, _),) = begin(db)
    with db.transaction(force_rollback=True):
        assert receive_attempt(db, attempt) == 1
    supervisor = connect("howdah_consumer")
    first = supervisor.execute(
        "select incident_id, outcome from howdah.record_failure('q', %s, failure_key => %s)", (hardened, attempt)
    ).fetchall()
    assert [outcome for _, outcome in first] == ["returned"]
    assert fail(db, hardened, failure_key=attempt)[0] == first[0][0], "a repetition tells what was recorded"
    refused(db, "HD022", RECORD, (hardened,))
    other = send(db)
    refused(db, "HD022", RECORD, (other,))
    assert len(incidents(db)) == 1


def test_an_attempt_of_another_message_or_stage_or_one_taken_back_proves_nothing(
    db: Db, clock: Clock, hardened: int
) -> None:
    other = send(db)
    ((attempt, _), (of_other, _)) = begin(db, 2)
    refused(db, "HD022", RECORD_KEY, (hardened, of_other))
    assert one(db, "select howdah.cancel_attempt('q', %s)", (of_other,))
    refused(db, "HD022", RECORD_KEY, (other, of_other))
    for _ in range(2):
        clock.advance(11)
        begin(db)
    clock.advance(11)
    begin(db)
    assert hardened in ids(db, SYSTEM)
    one(db, "select howdah.replay(%s, array[%s]::bigint[])", (SYSTEM, hardened))
    assert hardened in ids(db, "q")
    refused(db, "HD022", RECORD_KEY, (hardened, attempt))


def test_a_slow_consumer_of_a_hardened_queue_needs_no_key_in_its_own_session(
    db: Db, clock: Clock, hardened: int
) -> None:
    begin(db)
    clock.advance(3600)
    assert fail(db, hardened)[1:] == (1, "returned")
    assert one(db, "select count(*) from howdah.poison_details where failure_key is not null") == 1


def test_a_failure_of_a_message_that_left_a_hardened_queue_counts_for_nothing(db: Db, create: Create) -> None:
    create(backout_count="hardened", disable_after=1)
    sent = send(db)
    ((attempt, _),) = begin(db)
    assert receive_attempt(db, attempt) == 1
    assert fail(db, sent, failure_key=attempt)[2] == "gone"
    assert fail(db, sent + 1_000_000)[2] == "gone"
    assert incidents(db) == [("gone", True, False, True)] * 2
    assert begin(db) == [], "the queue is not disabled"


def test_what_a_lease_had_before_its_queue_was_hardened_is_given_back_as_failed(db: Db, create: Create) -> None:
    create()
    sent = send(db)
    lease = one(db, "select min(lease) from howdah.lease('q')")
    alter(db, backout_count="hardened")
    assert column(db, "select outcome from howdah.nack('q', %s)", (lease,)) == ["returned"]
    assert incidents(db) == [("returned", False, False, True)]
    assert ids(db, "q") == [sent]


@pytest.mark.parametrize("in_hand", [False, True])
@pytest.mark.parametrize("kind", ["main lane", "parked", "subscription"])
def test_a_failure_of_a_message_under_a_lease_counts_for_nothing(
    db: Db, connect: Connect, create: Create, kind: str, in_hand: bool
) -> None:
    queue = "q"
    if kind == "subscription":
        one(db, "select howdah.create_topic('t')")
        queue = one(db, "select howdah.subscribe('t', 's', shared => true)")
        one(db, "select howdah.alter_queue(%s, %s)", (queue, Jsonb({"max_failed_deliveries": 2, "disable_after": 2})))
        one(db, "select howdah.send('t', 'x')")
    else:
        create(max_failed_deliveries=2, disable_after=2)
        send(db, priority=5 if kind == "parked" else 4)
    lease, sent = db.execute("select lease, message_id from howdah.lease(%s)", (queue,)).fetchone() or (0, 0)
    stranger = connect("howdah_consumer")
    for _ in range(5):
        record = "select outcome from howdah.record_failures(%s, %s, %s)"
        assert column(stranger, record, (queue, rejected(sent), in_hand)) == ["held"]
    assert incidents(db) == [("held", True, False, True)] * 5
    assert one(db, "select howdah.release(%s, %s)", (queue, lease)) == 1
    assert [message.message_id for message in receive(stranger, queue)] == [sent], (
        "neither buried nor delayed nor disabled"
    )


def test_after_the_end_of_its_lease_a_consumer_is_believed_again(db: Db, create: Create, clock: Clock) -> None:
    create(max_failed_deliveries=5)
    sent = send(db)
    lease = one(db, "select min(lease) from howdah.lease('q')")
    assert column(db, "select outcome from howdah.nack('q', %s)", (lease,)) == ["returned"]
    refused(db, "HD026", "select howdah.nack('q', %s)", (lease,))
    one(db, "select min(lease) from howdah.lease('q')")
    clock.advance(31)
    assert fail(db, sent)[2] == "returned"
    assert deliver_and_fail(db)[1] == "returned"
    assert [uncounted for _, uncounted, *_ in incidents(db)] == [False] * 3


def test_a_failure_under_a_lease_stops_no_listener(db: Db, create: Create) -> None:
    create()
    one(db, "select howdah.create_listener('l', 'q')")
    sent = send(db)
    lease = one(db, "select min(lease) from howdah.lease('q')")
    record = "select outcome, listener_status from howdah.record_failures_as('l', %s)"
    assert db.execute(record, (rejected(sent),)).fetchall() == [("held", "running")]
    assert one(db, "select howdah.release('q', %s)", (lease,)) == 1
    assert db.execute(record, (rejected(sent),)).fetchall() == [("moved", "stopped")]
