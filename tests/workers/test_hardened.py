"""Hardened queues: an attempt is on record before its handler starts, so that no death goes uncounted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from psycopg.types.json import Jsonb
from support import column, one, wait_until
from thinned import thinned
from workers_support import HARDENED_STEPS, StartWorkers, Work

LIMIT = 3

WORKING = r"""
select substring(application_name from ':test:(\d+)/0$')::integer from pg_stat_activity
where datname = current_database() and application_name ~ ':test:\d+/0$'
"""
"""The processes of the workers that are connected."""


@pytest.fixture
def hardened(jobs: Work) -> Work:
    """The queue work, hardened, with a limit of three."""
    options = '{"backout_count": "hardened", "max_failed_deliveries": 3}'
    one(jobs.db, "select howdah.alter_queue('work', %s)", (options,))
    return jobs


@contextmanager
def supervised(dsn: str) -> Iterator[subprocess.Popen[bytes]]:
    """A supervisor, killed at the end, and its worker."""
    command = [sys.executable, "-m", "howdah.cli.main", "worker", "workapp:app", "--dsn", dsn, "--sessions", "1"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.slow
def test_a_hardened_queue_is_handled_like_any_other(hardened: Work, start: StartWorkers) -> None:
    sent = hardened.send(*["plain"] * 20, "fail", *["plain"] * 5)
    start(sessions=3)
    hardened.wait_empty()
    assert hardened.effects() == [message for message in sent if message != sent[20]]
    assert hardened.trace(sent[20]) == [1, 2, 3]
    assert hardened.dead() == [sent[20]]
    assert one(hardened.db, "select count(*) from howdah.poison_details") == LIMIT


@pytest.mark.slow
def test_a_handler_whose_supervisor_dies_with_it_starts_no_more_often_than_the_limit(hardened: Work, dsn: str) -> None:
    (sent,) = hardened.send("gate-python")
    with hardened.gate():
        for number in range(1, LIMIT + 1):
            with supervised(dsn) as supervisor:
                worker = hardened.wait_in_handler(sent, number)
                supervisor.kill()
                os.kill(worker, signal.SIGKILL)
    with supervised(dsn):
        wait_until(lambda: hardened.dead() == [sent])
    assert hardened.trace(sent) == [1, 2, 3]
    assert column(hardened.db, "select incident_id from howdah.poison_details") == [], "nobody could report"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "starts"),
    list(zip(HARDENED_STEPS, [[[1]], [[1], [2]], [[]], [[1, 2]], [[1, 2]], [[1, 2]]], strict=True)),
)
def test_a_worker_and_its_supervisor_killed_at_every_step_start_the_handler_no_more_often_than_the_limit(
    hardened: Work, dsn: str, start: StartWorkers, step: str, starts: list[list[int]]
) -> None:
    """First the server finds nobody there and undoes what waits, then it is let finish before it has looked."""
    db = hardened.db
    one(db, "select howdah.alter_queue('work', '{\"max_failed_deliveries\": 2}')")
    sent = hardened.gate_at(step)
    for undone in (True, False):
        with supervised(dsn) as supervisor:
            with hardened.gate():
                wait_until(hardened.at_gate)
                (worker,) = column(db, WORKING)
                supervisor.kill()
                os.kill(worker, signal.SIGKILL)
                if undone:
                    wait_until(lambda: not hardened.at_gate())
            wait_until(lambda: not column(db, WORKING))
    start()
    hardened.wait_empty()
    assert (hardened.effects(), hardened.dead()) in (([sent], []), ([], [sent])), "handled once, or disposed of once"
    assert hardened.trace(sent) in starts


@pytest.mark.slow
@pytest.mark.parametrize("step", thinned(HARDENED_STEPS, 2))
def test_a_worker_whose_supervisor_is_killed_at_any_step_ends_its_attempt_and_leaves(
    hardened: Work, dsn: str, start: StartWorkers, step: str
) -> None:
    sent = hardened.gate_at(step)
    with supervised(dsn) as supervisor, hardened.gate():
        wait_until(hardened.at_gate)
        supervisor.kill()
        supervisor.wait()
    wait_until(lambda: not column(hardened.db, WORKING))
    fails = HARDENED_STEPS[step][2] == "fail"
    # Told to stop while it is about to take the message, it may leave without: its handler has not begun then.
    left = step == "taken" and hardened.effects() == []
    assert not left or hardened.trace(sent) == []
    assert hardened.effects() == ([] if fails or left else [sent])
    start()
    hardened.wait_empty()
    assert hardened.trace(sent) in ([[1], [2]] if left else [[1, 2, 3]] if fails else [[1]])


@pytest.mark.slow
@pytest.mark.parametrize("step", HARDENED_STEPS)
def test_a_worker_killed_at_every_step_beside_its_supervisor_starts_the_handler_no_more_often_than_the_limit(
    hardened: Work, start: StartWorkers, step: str
) -> None:
    """The supervisor puts another worker in its place each time, and may report the death besides: it counts once."""
    sent = hardened.gate_at(step)
    workers = start()
    killed: set[int] = set()
    waiting: list[int] = []

    def another_at_the_gate() -> bool:
        return bool(workers.pids and killed.isdisjoint(workers.pids) and hardened.at_gate())

    def gone() -> bool:
        return set(waiting).isdisjoint(hardened.at_gate())

    for undone in (True, False, True, False, True):
        with hardened.gate():
            wait_until(lambda: another_at_the_gate() or hardened.left() == 0)
            if hardened.left() == 0:
                break
            waiting = hardened.at_gate()
            killed.add(workers.kill())
            if undone:
                wait_until(gone)
        wait_until(gone)
    hardened.wait_empty()
    assert (hardened.effects(), hardened.dead()) in (([sent], []), ([], [sent])), "handled once, or disposed of once"
    assert killed
    started = hardened.trace(sent)
    assert started == sorted(set(started)), started
    assert len(started) <= LIMIT


@pytest.mark.slow
def test_a_death_that_the_supervisor_reports_counts_once(hardened: Work, start: StartWorkers) -> None:
    (sent,) = hardened.send("gate-python")
    workers = start()
    with hardened.gate():
        for number in range(1, LIMIT + 1):
            workers.kill(hardened.wait_in_handler(sent, number))
        wait_until(lambda: hardened.dead() == [sent])
    assert hardened.trace(sent) == [1, 2, 3]
    assert hardened.incidents(sent) == ["WorkerDied"] * LIMIT


@pytest.mark.slow
def test_a_listener_of_a_hardened_queue_stops_at_its_failures_and_goes_on_when_resumed(
    hardened: Work, start: StartWorkers
) -> None:
    db = hardened.db
    options = Jsonb({"sequential_failures": 2})
    one(db, "select howdah.create_listener('l', 'work', %s)", (options,))
    good, poison, after = hardened.send("plain", "fail", "plain")
    # One session: another one could take the message in the moment between the rollback of an attempt and its record.
    start(target="workapp:listening", sessions=1)
    wait_until(lambda: one(db, "select status from howdah.list_listeners('l')") == "stopped")
    assert hardened.trace(poison) == [1, 2]
    one(db, "select howdah.resume_listener('l')")
    wait_until(lambda: hardened.dead() == [poison])
    one(db, "select howdah.resume_listener('l')")
    hardened.wait_empty()
    assert hardened.trace(poison) == [1, 2, 3]
    assert sorted(hardened.effects()) == [good, after]
    assert hardened.dead() == [poison]
    unreported = "not exists (select from howdah.poison_details p where p.failure_key = a.attempt_id)"
    assert one(db, f"select count(*) from howdah.attempts a where {unreported}") == 0


@pytest.mark.slow
def test_an_innocent_error_does_not_count_against_a_message(hardened: Work, start: StartWorkers) -> None:
    (sent,) = hardened.send("serialization")
    one(hardened.db, "select howdah.alter_queue('work', '{\"max_failed_deliveries\": 1}')")
    start()
    hardened.wait_empty()
    assert hardened.effects() == [sent]
    assert hardened.dead() == []


@pytest.mark.slow
def test_a_handler_that_fails_after_its_queue_was_hardened_stops_no_worker(jobs: Work, start: StartWorkers) -> None:
    (failing,) = jobs.send("gate-fail")
    with jobs.gate():
        start(sessions=1)
        jobs.wait_in_handler(failing, 1)
        one(jobs.db, "select howdah.alter_queue('work', %s)", ('{"backout_count": "hardened"}',))
    jobs.wait_empty()
    attempts = column(jobs.db, "select attempt from howdah.poison_details order by incident_id")
    assert jobs.dead() == [failing]
    assert attempts == [1, 2, 3, 4, 5], "the one in hand had no attempt on record"
    assert len(jobs.trace(failing)) == 6
