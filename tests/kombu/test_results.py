"""Howdah as Celery's result backend."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from celery import Celery, Signature, chord, group, states
from celery.app.task import Context
from celery.exceptions import ChordError, TimeoutError
from celery.result import AsyncResult, GroupResult
from celery_support import RESULTS, application, results_url
from support import Clock, Db, column, one, wait_until

from howdah.kombu.store import number

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")
TIMEOUT = 20


@pytest.fixture
def app(dsn: str) -> Iterator[Celery]:
    """An application without a worker, whose results Howdah keeps."""
    with application(dsn, result_backend=results_url(dsn), result_expires=3600) as made:
        yield made


def test_a_result_is_kept_until_it_expires(app: Celery, clock: Clock, db: Db) -> None:
    result = AsyncResult("one", app=app)
    assert (result.state, result.result) == (states.PENDING, None)
    app.backend.store_result("one", None, states.STARTED)
    assert result.state == states.STARTED
    app.backend.store_result("one", {"naïve \0": [1, 2.5, "\U0001f418"]}, states.SUCCESS)
    app.backend.store_result("one", "a lost task's late failure", states.FAILURE)
    assert AsyncResult("one", app=app).get(timeout=0) == {"naïve \0": [1, 2.5, "\U0001f418"]}
    told = one(db, "select value->>'state' from howdah.result(%s, %s)", [RESULTS, number("celery-task-meta-one")])
    assert told == "SUCCESS"
    clock.advance(3601)
    app.backend._cache.clear()
    assert AsyncResult("one", app=app).state == states.PENDING
    assert one(db, "select howdah.maintain_results()") == 1


def test_a_result_is_forgotten(app: Celery) -> None:
    app.backend.store_result("one", 1, states.SUCCESS)
    AsyncResult("one", app=app).forget()
    assert AsyncResult("one", app=app).state == states.PENDING


@pytest.mark.parametrize("serializer", ["pickle", "yaml"])
def test_results_of_any_serializer_and_compressed_ones_come_back(dsn: str, serializer: str) -> None:
    settings = {"result_serializer": serializer, "accept_content": ["pickle", "yaml", "json"]}
    with application(dsn, result_backend=results_url(dsn), result_compression="zlib", **settings) as app:
        app.backend.store_result("one", {"a": "\0" * 3000}, states.SUCCESS)
        app.backend._cache.clear()
        assert AsyncResult("one", app=app).get(timeout=0) == {"a": "\0" * 3000}


def test_who_waits_is_woken_by_a_notification_and_gives_up_in_time(app: Celery, db: Db) -> None:
    with pytest.raises(TimeoutError):
        AsyncResult("never", app=app).get(timeout=0.05)
    app.backend.store_result("other", 0, states.SUCCESS)
    woken: list[float] = []

    def wait() -> None:
        AsyncResult("one", app=app).get(timeout=TIMEOUT)
        woken.append(time.monotonic())
        app.backend.store.close()  # each thread has its own

    waiter = threading.Thread(target=wait)
    waiter.start()
    wait_until(lambda: one(db, "select count(*) from howdah.result_waiters where message_id = %s",
                           [number("celery-task-meta-one")]) == 1)  # fmt: skip
    app.backend.store_result("one", 1, states.SUCCESS)
    waiter.join(TIMEOUT)
    assert woken


def test_a_group_of_more_results_than_one_call_asks_for(app: Celery) -> None:
    ids = [f"{n}" for n in range(120)]
    for task_id in ids[1:]:
        app.backend.store_result(task_id, int(task_id), states.SUCCESS)
    results = GroupResult("group", [AsyncResult(task_id, app=app) for task_id in ids], app=app)
    last = threading.Timer(0.1, app.backend.store_result, ("0", 0, states.SUCCESS))  # on this thread's session
    last.start()
    assert results.join_native(timeout=TIMEOUT) == list(range(120))
    last.join()


def test_a_role_that_may_only_send_may_read_and_not_write(app: Celery, db: Db) -> None:
    app.backend.store_result("one", 1, states.SUCCESS)
    with db.transaction():
        db.execute("create role celery_asker; grant howdah_producer to celery_asker; set local role celery_asker")
        found = one(db, "select value->>'state' from howdah.result(%s, %s)", [RESULTS, number("celery-task-meta-one")])
        assert found == "SUCCESS"
        with pytest.raises(psycopg.errors.Error) as caught, db.transaction():
            db.execute("select howdah.keep_result(%s, -1, 'null')", [RESULTS])
        assert caught.value.sqlstate == "42501"
        raise psycopg.Rollback


def chord_of_two(app: Celery, db: Db, body: Signature) -> list[Context]:
    """Send a chord. What its two tasks would know when they run."""
    chord([app.signature("shop.add", (n, n)) for n in range(2)], app=app)(body)
    parts = [
        Context(id=headers["id"], group=headers["group"], chord=json.loads(text)[2]["chord"])
        for headers, text in db.execute("select headers, body from howdah.browse('celery')").fetchall()
    ]
    db.execute("select howdah.purge_queue('celery')")
    return parts


@pytest.mark.parametrize("as_group", [False, True])
def test_two_tasks_that_end_a_chord_at_once_send_its_body_once(app: Celery, dsn: str, db: Db, as_group: bool) -> None:
    total = app.signature("shop.total")
    body = group([total, total.clone()], app=app) if as_group else total
    parts = chord_of_two(app, db, body)
    for part in parts:
        app.backend.store_result(part.id, 1, states.SUCCESS)
    # Another process, which sees that both have ended before the first has said that it sent the body.
    with application(dsn, result_backend=results_url(dsn)) as other:
        get = other.backend.get
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(other.backend, "get", lambda key: None if "chord" in key else get(key))
            app.backend.on_chord_part_return(parts[0], states.SUCCESS, 1)
            other.backend.on_chord_part_return(parts[1], states.SUCCESS, 1)
    assert column(db, "select message_type from howdah.browse('celery')") == ["shop.total"] * (1 + as_group)
    app.backend.on_chord_part_return(parts[0], states.SUCCESS, 1)
    assert one(db, "select live from howdah.queue_stats('celery')") == 1 + as_group


@pytest.mark.slow
def test_two_tasks_that_end_a_failed_chord_at_once_call_its_errbacks_once(app: Celery, dsn: str, db: Db) -> None:
    body = app.signature("shop.total").on_error(app.signature("shop.regret"))
    parts = chord_of_two(app, db, body)
    for part in parts:
        app.backend.store_result(part.id, ValueError("no milk"), states.FAILURE)
    with application(dsn, result_backend=results_url(dsn)) as other:
        both = threading.Barrier(2)
        with pytest.MonkeyPatch.context() as patch:
            for backend in (app.backend, other.backend):
                claim, get = backend.store.claim, backend.get
                patch.setattr(backend, "get", lambda key, get=get: None if "chord" in key else get(key))
                patch.setattr(backend.store, "claim", lambda *given, claim=claim: (both.wait(10), claim(*given))[1])
            with ThreadPoolExecutor(2) as pool:
                error = ValueError("no milk")
                for ended in [
                    pool.submit(backend.on_chord_part_return, part, states.FAILURE, error)
                    for backend, part in zip((app.backend, other.backend), parts, strict=True)
                ]:
                    ended.result()
    assert column(db, "select message_type from howdah.browse('celery')") == ["shop.regret"]


def test_a_chord_whose_list_of_tasks_is_gone_fails_with_an_error(app: Celery) -> None:
    part = Context(id="part", group="lost", chord=app.signature("shop.total", task_id="body"))
    app.backend.on_chord_part_return(part, states.SUCCESS, 1)
    with pytest.raises(ChordError, match="lost no longer exists"):
        AsyncResult("body", app=app).get(timeout=0)
