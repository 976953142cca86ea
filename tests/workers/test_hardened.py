"""Hardened queues: an attempt is on record before its handler starts, so that no death goes uncounted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from support import column, one, wait_until
from workers_support import StartWorkers, Work

LIMIT = 3


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


def test_a_hardened_queue_is_handled_like_any_other(hardened: Work, start: StartWorkers) -> None:
    sent = hardened.send(*["plain"] * 20, "fail", *["plain"] * 5)
    start(sessions=3)
    hardened.wait_empty()
    assert hardened.effects() == [message for message in sent if message != sent[20]]
    assert hardened.trace(sent[20]) == [1, 2, 3]
    assert hardened.dead() == [sent[20]]
    assert one(hardened.db, "select count(*) from howdah.poison_details") == LIMIT


@pytest.mark.behaviour("WAS-48")
@pytest.mark.behaviour("AMQ-117")
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


def test_a_death_that_the_supervisor_reports_counts_once(hardened: Work, start: StartWorkers) -> None:
    (sent,) = hardened.send("gate-python")
    workers = start()
    with hardened.gate():
        for number in range(1, LIMIT + 1):
            workers.kill(hardened.wait_in_handler(sent, number))
        wait_until(lambda: hardened.dead() == [sent])
    assert hardened.trace(sent) == [1, 2, 3]
    assert hardened.incidents(sent) == ["WorkerDied"] * LIMIT


def test_an_innocent_error_does_not_count_against_a_message(hardened: Work, start: StartWorkers) -> None:
    (sent,) = hardened.send("serialization")
    one(hardened.db, "select howdah.alter_queue('work', '{\"max_failed_deliveries\": 1}')")
    start()
    hardened.wait_empty()
    assert hardened.effects() == [sent]
    assert hardened.dead() == []
