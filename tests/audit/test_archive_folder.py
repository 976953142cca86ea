"""Whose an archive's folder is, what else may lie in it, and what changes of files, leases or databases do to it."""

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pyarrow.parquet
import pytest
from command import howdah, refused
from psycopg.conninfo import make_conninfo
from support import SYSTEM, Clock, Db, column, one

from howdah.audit import AuditError
from howdah.audit.archive import job, run_archive, verify_archive
from howdah.audit.archive.folder import ArchiveFolder
from howdah.audit.archive.history import open_history
from howdah.audit.archive.parts import INCIDENTS, JOURNAL, MESSAGES
from howdah.audit.snapshot import exported
from howdah.engine.errors import HowdahError

from .conftest import Archive, same_spark
from .traffic import fail, receive, send

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FULL = '{"journal_level": "full", "max_failed_deliveries": 1}'


@pytest.fixture
def queue(db: Db) -> str:
    """A queue of which everything is recorded, with three messages sent."""
    db.execute("select howdah.create_queue('q', %s)", [FULL])
    send(db, "q", 3)
    return "q"


def at(stage: str, act: Callable[[], Any]) -> Callable[[str], None]:
    """A hook that acts at one stage."""
    return lambda now: act() if now == stage else None


def journal_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("**/journal/**/*.parquet"))


@pytest.mark.usefixtures("queue")
def test_of_two_archivers_at_once_the_second_is_refused(archive: Archive, db: Db) -> None:
    def second() -> None:
        with pytest.raises(AuditError, match="another archiver is at work"):
            archive()

    assert archive(on_stage=at("written", second)).run == 1
    assert column(db, "select run from howdah.list_archive_runs()") == [1]


@pytest.mark.usefixtures("queue")
@pytest.mark.parametrize("stage", ["sealed", "published"])
def test_an_archiver_whose_lease_ran_out_changes_nothing_any_more(
    archive: Archive, clock: Clock, db: Db, folder: Path, spark: "SparkSession", dsn: str, stage: str
) -> None:
    def other() -> None:
        clock.advance(61)
        assert archive().run == 1

    with pytest.raises((AuditError, HowdahError), match=r"lock 'archive' is not held|could not be put in its place"):
        archive(on_stage=at(stage, other))
    assert column(db, "select run from howdah.list_archive_runs()") == [1]
    (found,) = verify_archive(dsn, folder, spark=spark)
    assert (found.journal, found.damage) == (3, ())


@pytest.mark.usefixtures("queue")
def test_what_does_not_read_back_as_it_was_is_not_archived(archive: Archive, folder: Path, db: Db) -> None:
    with pytest.raises(AuditError, match="reads back as 0 rows"):
        archive(on_stage=at("written", lambda: journal_files(folder)[0].unlink()))
    assert column(db, "select run from howdah.list_archive_runs()") == []
    assert archive().journal == 3


@pytest.mark.usefixtures("queue")
def test_a_damaged_file_is_named_and_nothing_is_dropped_until_it_is_sound(
    archive: Archive, folder: Path, db: Db, dsn: str, clock: Clock, spark: "SparkSession"
) -> None:
    db.execute("select howdah.alter_engine('{\"archive\": true}')")
    archive()
    clock.advance(100 * 86400)
    (file,) = journal_files(folder)
    sound = file.read_bytes()
    with same_spark(spark):
        file.write_bytes(sound[:50] + bytes([sound[50] ^ 1]) + sound[51:])
        answer = howdah(dsn, "archive", "verify", folder, "--json")
        assert (answer.code, answer.json[0]["damage"]) == (1, f"{file} is not what was written")
        one(db, "select howdah.maintain_journal()")
        assert one(db, "select count(*) from howdah.journal") > 0
        waits = column(db, "select advice from howdah.check_server() where setting = 'maintenance journal'")
        assert {advice.split(": ")[1] for advice in waits} == {"run 1 of the archive is damaged"}
        file.unlink()
        assert "cannot be read" in howdah(dsn, "archive", "verify", folder, "--json").json[0]["damage"]
        file.write_bytes(sound)
        shutil.copy(file, file.with_name("stranger.parquet"))
        assert (
            "stranger.parquet was not written" in howdah(dsn, "archive", "verify", folder, "--json").json[0]["damage"]
        )
        file.with_name("stranger.parquet").unlink()
        answer = howdah(dsn, "archive", "verify", folder)
        assert (answer.code, "damaged" in answer.out) == (0, False)
    one(db, "select howdah.maintain_journal()")
    assert one(db, "select count(*) from howdah.journal") == 0
    assert howdah(dsn, "archive", "list", "--json").json[0]["damage"] is None


