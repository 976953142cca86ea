"""Attempts in doubt at messages of a hardened queue: several sessions, slow ones, dead ones, and who waits for whom."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from policy_support import (
    Create,
    begin,
    ids,
    receive_attempt,
    send,
)
from psycopg.types.json import Jsonb
from support import (
    SYSTEM,
    Clock,
    Connect,
    Db,
    column,
    fail,
    one,
    wait_until,
    wait_until_blocked,
)

WAITS_FOR = "select array[%s::integer] <@ pg_blocking_pids(%s)"


@pytest.mark.first_case
@pytest.mark.parametrize("order", [{}, {"strict_order": True}, {"message_groups": "transaction"}])
def test_a_message_is_not_disposed_of_for_attempts_of_living_sessions_that_are_only_slow(
    db: Db, create: Create, connect: Connect, clock: Clock, order: dict[str, Any]
) -> None:
    create(backout_count="hardened", max_failed_deliveries=3, **order)
    sent, after = (send(db, headers=Jsonb({"JMSXGroupID": "a"})) for _ in range(2))
    sessions = [connect() for _ in range(3)]
    attempts = []
    for session in sessions:
        attempts += begin(session)
        clock.advance(1.1)
    assert [message_id for _, message_id in attempts] == [sent] * 3
    beyond = begin(db)
    assert beyond == [] if order else [message_id for _, message_id in beyond] == [after], (
        "neither a fourth attempt nor a dead message"
    )
    assert ids(db, SYSTEM) == []
    assert fail(db, sent, failure_key=attempts[0][0])[2] == "returned", "and the two others are in doubt still"
    sessions[1].close()
    wait_until(
        lambda: (
            one(db, "select count(*) from howdah._in_doubt((select id from howdah.destinations where name = 'q'), 10)")
            == 1 + len(beyond)
        )
    )
    assert ids(db, SYSTEM) == [] == [m for m in begin(connect()) if m[1] == sent]
    assert receive_attempt(sessions[2], attempts[2][0]) == 1, "whoever is slow comes to it"
    assert ids(db, SYSTEM) == []
    assert sent not in ids(db, "q")


@pytest.mark.first_case
@pytest.mark.parametrize("order", [{}, {"strict_order": True}, {"message_groups": "transaction"}])
def test_an_attempt_begun_while_others_look_is_counted_before_they_begin_one_more(
    db: Db, create: Create, connect: Connect, clock: Clock, order: dict[str, Any]
) -> None:
    """By a quicker session, after the look for what is begun, a second before this one's attempt is recorded."""
    create(backout_count="hardened", max_failed_deliveries=1, **order)
    sent = send(db)
    quick, late, gate, narrow = connect(), connect(), connect(), connect()
    begin(quick)
    db.execute("create temp table quicker as select * from howdah.attempts")
    db.execute("delete from howdah.attempts")
    with ThreadPoolExecutor() as pool:
        with narrow.transaction():
            with gate.transaction():
                gate.execute("lock table howdah.msgs in access exclusive mode")
                found = pool.submit(begin, late)
                wait_until_blocked(db, late)
                db.execute("insert into howdah.attempts select * from quicker")
                narrow.execute("lock table howdah.attempts in share mode")
            wait_until(lambda: one(db, WAITS_FOR, (narrow.info.backend_pid, late.info.backend_pid)))
            clock.advance(1.1)
        assert found.result() == []
    assert column(db, "select message_id from howdah.attempts") == [sent]
    quick.close()
    wait_until(lambda: begin(late) == [] and ids(db, "q") == [])
    assert ids(db, SYSTEM) == [sent]


def test_two_sessions_begin_attempts_at_different_messages(db: Db, create: Create, connect: Connect) -> None:
    create(backout_count="hardened")
    first, second = send(db), send(db)
    assert [message_id for _, message_id in begin(db)] == [first]
    assert [message_id for _, message_id in begin(connect())] == [second]


