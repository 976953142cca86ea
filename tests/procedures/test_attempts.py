"""Three kinds of count: volatile, recorded, hardened, where attempts are on record before their handlers start."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from policy_support import (
    Create,
    alter,
    begin,
    ids,
    outcomes,
    receive_attempt,
    send,
)
from support import (
    SYSTEM,
    Clock,
    Connect,
    Db,
    column,
    fail,
    one,
    receive,
    refused,
)


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
    clock.advance(10)
    assert begin(db) == []
    assert ids(db, SYSTEM) == [sent]


def test_an_attempt_and_its_incident_are_one_failure(db: Db, create: Create, clock: Clock) -> None:
    create(backout_count="hardened", max_failed_deliveries=2)
    sent = send(db)
    ((attempt, _),) = begin(db)
    assert fail(db, sent, failure_key=attempt)[1:] == (1, "returned")
    ((attempt, _),) = begin(db)
    assert fail(db, sent, failure_key=attempt)[1:] == (2, "moved")


@pytest.mark.parametrize("count", ["recorded", "volatile"])
def test_in_a_queue_that_is_not_hardened_an_attempt_counts_with_its_incident(
    db: Db, create: Create, count: str
) -> None:
    create(backout_count=count, max_failed_deliveries=2)
    sent = send(db)
    for attempts_before, outcome in enumerate(("returned", "moved")):
        ((attempt, _),) = begin(db)
        assert fail(db, sent, failure_key=attempt)[1:] == (attempts_before + 1, outcome)


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


@pytest.mark.parametrize("number", [None, 0, 10001])
def test_attempts_begin_at_one_to_ten_thousand_messages(db: Db, create: Create, number: int | None) -> None:
    create(backout_count="hardened")
    send(db)
    begin(db)
    refused(db, "HD005", "select howdah.begin_attempts('q', %s)", (number,))


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


def test_no_attempt_is_received_that_a_savepoint_undid_or_that_one_of_this_transaction_made(
    db: Db, create: Create
) -> None:
    create(backout_count="hardened")
    send(db)
    query = "select howdah.receive_attempt('q', %s)"
    with db.transaction():
        with db.transaction(force_rollback=True):
            ((undone, _),) = begin(db)
        refused(db, "HD022", query, (undone,))
        with db.transaction():
            ((released, _),) = begin(db)
            refused(db, "HD022", query, (released,))
        refused(db, "HD022", query, (released,))
    assert receive_attempt(db, released) == 1


def test_an_attempt_gives_no_message_of_a_queue_that_is_paused_or_disabled(
    db: Db, create: Create, clock: Clock
) -> None:
    create(backout_count="hardened", disable_after=1)
    send(db)
    ((attempt, _),) = begin(db)
    one(db, "select howdah.pause('q')")
    refused(db, "HD009", "select howdah.receive_attempt('q', %s)", (attempt,))
    one(db, "select howdah.resume('q')")
    other = send(db)
    ((of_other, _),) = begin(db)
    fail(db, other, failure_key=of_other)
    refused(db, "HD016", "select howdah.receive_attempt('q', %s)", (attempt,))
    one(db, "select howdah.resume('q')")
    assert receive_attempt(db, attempt) == 1


def test_an_attempt_at_a_message_that_expired_or_was_parked_is_void_and_does_not_count(
    db: Db, create: Create, clock: Clock
) -> None:
    create(backout_count="hardened")
    send(db, time_to_live=timedelta(seconds=5))
    parked = send(db)
    attempts = [attempt for attempt, _ in begin(db, 2)]
    clock.advance(5)
    one(db, "select howdah.park_messages('q', %s)", ([parked],))
    assert [receive_attempt(db, attempt) for attempt in attempts] == [0, 0]
    assert column(db, "select message_id from howdah.attempts") == []
    one(db, "select howdah.retry('q')")
    ((attempt, message_id),) = begin(db)
    assert message_id == parked
    assert column(db, "select delivery_count from howdah.receive_attempt('q', %s)", (attempt,)) == [1]
    assert one(db, "select expired from howdah.queue_stats('q')") == 1


def test_the_setting_of_begin_attempts_made_by_hand_opens_and_hides_nothing(db: Db, create: Create) -> None:
    create(backout_count="hardened", max_failed_deliveries=1)
    sent = send(db)
    db.execute("select set_config('howdah.attempting', 'yes', false)")
    refused(db, "HD019", "select howdah.receive('q')")
    refused(db, "HD019", "select howdah.receive_locked('q') /* begin_attempts(text,integer,uuid) line 1 */")
    db.execute(
        "create function public.begin_attempts() returns setof howdah.message language plpgsql as"
        " 'begin return query select * from howdah.receive(''q''); end'"
    )
    refused(db, "HD019", "select public.begin_attempts()")
    line = "PL/pgSQL function begin_attempts(text,integer,uuid) line 1 "
    refused(db, "HD019", f"do $$ begin execute E'select from /*\\n{line}*/ howdah.receive(''q'')'; end $$")
    ((attempt, _),) = begin(db)
    with db.transaction(force_rollback=True):
        begin(db)
        assert one(db, "select current_setting('howdah.attempting')") == "", "the secret is not left behind"
    db.execute("select set_config('howdah.attempting', 'yes', false)")
    with db.transaction(force_rollback=True):
        query = "select delivery_count from howdah.receive_attempt('q', %s)"
        assert column(db, query, (attempt,)) == [1]
    assert fail(db, sent, failure_key=attempt)[1:] == (1, "moved")


def test_an_attempt_is_cancelled_once_and_not_after_its_failure_was_recorded(db: Db, create: Create) -> None:
    create(backout_count="hardened")
    sent = send(db)
    cancel = "select howdah.cancel_attempt('q', %s)"
    ((attempt, _),) = begin(db)
    assert [one(db, cancel, (attempt,)) for _ in range(2)] == [True, False]
    ((attempt, _),) = begin(db)
    assert fail(db, sent, failure_key=attempt)[1:] == (1, "returned")
    assert not one(db, cancel, (attempt,))


def test_the_last_stage_of_a_message_is_attempted_moved_and_replayed_like_others(
    db: Db, create: Create, clock: Clock
) -> None:
    create(backout_count="hardened", max_failed_deliveries=1)
    create("aside")
    sent = send(db)
    db.execute("update howdah.msgs set stage = 32767")
    ((attempt, _),) = begin(db)
    with db.transaction(force_rollback=True):
        assert receive_attempt(db, attempt) == 1
    assert fail(db, sent, failure_key=attempt)[1:] == (1, "moved")
    assert one(db, f"select howdah.move_messages('{SYSTEM}', %s, 'aside')", ([sent],)) == 1
    assert one(db, "select howdah.replay('aside')") == 1
    (back,) = receive(db, "q", verb="browse")
    assert (back.message_id, back.stage) == (sent, 32767)


def test_begin_attempts_needs_read_committed(db: Db, create: Create, connect: Connect) -> None:
    """With an older snapshot it would not see two attempts that others have begun and ended, and begin a third."""
    create(backout_count="hardened", max_failed_deliveries=2)
    send(db)
    for level in ("repeatable read", "serializable"):
        session = connect()
        session.execute(f"set default_transaction_isolation = '{level}'".encode())
        refused(session, "HD005", "select howdah.begin_attempts('q')")
        with session.transaction():
            session.execute("set transaction isolation level read committed")
            ((attempt, _),) = begin(session)
        assert receive_attempt(session, attempt) == 1
        send(db)


def test_the_delivery_count_is_that_of_the_attempt_and_not_of_who_comes_first(
    db: Db, create: Create, connect: Connect, clock: Clock
) -> None:
    create(backout_count="hardened", max_failed_deliveries=5)
    sent = send(db)
    sessions = [connect() for _ in range(3)]
    attempts = []
    for session in sessions:
        attempts += [attempt for attempt, _ in begin(session)]
        clock.advance(1.1)
    counts, numbers = [], []
    for session, attempt in zip(sessions, attempts, strict=True):
        with session.transaction(force_rollback=True):
            query = "select delivery_count, redelivered from howdah.receive_attempt('q', %s)"
            counts += session.execute(query, (attempt,)).fetchall()
        numbers.append(fail(session, sent, failure_key=attempt)[1:])
    assert counts == [(1, False), (2, True), (3, True)]
    assert numbers == [(1, "returned"), (2, "returned"), (3, "returned")]


def test_an_attempt_of_a_queue_that_is_no_longer_hardened_is_a_first_delivery(db: Db, create: Create) -> None:
    create(backout_count="hardened")
    send(db)
    ((attempt, _),) = begin(db)
    alter(db, backout_count="recorded")
    assert column(db, "select delivery_count from howdah.receive_attempt('q', %s)", (attempt,)) == [1]


def test_a_failure_told_without_a_key_by_the_session_of_the_attempt_counts_once(db: Db, create: Create) -> None:
    create(backout_count="hardened", max_failed_deliveries=2)
    sent = send(db)
    told = []
    for _ in range(2):
        ((attempt, _),) = begin(db)
        with db.transaction(force_rollback=True):
            assert receive_attempt(db, attempt) == 1
        told.append(fail(db, sent)[1:])
    assert told == [(1, "returned"), (2, "moved")]
