"""An archive has every row, name and body whole, and gives a message back as it was."""

import random
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pyarrow.parquet
import pytest
from command import howdah, refused
from support import SYSTEM, Db, one

from howdah.audit import AuditError
from howdah.audit.archive import job, verify_archive
from howdah.audit.archive.history import open_history
from howdah.audit.archive.parts import INCIDENTS, JOURNAL, MESSAGES
from howdah.audit.snapshot import exported

from .conftest import Archive
from .traffic import fail, receive, send

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


FULL = '{"journal_level": "full", "max_failed_deliveries": 1}'


def journal_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("**/journal/**/*.parquet"))


def test_many_rows_and_long_names_are_archived_whole(
    archive: Archive, folder: Path, db: Db, dsn: str, spark: "SparkSession"
) -> None:
    for name in ("a/b", "/".join("x" * 121), "7", "2026-01-01"):
        db.execute("select howdah.create_queue(%s, %s)", [name, FULL])
        send(db, name, 50, priorities=list(range(10)) * 5)
        receive(db, name, 20)
    with patch.object(job, "SMALL", 10), patch.object(job, "ROWS_PER_FILE", 30):
        assert archive().journal == 4 * 70
    assert verify_archive(dsn, folder, spark=spark)[0].damage == ()
    assert len({path.parent.name for path in journal_files(folder)}) == 4
    assert all(pyarrow.parquet.read_metadata(path).num_rows <= 30 for path in journal_files(folder))


def test_large_bodies_are_written_in_groups_that_fit_into_memory(archive: Archive, folder: Path, db: Db) -> None:
    db.execute("select howdah.create_queue('q', %s)", [FULL])
    with patch.object(job, "BODY_BYTES", 1 << 20):
        for number in range(8):
            body = random.Random(number).randbytes(500_000)
            assert fail(db, "q", one(db, "select howdah.send('q', %s::bytea)", [body])) == "moved"
        assert archive().messages == 8
    (file,) = folder.glob("**/messages/**/*.parquet")
    assert pyarrow.parquet.read_metadata(file).num_row_groups >= 3


def test_a_message_is_restored_with_body_headers_and_properties_once(
    archive: Archive, folder: Path, db: Db, dsn: str
) -> None:
    db.execute("select howdah.create_queue('q', %s)", [FULL])
    number = one(
        db,
        "select howdah.send('q', '\\x00ff'::bytea, headers => '{\"a\": {\"b\": [1, null]}}',"
        " priority => 8, reply_to => 'r',"
        " correlation_id => 'c', message_type => 't', content_type => 'image/png',"
        " reliability => 'RELIABLE_PERSISTENT')",
    )
    text = one(db, "select howdah.send('q', 'tëxt')")
    for message in (number, text):
        assert fail(db, "q", message) == "moved"
    archive()
    command = partial(howdah, dsn, "archive", "restore", folder, "--to", "q")
    refused(command("--message", number), "is still there")
    db.execute("select howdah.discard(%s, %s, 'test')", [SYSTEM, [number, text]])
    refused(command("--message", 5), "does not have message 5")
    # Neither Spark nor Java is asked for.
    with patch("howdah.audit.java.find_java", side_effect=AssertionError):
        new = command("--message", number, "--json").json["message_id"]
    refused(command("--message", number), f"was restored before, as {new}")
    assert command("--message", number, "--again").code == 0
    assert command("--message", text).code == 0
    rows = db.execute(
        "select message_id, bytes, body, headers, priority, reply_to, correlation_id, message_type,"
        " content_type, redelivered, reliability"
        " from howdah.receive('q', 9)"
    ).fetchall()
    identity = one(db, "select archive_id::text from howdah.archive_identity()")
    came = {"howdah_restored_from": number, "howdah_archive_run": f"{identity}/1"}
    assert rows[0] == (
        new, b"\x00\xff", None, {"a": {"b": [1, None]}} | came, 8, "r", "c", "t", "image/png", False,
        "RELIABLE_PERSISTENT",
    )  # fmt: skip
    assert (rows[2][2], rows[2][3]["howdah_restored_from"]) == ("tëxt", text)
    (file,) = folder.glob("**/messages/**/*.parquet")
    file.write_bytes(file.read_bytes() + b"x")
    refused(command("--message", number, "--again"), "archive")


def test_a_column_that_came_after_a_run_is_unknown_of_its_rows(
    archive: Archive, folder: Path, db: Db, dsn: str, spark: "SparkSession"
) -> None:
    db.execute("select howdah.create_queue('q', %s)", [FULL])
    send(db, "q", 2)
    older = replace(JOURNAL, columns=tuple(name for name in JOURNAL.columns if name != "event"))
    with patch.object(job, "PARTS", (older, INCIDENTS, MESSAGES)):
        archive()
    send(db, "q", 1)
    with exported(dsn) as snapshot:
        history = open_history(spark, dsn, snapshot, folder)
        live = history.live("audit_journal", 2)
        assert live is not None
        rows, archived = history.whole("audit_journal", live.rows)
        assert rows.columns == live.rows.columns
        assert sorted(row.event or "" for row in rows.collect()) == ["", "", "sent"]
        assert archived == 2
        assert history.live("audit_messages", 2) is None
    with pytest.raises(AuditError, match="is not an archive"), exported(dsn) as snapshot:
        open_history(spark, dsn, snapshot, folder.parent)
