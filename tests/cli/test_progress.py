"""Commands that take a minute say what they are at, to a person and to nobody else."""

import sys
from pathlib import Path
from typing import Any

import pytest
from command import Result, howdah, refused
from support import Db

import howdah.audit.archive as howdah_archive
from howdah.cli.archive import AFTER

# What ends each of them before Java starts: the first stages are told by then.
NO_JAR = ("--jdbc-jar", "/nowhere.jar")


def begun(dsn: str, folder: Path, *, watched: bool) -> list[Result]:
    return [
        howdah(dsn, "audit", "--no-record", *NO_JAR, watched=watched),
        howdah(dsn, "archive", "run", folder, *NO_JAR, watched=watched),
    ]


def test_audit_and_archive_say_at_a_terminal_what_they_are_at(dsn: str, db: Db, tmp_path: Path) -> None:
    for result in begun(dsn, tmp_path, watched=True):
        assert "starting Spark" in result.err
        assert "/nowhere.jar" in result.err
        assert result.out == ""


def test_audit_and_archive_say_nothing_of_it_where_stderr_is_no_terminal(dsn: str, db: Db, tmp_path: Path) -> None:
    for result in begun(dsn, tmp_path, watched=False):
        assert result.err.startswith("howdah: ")
        assert result.err.count("\n") == 1


def test_verifying_says_which_run_it_is_at_and_json_stays_json(
    dsn: str, db: Db, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def verify(dsn: str, folder: Path, **options: Any) -> list[Any]:
        options["on_stage"]("verifying run 1 of 1")
        return []

    monkeypatch.setattr(howdah_archive, "verify_archive", verify)
    result = howdah(dsn, "archive", "verify", tmp_path, "--json", watched=True)
    assert "verifying run 1 of 1" in result.err
    assert result.json == []


def test_verifying_ends_with_3_if_it_verified_nothing_because_1_says_that_a_run_is_damaged(
    dsn: str, db: Db, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused(howdah(dsn, "archive", "verify", tmp_path), "archive", code=3)
    refused(howdah("host=127.0.0.1 port=1 dbname=app", "archive", "verify", tmp_path), "", code=3)
    monkeypatch.setitem(sys.modules, "howdah.audit.errors", None)
    refused(howdah(dsn, "archive", "verify", tmp_path), "Spark", code=3)


def test_every_stage_of_a_run_of_the_archive_has_words_for_people() -> None:
    text = "".join(path.read_text() for path in Path(howdah_archive.__file__).parent.glob("*.py"))
    told = {part.split('"')[0] for part in text.split('on_stage("')[1:]}
    assert {stage for stage in told if stage.isalpha()} - AFTER.keys() == set()
