"""All partitions of all views are read in one snapshot, or the audit fails."""

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from support import Db

from howdah.audit import AuditError, run_audit
from howdah.audit import read as reading
from howdah.audit.read import read_view
from howdah.audit.snapshot import exported

from .conftest import Audit
from .traffic import receive, send

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def traffic(dsn: str, db: Db) -> Iterator[None]:
    """Somebody who sends and receives all the time."""
    db.execute("select howdah.create_queue('q', '{\"journal_level\": \"full\"}')")
    send(db, "q", 2000)
    started, stop = threading.Event(), threading.Event()

    def run() -> None:
        with psycopg.connect(dsn, autocommit=True) as mine:
            while not stop.is_set():
                send(mine, "q", 20)
                receive(mine, "q", 15)
                started.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert started.wait(20)
    yield
    stop.set()
    thread.join()


@pytest.mark.usefixtures("traffic")
def test_an_audit_balances_while_messages_flow(audit: Audit) -> None:
    result = audit(partitions=4)

    assert result.ok, result.rules
    assert result.queue("q").sent > 2000


@pytest.mark.usefixtures("traffic")
def test_without_the_snapshot_the_same_audit_is_refused_and_would_not_balance(audit: Audit) -> None:
    with patch.object(reading, "session_statement", lambda identifier: "select 1"):
        with pytest.raises(AuditError, match="not read in the audit's snapshot"):
            audit()
        with patch.object(reading, "ISOLATION", "read committed"):
            assert not audit().ok


@pytest.mark.parametrize("fetchsize", [0, 100])
def test_the_snapshot_holds_whether_or_not_the_driver_commits_each_statement(
    dsn: str, db: Db, spark: "SparkSession", fetchsize: int
) -> None:
    db.execute("select howdah.create_queue('q')")
    send(db, "q", 1000)
    with exported(dsn) as snapshot, patch.object(reading, "_FETCH_SIZE", fetchsize):
        send(db, "q", 1000)
        view = read_view(spark, snapshot, "audit_messages", 3)
        assert view.rows.rdd.getNumPartitions() == 3
        assert len(view.rows.collect()) == 1000
        assert view.check() == 1000


def test_the_snapshot_is_released_when_the_audit_fails(dsn: str, db: Db, audit: Audit, tmp_path: Path) -> None:
    nonsense = patch.object(reading, "session_statement", lambda identifier: "no such statement")
    with nonsense, pytest.raises(AuditError, match="syntax error"):
        audit(output=tmp_path / "out")
    with closing(db.execute("select count(*) from pg_stat_activity where application_name = 'howdah audit'")) as rows:
        assert rows.fetchone() == (0,)


def test_what_cannot_be_audited_says_why(dsn: str, spark: "SparkSession") -> None:
    bare = make_conninfo(dsn, dbname="postgres")
    with pytest.raises(AuditError, match="run howdah migrate"):
        run_audit(bare, spark=spark)
    with pytest.raises(AuditError, match="cannot connect"):
        run_audit(make_conninfo(dsn, port=1), spark=spark)
    with pytest.raises(AuditError, match="partitions"):
        run_audit(dsn, spark=spark, partitions=0)
    with pytest.raises(AuditError, match="hand it to the audit"):
        run_audit(dsn)
