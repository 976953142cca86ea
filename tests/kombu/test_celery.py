"""Celery's own promises, with workers as processes."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path

import celery_support as support_
import psycopg
import pytest
from celery import Celery, Signature, chain, chord, group
from celery.exceptions import ChordError, TaskRevokedError
from celery.result import AsyncResult
from celery_support import Worker, application, prepare, ran, results_url, worker
from support import Db, column, one, wait_until

from howdah.engine.embedded import EmbeddedServer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")

TIMEOUT = 20


@pytest.fixture(scope="module")
def shared(module_server: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Worker]]:
    """A database and one worker on it, for all tests that kill nobody."""
    info = module_server.status()
    assert info is not None
    with psycopg.connect(info.dsn, autocommit=True) as db:
        prepare(db)
    file = tmp_path_factory.mktemp("celery") / "shared.log"
    with worker(info.dsn, file, "-c", "2", "-E", SHOP_RESULTS=results_url(info.dsn)) as started:
        yield info.dsn, started
        started.signal(signal.SIGTERM)
        assert started.process.wait(TIMEOUT) == 0


@pytest.fixture
def app(shared: tuple[str, Worker]) -> Iterator[Celery]:
    with application(shared[0], result_backend=results_url(shared[0])) as made:
        yield made


@pytest.fixture
def shop(shared: tuple[str, Worker]) -> Iterator[Db]:
    """A connection to the shared worker's database."""
    with psycopg.connect(shared[0], autocommit=True) as db:
        db.execute("truncate ran")
        yield db


def _leased_until(db: Db) -> datetime:
    until: datetime = one(db, "select max(leased_until) from howdah.list_leases('celery')")
    return until


def task(app: Celery, name: str, *args: object) -> Signature:
    return app.signature(f"shop.{name}", args)


@pytest.mark.slow
def test_chains_groups_and_chords_give_their_results(app: Celery) -> None:
    chained = chain(task(app, "add", 1, 2), task(app, "add", 3), task(app, "add", 4))
    grouped = group([task(app, "add", n, n) for n in range(5)], app=app)
    summed = chord([task(app, "add", n, n) for n in range(5)], app=app)(task(app, "total"))
    results = chained.apply_async(), grouped.apply_async()
    assert results[0].get(timeout=TIMEOUT) == 10
    assert results[1].get(timeout=TIMEOUT) == [0, 2, 4, 6, 8]
    assert summed.get(timeout=TIMEOUT) == 20


def test_a_chords_body_runs_once(app: Celery, shop: Db) -> None:
    sizes = (1, 2, 40)
    for size in sizes:
        body = task(app, "total").set(link=[task(app, "record", f"{size}").set(immutable=True)])
        result = chord([task(app, "add", n, n) for n in range(size)], app=app)(body)
        assert result.get(timeout=TIMEOUT) == size * (size - 1)
    wait_until(lambda: len(ran(shop)) >= len(sizes))
    assert ran(shop) == [f"{size}" for size in sizes]


def test_a_chord_fails_with_the_error_of_its_task(app: Celery) -> None:
    result = chord([task(app, "add", 1, 1), task(app, "add", 1, "street")], app=app)(task(app, "total"))
    # While it waits, Celery also looks at the tasks, and raises the error of one that has failed already.
    with pytest.raises((ChordError, TypeError), match="unsupported operand"):
        result.get(timeout=TIMEOUT)
    wait_until(lambda: result.state == "FAILURE", TIMEOUT)
    assert isinstance(result.result, ChordError)


def test_a_group_in_a_chain_is_a_chord(app: Celery) -> None:
    grouped = group([task(app, "add", 1, 1) | task(app, "add", 1), task(app, "add", 2, 2)], app=app)
    assert (grouped | task(app, "total")).apply_async().get(timeout=TIMEOUT) == 7


@pytest.mark.slow
def test_sqlalchemys_results_lie_beside_the_tasks(dsn: str, db: Db, tmp_path: Path) -> None:
    prepare(db)
    with application(dsn) as app, worker(dsn, tmp_path / "beside.log", "-c", "1"):
        summed = chord([task(app, "add", n, n) for n in range(3)], app=app)(task(app, "total"))
        assert summed.get(timeout=TIMEOUT) == 6
        assert one(db, "select count(*) >= 4 from celery_taskmeta")


def test_a_task_that_retries_waits_in_the_database_and_comes_again(app: Celery, shop: Db) -> None:
    assert task(app, "stumble", "again").apply_async().get(timeout=TIMEOUT) == 2
    assert ran(shop) == ["again"] * 3


@pytest.mark.slow
def test_inspect_sees_what_runs_and_revoke_ends_it_and_keeps_the_next_from_running(
    app: Celery, shop: Db, tmp_path: Path
) -> None:
    running = [task(app, "linger", f"{n}", str(tmp_path / "gate")).apply_async() for n in range(2)]
    wait_until(lambda: sorted(ran(shop)) == ["0", "1"])
    waiting = task(app, "record", "never").apply_async()
    seen = app.control.inspect(destination=["shared@here"], timeout=10)
    assert {one["id"] for one in seen.active()["shared@here"]} == {result.id for result in running}
    assert app.control.revoke(waiting.id, reply=True, destination=["shared@here"], timeout=10)
    app.control.revoke(running[0].id, terminate=True, signal="SIGKILL", reply=True, destination=["shared@here"])
    with pytest.raises(TaskRevokedError):
        waiting.get(timeout=TIMEOUT)
    (tmp_path / "gate").touch()
    running[1].get(timeout=TIMEOUT)
    assert "never" not in ran(shop)
    wait_until(lambda: column(shop, "select messages from howdah.list_leases('celery')") == [])