def lost(file: Path) -> str:
    file.unlink()
    return "cannot be read: No such file or directory"


def lengthened(file: Path) -> str:
    file.write_bytes(file.read_bytes() + b"x")
    return f"has {file.stat().st_size} bytes instead of {file.stat().st_size - 1}"


def altered(file: Path) -> str:
    content = file.read_bytes()
    file.write_bytes(content[:50] + bytes([content[50] ^ 1]) + content[51:])
    return "is not what was written"


def doubled(file: Path) -> str:
    shutil.copy(file, file.with_name("part-stranger.parquet"))
    return "was not written by the run"


@pytest.mark.parametrize("damage", [lost, lengthened, altered, doubled])
@pytest.mark.parametrize("part", ["journal", "incidents"])
def test_an_audit_over_an_archive_refuses_one_whose_files_are_not_what_was_written(
    archive: Archive, folder: Path, db: Db, dsn: str, spark: "SparkSession", part: str, damage: Callable[[Path], str]
) -> None:
    for queue in ("q", "r"):
        db.execute("select howdah.create_queue(%s, %s)", [queue, FULL])
        assert fail(db, queue, send(db, queue, 2)[0]) == "moved"
    archive()
    send(db, "q", 1)
    archive()
    with same_spark(spark):
        answer = howdah(dsn, "audit", "--archive", folder, "--json")
        assert (answer.code, answer.json["rows"]["journal"], answer.json["rows"]["incidents"]) == (0, 7, 2)
        (file,) = (folder / "run=1" / part).glob("*/queue=r/*.parquet")
        said = damage(file)
        answer = howdah(dsn, "audit", "--archive", folder)
    assert answer.code == 3
    named = file.with_name("part-stranger.parquet") if damage is doubled else file
    assert f"run 1 of the archive is damaged: {named} {said}" in " ".join(answer.err.split())


@pytest.mark.usefixtures("queue")
def test_what_an_audit_says_it_read_of_an_archive_is_counted_in_its_files(
    archive: Archive, folder: Path, dsn: str, spark: "SparkSession"
) -> None:
    archive()
    with exported(dsn) as snapshot:
        history = open_history(spark, dsn, snapshot, folder)
        live = history.live("audit_journal", 2)
        assert live is not None
        assert history.whole("audit_journal", live.rows)[1] == 3
        shutil.rmtree(folder / "run=1" / "journal")  # between the look at the files and Spark's
        with pytest.raises(AuditError, match="has 0 rows of journal, and its runs wrote 3"):
            history.whole("audit_journal", live.rows)


@pytest.mark.usefixtures("queue")
def test_a_folder_belongs_to_one_archive_of_one_database(
    archive: Archive, folder: Path, tmp_path: Path, db: Db, dsn: str, spark: "SparkSession"
) -> None:
    archive()
    with same_spark(spark):
        refused(howdah(dsn, "archive", "run", tmp_path / "other"), "has an archive already")
        refused(howdah(dsn, "archive", "run", folder, "--new"), "begins in an empty folder")
        send(db, "q", 1)
        # Refused before anything was done: the run is the second one, and has that message alone.
        assert howdah(dsn, "archive", "run", folder, "--json").json["journal"] == 1
        assert howdah(dsn, "archive", "run", folder).out == "nothing is new since run 2\n"
        made = howdah(dsn, "archive", "run", tmp_path / "other", "--new", "--json").json
        assert (made["run"], made["journal"]) == (1, 4)
        refused(howdah(dsn, "archive", "run", folder), "an earlier archive of this database")
        strange = tmp_path / "strange"
        strange.mkdir()
        (strange / "cat.jpg").touch()
        refused(howdah(dsn, "archive", "run", strange), "neither empty nor an archive")
        refused(howdah(dsn, "archive", "verify", strange), "is not an archive", code=3)
        known = json.loads((folder / "archive.json").read_text())
        (folder / "archive.json").write_text(json.dumps(known | {"archive_id": "00000000-0000-0000-0000-000000000000"}))
        refused(howdah(dsn, "archive", "run", folder), "of another database")


