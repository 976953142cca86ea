"""An archive's damaged files are named, and nothing is dropped or audited before they are sound."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from command import howdah
from support import Clock, Db, column, one

from howdah.audit import AuditError
from howdah.audit.archive.history import open_history
from howdah.audit.snapshot import exported

from .conftest import Archive, same_spark
from .traffic import fail, send

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