def test_a_message_at_its_last_attempt_is_not_taken_from_who_has_begun_it(
    db: Db, create: Create, connect: Connect
) -> None:
    create(backout_count="hardened", max_failed_deliveries=1)
    sent = send(db)
    ((attempt, message_id),) = begin(db)
    assert begin(connect()) == []
    assert message_id == sent
    assert receive_attempt(db, attempt) == 1


@pytest.mark.slow
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


def test_nobody_waits_for_the_handler_of_another(db: Db, create: Create, connect: Connect, clock: Clock) -> None:
    create(backout_count="hardened", max_failed_deliveries=5)
    send(db)
    slow, quick = connect(), connect()
    ((late, _),) = begin(slow)
    clock.advance(1.1)
    ((attempt, _),) = begin(quick)
    with quick.transaction():
        assert receive_attempt(quick, attempt) == 1
        assert receive_attempt(slow, late) == 0, "it is in other hands"
    assert column(db, "select message_id from howdah.attempts") == []


@pytest.mark.slow
def test_many_attempts_of_one_session_are_not_disposed_of_by_those_who_look_for_messages(
    db: Db, create: Create, connect: Connect, clock: Clock
) -> None:
    create(backout_count="hardened", max_failed_deliveries=1)
    one(db, "select howdah.send_batch('q', array_fill('x'::text, array[300]))")
    holder, other = connect(), connect()
    attempts = begin(holder, 300)
    clock.advance(1.1)
    free = send(db)
    assert [message_id for _, message_id in begin(other)] == [free], "found in one look, and none of the others begun"
    for attempt, _ in attempts:
        assert receive_attempt(holder, attempt) == 1
    assert ids(db, SYSTEM) == []


@pytest.mark.first_case
@pytest.mark.parametrize("order", [{}, {"strict_order": True}])
def test_a_message_that_is_kept_at_its_limit_is_blocked_by_consumers_that_died_too(
    db: Db, create: Create, connect: Connect, clock: Clock, order: dict[str, Any]
) -> None:
    create(backout_count="hardened", max_failed_deliveries=2, exception_mode="none", blocked_retry_ms=60_000, **order)
    sent = send(db)

    def dies() -> None:
        with connect() as session:
            ((attempt, message_id),) = begin(session)
            assert message_id == sent
            with session.transaction(force_rollback=True):
                assert receive_attempt(session, attempt) == 1
        wait_until(
            lambda: (
                one(
                    db,
                    "select count(*) from howdah._in_doubt((select id from howdah.destinations where name = 'q'), 10)",
                )
                == 0
            )
        )

    for _ in range(2):
        dies()
    for _ in range(3):
        assert begin(db) == []
    assert column(db, "select error_class from howdah.incidents('q')") == ["ConsumerEnded"] * 2
    clock.advance(60.1)
    dies()
    assert begin(db) == [], "blocked anew"
    clock.advance(60.1)
    ((attempt, _),) = begin(db)
    assert receive_attempt(db, attempt) == 1


def test_a_redelivery_delay_follows_a_death_as_it_follows_a_failure(
    db: Db, create: Create, connect: Connect, clock: Clock
) -> None:
    create(backout_count="hardened", max_failed_deliveries=5, redelivery_delay_ms=30_000)
    sent = send(db)
    with connect() as session:
        begin(session)
    wait_until(
        lambda: (
            one(db, "select count(*) from howdah._in_doubt((select id from howdah.destinations where name = 'q'), 10)")
            == 0
        )
    )
    assert begin(db) == []
    clock.advance(30.1)
    assert [message_id for _, message_id in begin(db)] == [sent]


def test_settling_leaves_a_message_whose_only_attempt_is_in_doubt(db: Db, create: Create) -> None:
    create(backout_count="hardened", redelivery_delay_ms=30_000)
    sent = send(db)
    ((attempt, _),) = begin(db)
    settled = (
        "select outcome from howdah.settle_failures('q', array[%s]::bigint[], array[4],"
        " (select array[seq] from howdah.attempts))"
    )
    assert column(db, settled, (sent,)) == ["returned"]
    assert receive_attempt(db, attempt) == 1
