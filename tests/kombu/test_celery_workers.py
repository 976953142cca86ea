"""A worker of Celery that is killed, frozen or cut off runs nothing twice, and loses nothing."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from pathlib import Path

import celery_support as support_
import psycopg
import pytest
from celery import Celery, Signature
from celery_support import application, prepare, ran, worker
from support import Db, column, one, wait_until

from howdah.engine.embedded import EmbeddedServer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")

TIMEOUT = 20


def _leased_until(db: Db) -> datetime:
    until: datetime = one(db, "select max(leased_until) from howdah.list_leases('celery')")
    return until


def _leased_beyond(db: Db, until: datetime) -> bool:
    return _leased_until(db) > until


def task(app: Celery, name: str, *args: object) -> Signature:
    return app.signature(f"shop.{name}", args)


@pytest.mark.slow
def test_what_a_killed_worker_ran_comes_to_another_and_nothing_runs_twice_while_workers_live(
    dsn: str, db: Db, tmp_path: Path
) -> None:
    prepare(db)
    gate = tmp_path / "gate"
    options = {"SHOP_LEASE_SECONDS": "1"}
    with application(dsn) as app, ExitStack() as stack:
        first, second = (support_.start(dsn, tmp_path / f"{n}.log", "-P", pool, "-c", "1", **options)
                         for n, pool in (("first", "prefork"), ("second", "solo")))  # fmt: skip
        for one_of_both in (first, second):
            stack.callback(one_of_both.kill)
            one_of_both.ready()
        results = [task(app, "linger_late", f"{n}", str(gate)).apply_async() for n in range(2)]
        wait_until(lambda: sorted(ran(db)) == ["0", "1"])
        began = one(db, "select max(leased_until) from howdah.list_leases('celery')")
        # Three leases would have run out by then.
        wait_until(lambda: one(db, "select min(leased_until) > %s + interval '3 s' from howdah.list_leases('celery')",
                               [began]), TIMEOUT)  # fmt: skip
        assert sorted(ran(db)) == ["0", "1"]
        first.kill()
        gate.touch()
        for result in results:
            result.get(timeout=TIMEOUT)
        wait_until(lambda: column(db, "select messages from howdah.list_leases('celery')") == [])
        assert len(ran(db)) == 3
        assert column(db, "select error_class from howdah.incidents('celery')") == ["LeaseExpired"]


@pytest.mark.slow
@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_a_worker_that_loses_its_sessions_runs_nothing_twice(dsn: str, db: Db, tmp_path: Path, pool: str) -> None:
    prepare(db)
    gate = tmp_path / "gate"
    with application(dsn) as app, worker(dsn, tmp_path / "only.log", "-P", pool, "-c", "1", SHOP_LEASE_SECONDS="1"):
        result = task(app, "linger_late", "once", str(gate)).apply_async()
        wait_until(lambda: ran(db) == ["once"])
        for _ in range(2):
            until = _leased_until(db)
            db.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'howdah %'"
                " and datname = current_database() and pid <> pg_backend_pid()"
            )
            wait_until(partial(_leased_beyond, db, until))
        gate.touch()
        result.get(timeout=TIMEOUT)
        wait_until(lambda: one(db, "select consumed from howdah.queue_stats('celery')") == 1)
    assert ran(db) == ["once"]
    assert one(db, "select count(*) from howdah.incidents('celery')") == 0


@pytest.mark.slow
def test_a_worker_that_was_frozen_for_too_long_says_so_when_it_acknowledges(dsn: str, db: Db, tmp_path: Path) -> None:
    prepare(db)
    gate = tmp_path / "gate"
    frozen_log, other_log = tmp_path / "frozen.log", tmp_path / "other.log"
    with application(dsn) as app, worker(dsn, frozen_log, "-c", "1", SHOP_LEASE_SECONDS="1") as frozen:
        task(app, "linger_late", "twice", str(gate)).apply_async()
        wait_until(lambda: ran(db) == ["twice"])
        frozen.signal(signal.SIGSTOP)
        with worker(dsn, other_log, "-P", "solo", SHOP_LEASE_SECONDS="1"):
            wait_until(lambda: ran(db) == ["twice", "twice"], TIMEOUT)
            gate.touch()
            wait_until(lambda: one(db, "select consumed from howdah.queue_stats('celery')") == 1)
        frozen.signal(signal.SIGCONT)
        wait_until(lambda: "acknowledged too late" in frozen.log, TIMEOUT)
    assert column(db, "select error_class from howdah.incidents('celery')") == ["LeaseExpired"]


@pytest.mark.slow
def test_a_warm_shutdown_ends_what_runs_and_gives_back_what_was_prefetched(dsn: str, db: Db, tmp_path: Path) -> None:
    prepare(db)
    gate = tmp_path / "gate"
    started = support_.start(dsn, tmp_path / "warm.log", "-c", "1", SHOP_PREFETCH="4")
    with application(dsn) as app, ExitStack() as stack:
        stack.callback(started.kill)
        started.ready()
        for number in range(4):
            task(app, "linger", f"{number}", str(gate)).apply_async()
        wait_until(
            lambda: ran(db) == ["0"] and sum(column(db, "select messages from howdah.list_leases('celery')")) == 3
        )
        started.signal(signal.SIGTERM)
        wait_until(lambda: "Warm shutdown" in started.log)
        gate.touch()
        assert started.process.wait(TIMEOUT) == 0
    left = column(db, "select redelivered from howdah.browse('celery')")
    assert (len(ran(db)) + len(left), set(left)) == (4, {False})
    assert one(db, "select count(*) from howdah.list_leases('celery')") == 0


@pytest.mark.slow
def test_what_runs_while_the_server_is_away_is_acknowledged_when_it_is_back(
    private_server: EmbeddedServer, tmp_path: Path
) -> None:
    info = private_server.status()
    assert info is not None
    gate, log = tmp_path / "gate", tmp_path / "kept.log"
    with psycopg.connect(info.dsn, autocommit=True) as db:
        prepare(db)
        with application(info.dsn) as app, ExitStack() as stack:
            kept = stack.enter_context(worker(info.dsn, log, "-c", "1", SHOP_PREFETCH="3"))
            for number in range(2):
                task(app, "linger_late", f"{number}", str(gate)).apply_async()
            wait_until(lambda: ran(db) == ["0"])
            wait_until(lambda: sum(column(db, "select messages from howdah.list_leases('celery')")) == 2)
            private_server.stop("immediate")
            wait_until(lambda: "rying to re" in kept.log, TIMEOUT)
            assert private_server.start().dsn == info.dsn
            wait_until(lambda: kept.log.count("Connected to") > 1, TIMEOUT)
            gate.touch()
            with psycopg.connect(info.dsn, autocommit=True) as again:
                # The one that ran is done. The other was only prefetched, and comes back when its lease ends.
                wait_until(lambda: one(again, "select consumed from howdah.queue_stats('celery')") >= 1, TIMEOUT)
                assert ran(again).count("0") == 1
                assert task(app, "add", 1, 1).apply_async(retry=True).get(timeout=TIMEOUT) == 2
