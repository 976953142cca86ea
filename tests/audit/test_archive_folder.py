"""An archive's folder belongs to one database and one archiver at a time; what else it holds is refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from command import howdah, refused
from psycopg.conninfo import make_conninfo
from support import Clock, Db, column, one

from howdah.audit import AuditError
from howdah.audit.archive import run_archive, verify_archive
from howdah.audit.archive.folder import ArchiveFolder
from howdah.audit.snapshot import exported
from howdah.engine.errors import HowdahError

from .conftest import Archive, same_spark
from .traffic import send

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
