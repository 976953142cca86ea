"""Three kinds of count: volatile, recorded, hardened, where attempts are on record before their handlers start."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from policy_support import (
    Create,
    begin,
    ids,
    outcomes,
    receive_attempt,
    send,
)
from support import SYSTEM, Clock, Connect, Db, column, fail, one, receive, refused


@pytest.mark.behaviour("WAS-45")
def test_a_volatile_count_is_readable_while_the_server_runs(db: Db, create: Create) -> None:
    create(backout_count="volatile")
    send(db)
    outcomes(db, 2)
    assert [message.delivery_count for message in receive(db)] == [3]


def test_a_hardened_queue_counts_consumers_that_only_roll_back(db: Db, create: Create, clock: Clock) -> None:
    create(backout_count="hardened", max_failed_deliveries=3)
    sent = send(db)
    refused(db, "HD019", "select howdah.receive('q')")
    refused(db, "HD019", "select howdah.receive_locked('q')")
    counts = []
    for _ in range(3):
        ((attempt, message_id),) = begin(db)
        assert message_id == sent
        with db.transaction(force_rollback=True):
            query = "select delivery_count from howdah.receive_attempt('q', %s)"
            counts += column(db, query, (attempt,))
        clock.advance(1.1)
    assert counts == [1, 2, 3]
    assert begin(db) == []
    assert ids(db, SYSTEM) == [sent]


def test_an_attempt_and_its_incident_are_one_failure(db: Db, create: Create, clock: Clock) -> None:
    create(backout_count="hardened", max_failed_deliveries=2)
    sent = send(db)
    ((attempt, _),) = begin(db)
    assert fail(db, sent, failure_key=attempt)[1:] == (1, "returned")
    ((attempt, _),) = begin(db)
    assert fail(db, sent, failure_key=attempt)[1:] == (2, "moved")


def test_an_attempt_must_be_committed_and_ends_with_its_message(db: Db, create: Create, clock: Clock) -> None:
    create(backout_count="hardened")
    send(db)
    with db.transaction():
        ((attempt, _),) = begin(db)
        refused(db, "HD022", "select howdah.receive_attempt('q', %s)", (attempt,))
    clock.advance(1.1)
    ((attempt, _),) = begin(db)
    assert receive_attempt(db, attempt) == 1
    refused(db, "HD022", "select howdah.receive_attempt('q', %s)", (attempt,))
    refused(db, "HD022", "select howdah.receive_attempt('q', %s)", (uuid4(),))
    assert one(db, "select consumed from howdah.queue_stats('q')") == 1


def test_two_sessions_begin_attempts_at_different_messages(db: Db, create: Create, connect: Connect) -> None:
    create(backout_count="hardened")
    first, second = send(db), send(db)
    assert [message_id for _, message_id in begin(db)] == [first]
    assert [message_id for _, message_id in begin(connect())] == [second]


@pytest.mark.parametrize("number", [None, 0, 10001])
def test_attempts_begin_at_one_to_ten_thousand_messages(db: Db, create: Create, number: int | None) -> None:
    create(backout_count="hardened")
    send(db)
    begin(db)
    refused(db, "HD005", "select howdah.begin_attempts('q', %s)", (number,))


def test_a_message_at_its_last_attempt_is_not_taken_from_who_has_begun_it(
    db: Db, create: Create, connect: Connect
) -> None:
    create(backout_count="hardened", max_failed_deliveries=1)
    sent = send(db)
    ((attempt, message_id),) = begin(db)
    assert begin(connect()) == []
    assert message_id == sent
    assert receive_attempt(db, attempt) == 1


def test_sessions_that_race_for_messages_see_no_failure_where_there_is_none(
    db: Db, create: Create, connect: Connect
) -> None:
    create(backout_count="hardened", max_failed_deliveries=2)
    one(db, "select howdah.send_batch('q', array_fill('x'::text, array[200]))")

    def consume(session: Db) -> list[int]:
        counts = []
        while attempts := begin(session):
            for attempt, _ in attempts:
                found = session.execute("select delivery_count from howdah.receive_attempt('q', %s)", (attempt,))
                counts += [count for (count,) in found]
        return counts

    with ThreadPoolExecutor() as pool:
        counts = [count for done in pool.map(consume, [connect() for _ in range(4)]) for count in done]
    assert counts == [1] * 200


def test_attempts_are_forgotten_once_their_messages_are_gone(db: Db, create: Create, clock: Clock) -> None:
    create(backout_count="hardened")
    purged, handled, kept = send(db), send(db), send(db)
    assert [message_id for _, message_id in begin(db)] == [purged]
    ((attempt, _),) = begin(db)
    assert receive_attempt(db, attempt) == 1
    assert handled not in column(db, "select message_id from howdah.attempts"), "it went with its message"
    assert [message_id for _, message_id in begin(db)] == [kept]
    assert one(db, "select howdah.discard('q', %s)", ([purged],)) == 1
    assert one(db, "select howdah.maintain_attempts()") == 0, "they are young"
    clock.advance(61)
    assert one(db, "select howdah.maintain_attempts()") == 1
    assert column(db, "select message_id from howdah.attempts") == [kept]
    refused(db, "HD005", "select howdah.maintain_attempts(null, 0)")
