"""The archive of a database that was dumped and restored into another cluster."""

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql
from support import Db, Server, column, identifier, one

from howdah.audit import AuditError
from howdah.audit.archive import run_archive
from howdah.engine.embedded import EmbeddedServer
from howdah.engine.errors import HowdahError

from .conftest import Archive
from .traffic import fail, send

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_restored_into_another_cluster_it_begins_another_archive_with_each_row_once(
    archive: Archive, dsn: str, db: Db, server: Server, server_folder: Path, tmp_path: Path, spark: "SparkSession"
) -> None:
    if server.embedded is None:
        pytest.skip("pg_dump of the server's version is needed")
    db.execute('select howdah.create_queue(\'q\', \'{"journal_level": "full", "max_failed_deliveries": 1}\')')
    # Numbers that the other cluster will not have given out.
    db.execute("set synchronous_commit = off")
    db.execute("do $$ begin for i in 1..20000 loop perform pg_current_xact_id(); commit; end loop; end $$")
    assert fail(db, "q", send(db, "q", 3)[0]) == "moved"
    assert archive().journal == 4
    send(db, "q", 2)
    another = EmbeddedServer(server_folder, server.embedded.version)
    restored = another.start().dsn
    with psycopg.connect(restored, autocommit=True) as there:
        for role in column(db, "select rolname from pg_roles where rolname like 'howdah%'"):
            there.execute(sql.SQL("create role {}").format(identifier(role)))
        # A superuser's status stands for no membership.
        there.execute("grant howdah_admin, howdah_auditor, howdah_producer to current_user")
    file = tmp_path / "dump"
    subprocess.run([another.bin("pg_dump"), "-Fc", "-n", "howdah", "-f", file, dsn], check=True)
    subprocess.run([another.bin("pg_restore"), "--exit-on-error", "-d", restored, file], check=True)
    with psycopg.connect(restored, autocommit=True) as there:
        newest = one(there, "select max(xid) from howdah.journal")
        assert newest > one(there, "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
        with pytest.raises(AuditError, match=r"restored into another cluster since the last run.*--new"):
            run_archive(restored, tmp_path / "archive", spark=spark)
        with pytest.raises(HowdahError, match="rebase_topics"):
            run_archive(restored, tmp_path / "new", spark=spark, anew=True)
        one(there, "select howdah.rebase_topics()")
        done = run_archive(restored, tmp_path / "new", spark=spark, anew=True)
        assert (done.run, done.journal, done.incidents, done.messages) == (1, 6, 1, 1)
        send(there, "q", 1)
        done = run_archive(restored, tmp_path / "new", spark=spark)
        assert (done.run, done.journal, done.incidents, done.messages) == (2, 1, 0, 0)
    # The first database goes on with its own.
    assert archive().journal == 2