@pytest.mark.usefixtures("queue")
def test_a_database_restored_to_before_the_last_run_is_refused_and_told_what_to_do(
    archive: Archive, folder: Path, tmp_path: Path, db: Db
) -> None:
    archive()
    send(db, "q", 1)
    archive()
    db.execute("delete from howdah.archive_runs where run = 2")
    with pytest.raises(AuditError, match=r"restored to before that run.*--new"):
        archive()
    shutil.rmtree(folder / "run=2")  # nor does it help to remove it
    db.execute("update howdah.archive_runs set manifest = 'another'")
    with pytest.raises(AuditError, match="is not the one that was written by run 1"):
        archive()
    shutil.rmtree(folder / "run=1")
    with pytest.raises(AuditError, match="lacks run 1"):
        archive()
    again = tmp_path / "again"
    assert archive(again, anew=True).journal == 4


@pytest.mark.usefixtures("queue")
def test_transaction_numbers_of_another_cluster_are_refused(archive: Archive, db: Db, tmp_path: Path) -> None:
    archive()
    db.execute("update howdah.journal set xid = xid + 1000000000000")
    with pytest.raises(AuditError, match="transaction numbers of another cluster"):
        archive()
    assert archive(tmp_path / "again", anew=True).journal == 3
    assert archive(tmp_path / "again").journal == 0


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


def test_a_folder_that_is_no_archive_is_not_taken_for_one(tmp_path: Path) -> None:
    folder = ArchiveFolder(tmp_path)
    assert folder.is_new()
    with pytest.raises(AuditError, match="is not an archive"):
        folder.archive_id()
    (tmp_path / "archive.json").write_text("{")
    with pytest.raises(AuditError, match="cannot be read"):
        folder.archive_id()


def test_archiving_is_for_administrators(dsn: str, folder: Path, db: Db, spark: "SparkSession") -> None:
    if one(db, "select admin_role = producer_role from howdah.engine"):
        pytest.skip("installed in one-role mode: this server's role may not create roles")
    db.execute("create role archiver_test login password 'secret' in role howdah_auditor, howdah_consumer")
    theirs = make_conninfo(dsn, user="archiver_test", password="secret")
    try:
        with pytest.raises(Exception, match="reserved for administrators"):
            run_archive(theirs, folder, spark=spark)
        db.execute("grant howdah_admin to archiver_test")
        assert run_archive(theirs, folder, spark=spark, partitions=2).run == 1
    finally:
        db.execute("drop role archiver_test")


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


def _of_maintenance(dsn: str) -> list[dict[str, Any]]:
    """What check says of maintenance; of an embedded server it says that this is the development profile, too."""
    return [row for row in howdah(dsn, "check", "--json").json if row["setting"].startswith("maintenance")]


@pytest.mark.slow
@pytest.mark.usefixtures("queue")
def test_retention_waits_for_a_running_audit_and_names_it(dsn: str, db: Db, clock: Clock) -> None:
    clock.advance(100 * 86400)
    said: list[str] = []
    db.add_notice_handler(lambda notice: said.append(str(notice.message_primary)))
    with exported(dsn):
        one(db, "select howdah.maintain_journal()")
        assert one(db, "select count(*) from howdah.journal") == 1
        assert "in use by howdah audit (process " in said[0]
        (row,) = _of_maintenance(dsn)
        assert (row["setting"], row["danger"]) == ("maintenance journal", "stall")
        assert "in use by howdah audit (process " in row["advice"]
    one(db, "select howdah.maintain_journal()")
    assert one(db, "select count(*) from howdah.journal") == 0
    assert _of_maintenance(dsn) == []
