"""A task is sent in its caller's own transaction, of whatever library, and goes with its commit."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
import sqlalchemy
from celery import Celery
from celery_support import application, url
from sqlalchemy import orm
from support import Db, one
from transport_support import bodies

from howdah.django.connections import Borrowed
from howdah.engine.errors import (
    IllegalState,
)
from howdah.kombu import using
from howdah.kombu.server import callers


@pytest.fixture
def app(dsn: str) -> Iterator[Celery]:
    """Sends tasks to a queue that is there."""
    with application(dsn) as made:
        yield made


def _psycopg(dsn: str, send: Callable[[], None], *, commit: bool) -> None:
    with psycopg.connect(dsn, row_factory=psycopg.rows.dict_row) as own, using(own):
        own.execute("insert into orders values ('mocha')")
        send()
        own.commit() if commit else own.rollback()


def _sqlalchemy(dsn: str, send: Callable[[], None], *, commit: bool) -> None:
    engine = sqlalchemy.create_engine(url(dsn, "postgresql+psycopg"))
    with orm.Session(engine) as own, using(own):
        own.execute(sqlalchemy.text("insert into orders values ('mocha')"))
        send()
        own.commit() if commit else own.rollback()
    engine.dispose()


@pytest.mark.first_case
@pytest.mark.parametrize("library", [_psycopg, _sqlalchemy])
def test_a_task_is_sent_in_the_callers_own_transaction(
    app: Celery, dsn: str, db: Db, library: Callable[..., None]
) -> None:
    db.execute("create table orders (item text)")

    def send() -> None:
        app.send_task("shop.brew", ("mocha",), priority=5, countdown=None)
        assert one(db, "select live + parked from howdah.queue_stats('celery')") == 0

    app.amqp.queues.select_add("celery")
    library(dsn, send, commit=False)
    assert (one(db, "select count(*) from orders"), len(bodies(db, "celery"))) == (0, 0)
    library(dsn, send, commit=True)
    assert (one(db, "select count(*) from orders"), len(bodies(db, "celery"))) == (1, 1)
    app.send_task("shop.brew")
    assert len(bodies(db, "celery")) == 2


@pytest.mark.parametrize("library", [_psycopg, _sqlalchemy])
@pytest.mark.parametrize("topic", [False, True], ids=["nobody has bound a queue", "its topic is paused"])
def test_an_event_that_is_refused_leaves_the_callers_transaction_whole(
    dsn: str, db: Db, library: Callable[..., None], topic: bool
) -> None:
    """Celery sends one after each task, and goes on whatever becomes of it."""
    db.execute("create table orders (item text)")
    if topic:
        db.execute(
            "select howdah.create_topic('celeryev.exchange'), howdah.pause('celeryev.exchange', sending => true)"
        )
    with application(dsn, task_send_sent_event=True) as app:
        app.amqp.queues.select_add("celery")
        library(dsn, lambda: app.send_task("shop.brew", ("mocha",)), commit=True)
    assert (one(db, "select count(*) from orders"), len(bodies(db, "celery"))) == (1, 1)


def test_an_event_in_the_callers_transaction_is_sent_with_its_commit(dsn: str, db: Db) -> None:
    db.execute("select howdah.create_topic('celeryev.exchange')")
    heard = one(db, "select howdah.subscribe('celeryev.exchange', 'monitor')")
    with application(dsn, task_send_sent_event=True) as app, psycopg.connect(dsn) as own:
        app.amqp.queues.select_add("celery")
        with using(own):
            app.send_task("shop.brew", ("mocha",))
        assert own.info.transaction_status is psycopg.pq.TransactionStatus.INTRANS
        assert bodies(db, heard) == []
        own.commit()
    assert len(bodies(db, heard)) == 1


@pytest.mark.slow
def test_a_task_is_sent_in_an_atomic_block_of_django(dsn: str, db: Db) -> None:
    db.execute("create table orders (item text)")
    program = Path(__file__).with_name("django_shop.py")
    paths = os.pathsep.join(path for path in sys.path if path.endswith(("/src", "/helpers")))
    for commit in (False, True):
        arguments = [sys.executable, "-P", str(program), dsn, str(commit)]
        subprocess.run(arguments, env={**os.environ, "PYTHONPATH": paths}, check=True)
        assert (one(db, "select count(*) from orders"), len(bodies(db, "celery"))) == (commit, commit)


def test_using_takes_djangos_connection_inside_a_task_of_djangos(db: Db) -> None:
    borrowed = object.__new__(Borrowed)
    borrowed.borrowed = db
    with using(SimpleNamespace(ensure_connection=lambda: None, connection=borrowed)):
        assert callers() is db


def test_using_refuses_what_is_no_connection_and_ends_with_its_block_and_thread(app: Celery, db: Db, dsn: str) -> None:
    app.send_task("shop.brew")
    with using("postgresql://"), pytest.raises(IllegalState):
        app.send_task("shop.brew")
    with psycopg.connect(dsn) as own:
        with using(own):
            other = threading.Thread(target=app.send_task, args=("shop.brew",))
            other.start()
            other.join()
            app.send_task("shop.brew")
        own.rollback()
    assert len(bodies(db, "celery")) == 2
