"""Hardened counts beside what else a queue may be: strict order, message groups, and listeners that stop."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import pytest
from policy_support import Create, begin, ids, receive_attempt, send
from psycopg.types.json import Jsonb
from support import SYSTEM, Clock, Connect, Db, column, fail, one, refused


def attempts(db: Db) -> list[int]:
    return column(db, "select message_id from howdah.attempts order by 1")


def die(session: Db, message_id: int) -> None:
    """Begin an attempt at the message, take it, and roll back without a word.

    The session lives: for ten seconds its attempt is in doubt.
    """
    ((attempt, found),) = begin(session)
    assert found == message_id
    with session.transaction(force_rollback=True):
        assert receive_attempt(session, attempt) == 1


def test_in_strict_order_one_attempt_is_begun_at_a_time_and_none_beside_a_handler(
    db: Db, create: Create, connect: Connect, clock: Clock
) -> None:
    create(backout_count="hardened", strict_order=True)
    first, second = send(db), send(db)
    other = connect()
    ((attempt, found),) = begin(db, 9)
    assert found == first
    assert begin(other, 9) == [], "the first one is reserved, and nothing overtakes it"
    clock.advance(1.1)
    with db.transaction():
        assert receive_attempt(db, attempt) == 1
        assert begin(other, 9) == []
    ((attempt, found),) = begin(other, 9)
    assert found == second
    assert receive_attempt(other, attempt) == 1


def test_in_strict_order_an_attempt_that_is_late_takes_nothing_and_does_not_count(
    db: Db, create: Create, connect: Connect, clock: Clock
) -> None:
    create(backout_count="hardened", strict_order=True)
    first, second = send(db), send(db)
    late = connect()
    ((missed, _),) = begin(late)
    clock.advance(1.1)
    ((attempt, found),) = begin(db)
    assert found == first
    with db.transaction():
        assert receive_attempt(db, attempt) == 1
        assert receive_attempt(late, missed) == 0, "another consumer is at work"
    assert attempts(db) == []
    die(db, second)


def test_in_strict_order_deaths_count_and_the_message_goes_before_its_successor_is_begun(
    db: Db, create: Create, clock: Clock
) -> None:
    create(backout_count="hardened", strict_order=True, max_failed_deliveries=2)
    poison, fine = send(db), send(db)
    for _ in range(2):
        die(db, poison)
        clock.advance(10.1)
    die(db, fine)
    assert ids(db, SYSTEM) == [poison]


def test_in_strict_order_a_delayed_message_holds_attempts_up(db: Db, create: Create, clock: Clock) -> None:
    create(backout_count="hardened", strict_order=True, redelivery_delay_ms=5000)
    first = send(db)
    send(db)
    ((attempt, _),) = begin(db)
    assert fail(db, first, failure_key=attempt)[2] == "delayed"
    assert begin(db) == []
    clock.advance(5)
    die(db, first)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{"strict_order": True}, {"message_groups": "transaction"}], ids=["strict", "group"]
)
def test_sessions_that_race_for_attempts_handle_messages_in_their_order(
    db: Db, create: Create, connect: Connect, options: dict[str, Any]
) -> None:
    create(backout_count="hardened", **options)
    sent = [send(db, headers=Jsonb({"JMSXGroupID": "g"})) for _ in range(40)]
    db.execute("create table handled (n serial, message_id bigint)")

    def consume(session: Db) -> None:
        while column(session, "select 1 from howdah.browse('q')"):
            for attempt, message_id in begin(session):
                with session.transaction():
                    if receive_attempt(session, attempt):
                        session.execute("insert into handled (message_id) values (%s)", (message_id,))

    with ThreadPoolExecutor() as pool:
        list(pool.map(consume, [connect() for _ in range(4)]))
    assert column(db, "select message_id from handled order by n") == sent
    assert attempts(db) == []


def test_of_a_group_one_message_is_attempted_at_a_time_and_other_groups_go_on(
    db: Db, create: Create, connect: Connect, clock: Clock
) -> None:
    create(backout_count="hardened", message_groups="transaction")
    a1, a2, b1 = (send(db, headers=Jsonb({"JMSXGroupID": group})) for group in "aab")
    other = connect()
    ((attempt, found),) = begin(db)
    assert found == a1
    ((of_b, found),) = begin(other, 9)
    assert found == b1, "the second of group a is not begun beside the first"
    clock.advance(1.1)
    with db.transaction():
        assert receive_attempt(db, attempt) == 1
        assert receive_attempt(other, of_b) == 1
        assert begin(other, 9) == [], "the group is in hand"
    die(other, a2)


def test_deaths_of_a_groups_consumers_count_for_its_first_message(db: Db, create: Create, clock: Clock) -> None:
    create(backout_count="hardened", message_groups="transaction", max_failed_deliveries=2)
    poison, after = (send(db, headers=Jsonb({"JMSXGroupID": "a"})) for _ in range(2))
    for _ in range(2):
        die(db, poison)
        clock.advance(10.1)
    die(db, after)
    assert ids(db, SYSTEM) == [poison]


def begin_as(db: Db, number: int = 1) -> list[tuple[UUID, int]]:
    query = "select attempt, message_id from howdah.begin_attempts_as('l', %s)"
    return [tuple(row) for row in db.execute(query, (number,))]


def take_as(db: Db, attempt: UUID) -> list[int]:
    return column(db, "select delivery_count from howdah.receive_attempt_as('l', %s)", (attempt,))


@pytest.fixture
def listener(db: Db, create: Create) -> None:
    create(backout_count="hardened", max_failed_deliveries=5)
    options = Jsonb({"sequential_failures": 2, "max_sessions": 1})
    assert "stops at failure 2" in one(db, "select howdah.create_listener('l', 'q', %s)", (options,))


def test_a_listener_of_a_hardened_queue_counts_stops_and_goes_on_when_resumed(
    db: Db, listener: None, clock: Clock
) -> None:
    sent = send(db)
    refused(db, "HD019", "select howdah.receive_as('l')")
    for status in ("running", "stopped"):
        ((attempt, found),) = begin_as(db)
        assert found == sent
        with db.transaction(force_rollback=True):
            assert len(take_as(db, attempt)) == 1
        failure = Jsonb([{"message_id": sent, "failure_key": str(attempt)}])
        assert one(db, "select listener_status from howdah.record_failures_as('l', %s)", (failure,)) == status
    assert begin_as(db) == []
    one(db, "select howdah.resume_listener('l')")
    ((attempt, _),) = begin_as(db)
    with db.transaction():
        assert take_as(db, attempt) == [3]
        db.execute("select howdah.handled_as('l')")
    assert attempt not in column(db, "select attempt_id from howdah.attempts"), "it went with its message"
    assert one(db, "select failures from howdah.list_listeners('l')") == 0


def test_a_listener_has_no_more_handlers_at_work_than_sessions(
    db: Db, listener: None, connect: Connect, clock: Clock
) -> None:
    send(db)
    second = send(db)
    other = connect("howdah_consumer")
    ((attempt, _),) = begin_as(db)
    ((waiting, found),) = begin_as(other)
    assert found == second
    with db.transaction():
        assert len(take_as(db, attempt)) == 1
        assert begin_as(other) == []
        assert take_as(other, waiting) == []
    assert attempts(db) == [], "an attempt for which there was no session does not count"
    ((attempt, found),) = begin_as(other)
    assert (found, take_as(other, attempt)) == (second, [1])


def test_an_attempt_begun_before_the_listener_stopped_takes_nothing_and_does_not_count(db: Db, listener: None) -> None:
    sent = send(db)
    ((attempt, _),) = begin_as(db)
    one(db, "select howdah.stop_listener('l')")
    assert take_as(db, attempt) == []
    assert attempts(db) == []
    one(db, "select howdah.resume_listener('l')")
    ((attempt, found),) = begin_as(db)
    assert (found, take_as(db, attempt)) == (sent, [1])


def test_attempts_through_a_listener_need_a_listener_and_the_queues_right(
    db: Db, listener: None, connect: Connect
) -> None:
    send(db)
    for call in ("begin_attempts_as('nobody')", f"receive_attempt_as('nobody', '{uuid4()}')"):
        refused(db, "HD020", f"select howdah.{call}")
    refused(db, "HD022", f"select howdah.receive_attempt_as('l', '{uuid4()}')")
    refused(connect("howdah_producer"), "42501", "select howdah.begin_attempts_as('l')")
    one(db, "select howdah.revoke_queue('q', 'receive', 'howdah_consumer')")
    for call in ("begin_attempts_as('l')", f"receive_attempt_as('l', '{uuid4()}')"):
        refused(connect("howdah_consumer"), "HD010", f"select howdah.{call}")
