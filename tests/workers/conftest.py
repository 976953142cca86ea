"""What tests of workers ask for: the tables that handlers write to, and supervisors with real processes."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from links_support import VARIABLE
from support import Connect, Db
from workers_support import APPS, TABLES, StartWorkers, Work, running


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample applications can be imported, here and in worker processes."""
    monkeypatch.syspath_prepend(str(APPS))
    monkeypatch.setenv("PYTHONPATH", str(APPS), prepend=os.pathsep)


@pytest.fixture
def tables(db: Db) -> Db:
    """The handlers' tables in the test's database, and its queues."""
    db.execute(TABLES)
    return db


@pytest.fixture
def shop(db: Db) -> Db:
    """The test's database, where async handlers brew what is ordered and serve it."""
    db.execute("create table brewed (item text); select howdah.create_queue('orders'), howdah.create_queue('served')")
    return db


@pytest.fixture
def start(tables: Db, dsn: str, tmp_path: Path) -> Iterator[StartWorkers]:
    """Starts workers on the test's database: one process with one session, unless told otherwise."""
    with running(tmp_path / "log") as begin:
        yield lambda *target, **options: begin(dsn, *target, **options)


@pytest.fixture
def jobs(tables: Db, dsn: str) -> Work:
    """The test's queue and tables."""
    return Work(tables, dsn)


@pytest.fixture
def logging_as_it_was() -> Iterator[None]:
    """What configure changes is put back."""
    root, factory, hook = logging.getLogger(), logging.getLogRecordFactory(), sys.excepthook
    handlers, level, own = list(root.handlers), root.level, logging.getLogger("howdah").level
    yield
    # A configuration without disable_existing_loggers silences all that there are, for every later test.
    for logger in logging.root.manager.loggerDict.values():
        if isinstance(logger, logging.Logger):
            logger.disabled = False
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers[:], sys.excepthook = handlers, hook
    root.setLevel(level)
    logging.getLogger("howdah").setLevel(own)
    logging.setLogRecordFactory(factory)
    logging.captureWarnings(False)


@pytest.fixture
def other(new_engine: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Another engine, which the links of a test lead to."""
    dsn = new_engine()
    monkeypatch.setenv(VARIABLE, dsn)
    return dsn


@pytest.fixture
def a(connect: Connect) -> Db:
    """The sending engine, with a queue."""
    db = connect()
    db.execute("select howdah.create_queue('out')")
    return db


@pytest.fixture
def b(other: str) -> Iterator[Db]:
    """The receiving engine, with a queue."""
    with psycopg.connect(other, autocommit=True) as db:
        db.execute("select howdah.create_queue('in')")
        yield db
