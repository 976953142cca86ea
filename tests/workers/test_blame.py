"""Workers blame the guilty message alone, and none for what the server lacks."""

from __future__ import annotations

from datetime import datetime

import pytest
from support import column, one, wait_until
from workers_support import StartWorkers, Work


@pytest.mark.slow
def test_an_error_that_the_handler_overcomes_is_none(jobs: Work, start: StartWorkers) -> None:
    (message,) = jobs.send("overcome")
    start()
    jobs.wait_empty()
    assert jobs.effects() == [message]
    assert jobs.blamed() == set()


@pytest.mark.first_case
@pytest.mark.parametrize("body", [pytest.param("serialization", marks=pytest.mark.slow), "terminate"])
def test_errors_that_blame_nobody_are_retried_without_an_incident(jobs: Work, start: StartWorkers, body: str) -> None:
    sent = jobs.send("plain", body, "plain")
    start()
    jobs.wait_empty()
    assert jobs.trace(sent[1]) == [1, 1]
    assert jobs.effects() == sent
    assert jobs.blamed() == set()


@pytest.mark.slow
def test_a_message_held_up_by_a_lock_holds_up_no_other(jobs: Work, start: StartWorkers) -> None:
    first, stuck, last = jobs.send("plain", "lock-timeout", "plain")
    with jobs.db.transaction():
        jobs.db.execute("insert into work.locked values (1)")
        start()
        wait_until(lambda: jobs.db.execute("select count(*) from work.effects").fetchone() == (2,))
        wait_until(lambda: len(jobs.trace(stuck)) > 3)
    jobs.wait_empty()
    assert jobs.effects() == [first, stuck, last]
    assert set(jobs.trace(stuck)) == {1}
    assert jobs.blamed() == set()


@pytest.mark.slow
@pytest.mark.parametrize("body", ["disk-full", "no-room-to-sort"])
def test_what_the_server_lacks_is_no_messages_fault(jobs: Work, start: StartWorkers, body: str) -> None:
    """More often than the limit, with a pause each time, and a warning."""
    first, starved, last = jobs.send("plain", body, "plain")
    jobs.db.execute("insert into work.locked values (1)")
    workers = start()

    def retried() -> list[float]:
        lines = [line for line in workers.events("transaction retried") if line["level"] == "warning"]
        return [datetime.fromisoformat(line["at"]).timestamp() for line in lines]

    wait_until(lambda: len(retried()) > 6)
    assert set(jobs.trace(starved)) == {1}
    jobs.db.execute("delete from work.locked")
    jobs.wait_empty()
    assert jobs.effects() == [first, starved, last]
    assert jobs.blamed() == set()
    # The pauses begin at 50 ms and double: four of them are over half a second, and without any it would be some
    # milliseconds.
    assert retried()[6] - retried()[2] > 0.5


@pytest.mark.first_case
@pytest.mark.parametrize("state", ["54000", pytest.param("XX000", marks=pytest.mark.slow)])
def test_what_a_statement_asks_too_much_of_any_server_is_the_messages_fault(
    jobs: Work, start: StartWorkers, state: str
) -> None:
    (guilty,) = jobs.send(state)
    start()
    jobs.wait_empty()
    assert jobs.dead() == [guilty]
    assert set(column(jobs.db, "select sqlstate from howdah.incidents()")) == {state}


@pytest.mark.slow
def test_only_the_guilty_of_a_batch_of_100_are_blamed(jobs: Work, start: StartWorkers) -> None:
    bodies = ["fail" if n % 33 == 5 else "only" if n == 50 else "note" for n in range(100)]
    sent = jobs.send(*bodies)
    start()
    jobs.wait_empty()
    guilty = [message for message, body in zip(sent, bodies, strict=True) if body != "note"]
    assert len(guilty) == 4
    assert jobs.blamed() == set(guilty)
    assert jobs.dead() == guilty
    assert {tuple(sorted(set(jobs.trace(message)))) for message in guilty} == {(1, 2, 3, 4, 5)}
    assert [jobs.incidents(message) for message in guilty] == [
        [{"fail": "ValueError", "only": "RollbackOnly"}[bodies[sent.index(message)]]] * 5 for message in guilty
    ]
    assert jobs.effects() == [message for message in sent if message not in guilty]
    # Not handled one by one: a transaction each would be 96.
    consumed = one(jobs.db, "select count(*) from howdah.audit_journal where event = 'consumed'")
    assert consumed == 96
    assert one(jobs.db, "select count(distinct tx) from work.effects") <= 12


@pytest.mark.slow
def test_batches_that_fail_at_commit_are_handled_one_by_one_for_one_round(jobs: Work, start: StartWorkers) -> None:
    one(jobs.db, """select howdah.alter_queue('work', '{"redelivery_delay_ms": 60000}')""")
    sent = jobs.send(*["plain"] * 5, "violate", *["plain"] * 5)
    start()
    wait_until(lambda: len(jobs.effects()) == 10)
    wait_until(lambda: jobs.incidents(sent[5]) == ["UniqueViolation"])
    assert jobs.blamed() == {sent[5]}
    more = jobs.send(*["plain"] * 50)
    wait_until(lambda: len(jobs.effects()) == 60)
    assert jobs.effects() == [*sent[:5], *sent[6:], *more]
