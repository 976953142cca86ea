"""Workers end when they are told to or their supervisor is gone, and blame no message for it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from support import column, one, wait_until
from workers_support import StartWorkers, Work


def gone(pid: int) -> bool:
    """Whether a process has ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_sigterm_finishes_what_is_in_hand(jobs: Work, start: StartWorkers) -> None:
    (held,) = jobs.send("gate")
    workers = start()
    with jobs.gate():
        jobs.wait_in_handler(held)
        left = jobs.send("plain", "plain")
        workers.stop()
        wait_until(lambda: workers.events("worker stopping"))
        assert workers.pids
    workers.wait_ended()
    assert jobs.effects() == [held]
    assert column(jobs.db, "select message_id from howdah.browse('work')") == left
    assert workers.events("worker stopped")[0]["handled"] == 1
    assert one(jobs.db, "select count(*) from howdah.list_workers()") == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("app", "body"),
    [("app", "gate"), ("app", "gate-python"), ("awaiting", "note")],
    ids=["in SQL", "in Python", "in an await"],
)
def test_a_second_sigterm_rolls_back_at_once_and_blames_nobody(
    jobs: Work, start: StartWorkers, app: str, body: str
) -> None:
    sent = jobs.send("plain", body)
    workers = start(f"workapp:{app}")
    with jobs.gate():
        jobs.wait_in_handler(sent[1])
        workers.stop()
        wait_until(lambda: workers.events("worker stopping"))
        workers.stop()
        workers.wait_ended()
        wait_until(lambda: len(column(jobs.db, "select message_id from howdah.receive_locked('work', 9)")) == 2)
    assert jobs.effects() == []
    assert jobs.blamed() == set()


@pytest.mark.slow
def test_workers_end_by_themselves_when_their_supervisor_is_killed(jobs: Work, dsn: str) -> None:
    (held,) = jobs.send("gate")
    with jobs.gate():
        command = [sys.executable, "-m", "howdah.cli.main", "worker", "workapp:app", "--dsn", dsn]
        with subprocess.Popen([*command, "--sessions", "2"], stderr=subprocess.DEVNULL) as supervisor:
            pid = jobs.wait_in_handler(held)
            supervisor.kill()
    left_later = jobs.send("plain")
    wait_until(lambda: gone(pid) or one(jobs.db, "select count(*) from howdah.list_workers()") == 0)
    wait_until(lambda: gone(pid))
    assert held in jobs.effects()
    assert len(jobs.effects()) + jobs.left() == len([held, *left_later])
    assert jobs.blamed() == set()


@pytest.mark.slow
def test_a_crash_loop_is_slowed_down_and_still_obeys(jobs: Work, start: StartWorkers) -> None:
    one(jobs.db, """select howdah.alter_queue('work', '{"max_failed_deliveries": 0}')""")
    (guilty,) = jobs.send("exit-process")
    workers = start()
    wait_until(lambda: len(jobs.incidents(guilty)) >= 3)
    workers.stop()
    workers.wait_ended()
    assert jobs.left() == 1
