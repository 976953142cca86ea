"""All partitions of all views are read in one snapshot, or the audit fails."""

import re
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import patch

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import make_conninfo
from support import Db, column, wait_until

from howdah.audit import AuditError, kept, run_audit, session, snapshot
from howdah.audit import read as reading
from howdah.audit.archive.lease import Lease
from howdah.audit.origin import read_origin
from howdah.audit.read import View, ranges, read_view
from howdah.audit.recorded import run_recorded
from howdah.audit.snapshot import TABLES, Snapshot, exported

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


def test_rows_are_counted_as_the_audit_reads_them_while_they_are_few(dsn: str, db: Db) -> None:
    """A call that received thousands of messages is one row of the journal and thousands of the view."""
    db.execute("select howdah.create_queue('q')")
    with exported(dsn) as taken:
        before = taken.rows
    db.execute("select howdah.send_batch('q', array_fill('x'::text, array[3000]))")
    db.execute("select count(*) from howdah.receive('q', 3000)")
    with exported(dsn, 100_000) as taken:
        assert 3000 <= taken.rows < 3100
    with exported(dsn, 1000) as taken:
        assert 1000 < taken.rows < 1100
    assert before < 100
    with patch.object(snapshot, "FEW_BLOCKS", 0), exported(dsn, 100_000) as taken:
        assert taken.rows == 100_001


@pytest.mark.usefixtures("traffic")
@pytest.mark.parametrize("rows", [False, True])
def test_an_audit_balances_while_messages_flow(audit: Audit, monkeypatch: pytest.MonkeyPatch, rows: bool) -> None:
    monkeypatch.setattr(session, "FEW_ROWS", -1)  # of few rows one connection reads all
    result = audit(partitions=4, rows=rows)

    assert result.ok, result.rules
    assert result.queue("q").sent > 2000


@pytest.mark.usefixtures("traffic")
def test_without_the_snapshot_the_same_audit_is_refused_and_would_not_balance(audit: Audit) -> None:
    with patch.object(reading, "session_statement", lambda identifier: "select 1"):
        with pytest.raises(AuditError, match="not read in the audit's snapshot"):
            audit(rows=False)
        with patch.object(reading, "ISOLATION", "read committed"):
            assert not audit(rows=True).ok


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


@given(blocks=st.lists(st.integers(0, 5000), max_size=5), parts=st.integers(1, 9))
def test_ranges_hold_each_block_once_and_none_holds_far_more_than_the_others(blocks: list[int], parts: int) -> None:
    conditions = ranges(blocks, parts)
    edges = [[int(number) for number in re.findall(r"\((\d+),0\)", condition)] for condition in conditions]

    assert 1 <= len(conditions) <= parts
    assert [pair[0] for pair in edges] == [0, *(pair[1] for pair in edges[:-1])], (
        "each begins where the one before ends"
    )
    assert len(edges[-1]) == 1, "the last has no end"
    sizes = [
        sum(max(0, min(size, upper) - lower) for size in blocks)
        for lower, upper in zip(
            [0, *(pair[1] for pair in edges[:-1])], [*(pair[1] for pair in edges[:-1]), 5000], strict=True
        )
    ]
    assert sum(sizes) == sum(blocks)
    assert max(sizes) <= sum(blocks) / parts + len(blocks) + 1


@pytest.mark.parametrize("view", TABLES)
def test_a_range_of_a_view_reads_its_own_blocks_alone(db: Db, view: str) -> None:
    db.execute("set enable_seqscan = off")  # which is cheaper while a table is small
    plan = column(db, f"explain select * from howdah.{view} where {ranges([2000], 2)[0]}")
    scans = [line for line in plan if re.search(r"Scan.* on (journal|msgs|parked|leased|poison_details)", line)]
    assert scans
    assert all("Tid Range Scan" in line for line in scans), plan


