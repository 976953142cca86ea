"""Kills, restarts and cut connections while 10,000 messages flow: nothing lost, nothing twice."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import chance
import psycopg
import pytest
from support import Db, one, wait_until
from workers_support import TABLES, StartWorkers, Work, running

from howdah.engine.embedded import EmbeddedServer

MESSAGES = 10_000
BATCH = 500


@pytest.fixture
def dice() -> random.Random:
    """Chance; HOWDAH_TEST_SEED repeats a run."""
    return chance.dice()


def send_all(jobs: Work, dsn: str, disturb: Callable[[int], None]) -> list[int]:
    """Send the messages, one in a hundred failing always, and disturb after every tenth batch.

    Returns the good ones.
    """
    good: list[int] = []
    for batch in range(MESSAGES // BATCH):
        bodies = ["fail" if n % 250 == 249 else "plain" for n in range(BATCH)]
        with psycopg.connect(dsn) as sender:
            ids = one(sender, "select howdah.send_batch('work', %s::text[])", (bodies,))
        good += [message for message, body in zip(ids, bodies, strict=True) if body == "plain"]
        disturb(batch)
    return good


def check(jobs: Work, good: list[int]) -> None:
    """Every good message has had its effect once; every other is dead."""
    assert jobs.effects() == sorted(good)
    assert len(jobs.dead()) == MESSAGES - len(good)
    assert jobs.left() == 0
    assert one(jobs.db, "select count(*) from howdah.audit_journal where event = 'consumed'") == len(good)
    died = one(
        jobs.db, "select count(*) from howdah.incidents(max_incidents => 10000) where error_class = 'WorkerDied'"
    )
    failed = one(
        jobs.db, "select count(*) from howdah.incidents(max_incidents => 10000) where error_class = 'ValueError'"
    )
    assert failed + died >= 5 * (MESSAGES - len(good))
    print(f"incidents: {failed} failures, {died} killed in the handler")


@pytest.mark.slow
def test_sigkill_under_load_loses_and_doubles_nothing(
    jobs: Work, dsn: str, start: StartWorkers, dice: random.Random
) -> None:
    workers = start(processes=2, sessions=3)

    killed: list[int] = []

    def disturb(batch: int) -> None:
        if batch % 4 == 3:
            wait_until(lambda: len(workers.events("worker died")) == len(killed))  # nobody is killed twice
            wait_until(lambda: len(workers.events("worker started")) > len(killed) and workers.pids)
            time.sleep(dice.uniform(0, 0.4))
            killed.append(workers.kill(dice.choice(workers.pids)))

    good = send_all(jobs, dsn, disturb)
    jobs.wait_empty()
    check(jobs, good)
    wait_until(lambda: len(workers.events("worker died")) == len(killed) == 5)


@pytest.mark.slow
def test_restarts_of_workers_one_after_another_under_load_lose_nothing(
    jobs: Work, dsn: str, start: StartWorkers, dice: random.Random
) -> None:
    """SIGTERM to each process itself: it finishes, and the supervisor starts another while the rest work on."""
    workers = start(processes=2, sessions=2)

    def disturb(batch: int) -> None:
        if batch % 5 == 4:
            # Each has set up its signals by then.
            workers.wait_started(2 + batch // 5)
            wait_until(lambda: len(workers.pids) == 2)
            os.kill(dice.choice(workers.pids), signal.SIGTERM)

    workers.wait_started(2)
    good = send_all(jobs, dsn, disturb)
    jobs.wait_empty()
    check(jobs, good)
    wait_until(lambda: len(workers.events("worker started")) == 6)
    assert workers.events("worker died") == []


TERMINATE = """
select count(pg_terminate_backend(pid)) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and application_name like %s
"""
KINDS = {"receiving": "%:test:%", "recording": "howdah recording", "heartbeat": "howdah heartbeat",
         "maintenance": "howdah maintenance"}  # fmt: skip


@pytest.mark.slow
def test_terminated_connections_of_every_kind_under_load_lose_nothing(
    jobs: Work, dsn: str, start: StartWorkers, dice: random.Random
) -> None:
    workers = start(processes=2, sessions=3)
    cut = dict.fromkeys(KINDS, 0)

    def disturb(batch: int) -> None:
        time.sleep(dice.uniform(0, 0.2))
        for kind, name in KINDS.items():
            cut[kind] += one(jobs.db, TERMINATE, (name,))

    workers.wait_started(2)
    good = send_all(jobs, dsn, disturb)
    jobs.wait_empty()
    # Maintenance connects after its first interval only.
    while not all(cut.values()):
        time.sleep(0.1)
        for kind, name in KINDS.items():
            cut[kind] += one(jobs.db, TERMINATE, (name,)) if not cut[kind] else 0
    check(jobs, good)
    assert workers.events("worker died") == []
    wait_until(lambda: one(jobs.db, "select count(*) from howdah.list_workers() where silent_for < '3 s'") == 2)


@pytest.mark.slow
def test_crash_of_the_server_under_load_loses_and_doubles_nothing(
    private_server: EmbeddedServer, tmp_path: Path, dice: random.Random
) -> None:
    dsn = private_server.start().dsn
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute(TABLES.encode())
    reconnecting = Reconnecting(dsn)
    with running(tmp_path / "log") as start:
        workers = start(dsn, processes=2, sessions=3)
        workers.wait_started(2)

        def disturb(batch: int) -> None:
            if batch in (6, 13):
                time.sleep(dice.uniform(0, 0.5))
                private_server.stop("immediate")
                time.sleep(dice.uniform(0, 0.5))
                assert private_server.start().dsn == dsn

        good = send_all(Work(reconnecting.db(), dsn), dsn, disturb)
        jobs = Work(reconnecting.db(), dsn)
        jobs.wait_empty()
        check(jobs, good)
        assert workers.events("worker died") == []
        assert workers.events("database lost") != []
    reconnecting.close()


class Reconnecting:
    """Connections to a server that is restarted in between."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._open: list[Db] = []

    def db(self) -> Db:
        """A new connection."""
        self._open.append(psycopg.connect(self._dsn, autocommit=True))
        return self._open[-1]

    def close(self) -> None:
        """Close all."""
        for connection in self._open:
            connection.close()