def test_every_worker_gets_a_broadcast_and_events_reach_who_listens(app: Celery) -> None:
    seen: list[str] = []
    with app.connection() as connection:
        receiver = app.events.Receiver(connection, handlers={})
        sent: list[AsyncResult] = []
        receiver.on_consume_ready = lambda *_, **__: sent.append(task(app, "add", 1, 1).apply_async())

        def heard(event: dict[str, str]) -> None:
            seen.append(event["type"])
            receiver.should_stop = event["type"] == "task-succeeded"

        receiver.handlers["*"] = heard
        receiver.capture(limit=None, timeout=TIMEOUT, wakeup=False)
    (result,) = sent
    assert app.control.ping(destination=["shared@here"], timeout=10) == [{"shared@here": {"ok": "pong"}}]
    assert result.get(timeout=TIMEOUT) == 2
    assert {"task-received", "task-started", "task-succeeded"} <= set(seen)


def test_a_task_sent_in_plain_sql_runs(shared: tuple[str, Worker], shop: Db) -> None:
    shop.execute(
        "select howdah.send('celery', '[[\"from SQL\"], {}, {}]'::jsonb,"
        ' headers => \'{"task": "shop.record", "id": "6c1f7a0e-0000-4000-8000-000000000001"}\')'
    )
    wait_until(lambda: ran(shop) == ["from SQL"])


def test_a_failed_task_that_is_not_acknowledged_is_dead_with_its_error(app: Celery, shop: Db) -> None:
    task(app, "fail", "dead").apply_async()
    dead = "select message_type, dead_reason from howdah.browse('_SYSTEM.Exception.Destination.howdah')"
    wait_until(lambda: shop.execute(dead).fetchall() != [])
    assert [row[0] for row in shop.execute(dead).fetchall()] == ["shop.fail"]
    assert ran(shop) == ["dead"]


@pytest.mark.slow
def test_a_task_that_kills_its_process_comes_again_until_the_queues_limit_and_is_then_dead(
    app: Celery, shop: Db
) -> None:
    quickly = '{"max_failed_deliveries": 3, "redelivery_delay_ms": 50}'
    shop.execute("select howdah.alter_queue('celery', %s)", [quickly])
    shop.execute("select howdah.purge_queue('_SYSTEM.Exception.Destination.howdah')")
    task(app, "die", "killer").apply_async()
    dead = "select message_type from howdah.browse('_SYSTEM.Exception.Destination.howdah')"
    wait_until(lambda: column(shop, dead) == ["shop.die"], TIMEOUT)
    assert ran(shop) == ["killer"] * 3
    assert task(app, "add", 2, 2).apply_async().get(timeout=TIMEOUT) == 4


@pytest.mark.slow
def test_a_task_that_outlasts_its_lease_runs_once_while_its_worker_lives_and_comes_to_another_when_it_is_killed(
    app: Celery, shared: tuple[str, Worker], shop: Db, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    frail = support_.start(shared[0], tmp_path / "frail.log", "-P", "solo", "-Q", "frail", SHOP_LEASE_SECONDS="1")
    with ExitStack() as stack:
        stack.callback(frail.kill)
        frail.ready()
        result = task(app, "linger_late", "long", str(gate)).apply_async(queue="frail")
        wait_until(lambda: ran(shop) == ["long"])
        app.control.add_consumer("frail", destination=["shared@here"], reply=True)
        until = "select max(leased_until) from howdah.list_leases('frail')"
        began = one(shop, until)
        # The lease that it began with has run out by then.
        wait_until(lambda: one(shop, until) > began + timedelta(seconds=1.5), TIMEOUT)
        assert ran(shop) == ["long"]
        frail.kill()
        gate.touch()
        assert result.get(timeout=TIMEOUT) is None
    app.control.cancel_consumer("frail", destination=["shared@here"], reply=True)
    assert ran(shop) == ["long", "long"]
    assert column(shop, "select error_class from howdah.incidents('frail')") == ["LeaseExpired"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pool", "results"), [("threads", "howdah"), ("gevent", "howdah"), ("prefork", "rpc"), ("gevent", "rpc")]
)
def test_each_pool_and_kind_of_result(dsn: str, db: Db, tmp_path: Path, pool: str, results: str) -> None:
    prepare(db)
    gate, log = tmp_path / "gate", tmp_path / "pool.log"
    backend = "rpc://" if results == "rpc" else results_url(dsn)
    settings = {"SHOP_LEASE_SECONDS": "1", "SHOP_RESULTS": backend}
    with application(dsn, result_backend=backend) as app, worker(dsn, log, "-P", pool, "-c", "4", **settings):
        assert [task(app, "add", n, 1).apply_async().get(timeout=TIMEOUT) for n in range(3)] == [1, 2, 3]
        grouped = group([task(app, "add", n, n) for n in range(20)], app=app).apply_async()
        assert grouped.get(timeout=TIMEOUT) == [2 * n for n in range(20)]
        long = [task(app, "linger_late", f"{n}", str(gate)).apply_async() for n in range(3)]
        wait_until(lambda: sorted(ran(db)) == ["0", "1", "2"])
        assert len(app.control.inspect(timeout=5).active()["pool@here"]) == 3
        began = _leased_until(db)
        wait_until(lambda: _leased_until(db) > began + timedelta(seconds=2), TIMEOUT)
        gate.touch()
        for result in long:
            result.get(timeout=TIMEOUT)
    assert sorted(ran(db)) == ["0", "1", "2"]