def test_the_snapshot_is_released_when_the_audit_fails(dsn: str, db: Db, audit: Audit, tmp_path: Path) -> None:
    nonsense = patch.object(reading, "session_statement", lambda identifier: "no such statement")
    with nonsense, pytest.raises(AuditError, match="syntax error"):
        audit(output=tmp_path / "out")
    left = "select 1 from pg_stat_activity where application_name = 'howdah audit' and datname = current_database()"
    wait_until(lambda: not column(db, left))  # a session that was closed takes a moment to end


def end_exporter(db: Db) -> None:
    db.execute(
        "select pg_terminate_backend(pid, 10000) from pg_stat_activity"
        " where application_name = 'howdah audit' and state = 'idle in transaction' and datname = current_database()"
    )


def test_an_audit_whose_exporter_is_lost_between_two_views_says_so(db: Db, audit: Audit) -> None:
    def read(spark: "SparkSession", snapshot: Snapshot, view: str, partitions: int, *more: Any) -> View:
        if view == "audit_messages":
            end_exporter(db)
        return read_view(spark, snapshot, view, partitions, *more)

    with patch.object(kept, "read_view", read), pytest.raises(AuditError, match="holds the audit's snapshot was lost"):
        audit()


def test_a_snapshot_that_is_lost_after_the_last_view_says_so_too(dsn: str, db: Db) -> None:
    with pytest.raises(AuditError, match="holds the audit's snapshot was lost"), exported(dsn):
        end_exporter(db)


def connection(**parameters: str) -> "psycopg.Connection[tuple[object, ...]]":
    """One whose DSN says so."""
    told = {"host": "db.example", "port": 5432, "user": "u", "password": "p", "dbname": "d"}
    info = SimpleNamespace(**told, get_parameters=lambda: parameters)
    return cast("psycopg.Connection[tuple[object, ...]]", SimpleNamespace(info=info))


def test_what_a_dsn_says_of_tls_holds_for_spark_too(tmp_path: Path) -> None:
    key = tmp_path / "client.key"
    key.write_bytes(b"\x30\x82\x04")
    tls = {
        "sslmode": "verify-full",
        "sslrootcert": "ca.crt",
        "sslcert": "c.crt",
        "sslkey": str(key),
        "sslpassword": "s",
    }
    url, properties = snapshot._jdbc(connection(**tls, connect_timeout="5"))
    assert url == "jdbc:postgresql://db.example:5432/d"
    assert properties == tls | {"user": "u", "password": "p", "ApplicationName": "howdah audit"}
    key.write_text("-----BEGIN PRIVATE KEY-----\n")
    with pytest.raises(AuditError, match=r"reads no key in PEM.*openssl pkcs8 .*client\.pk8"):
        snapshot._jdbc(connection(**tls))
    key.unlink()
    with pytest.raises(AuditError, match=r"cannot read sslkey .*client.key: No such file"):
        snapshot._jdbc(connection(**tls))
    with pytest.raises(AuditError, match=r"JDBC driver has no sslcrl"):
        snapshot._jdbc(connection(sslcrl="revoked.crl"))


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
    cluster = cast("SparkSession", SimpleNamespace(sparkContext=SimpleNamespace(master="spark://elsewhere:7077")))
    with pytest.raises(AuditError, match="on a cluster --output must name a folder"):
        run_audit(dsn, spark=cluster)


@pytest.mark.parametrize("dsn", ["postgresql://u:s3cr3t%@127.0.0.1:1/x", "postgresql://u:s3cr3t@[::1/x"])
def test_a_malformed_dsn_is_refused_without_its_password(dsn: str) -> None:
    for entry in (
        exported(dsn).__enter__,
        lambda: read_origin(dsn),
        lambda: run_recorded(dsn, "me"),
        lambda: Lease(dsn),
    ):
        with pytest.raises(AuditError, match="the DSN cannot be read") as caught:
            entry()
        assert "s3cr3t" not in "".join(traceback.format_exception(caught.value))
