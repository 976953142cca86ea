"""howdah health: its exit codes, which service managers and containers read."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import howdah
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from support import Db

NOBODY_LISTENS = "host=127.0.0.1 port=1 dbname=none"


def test_it_ends_with_0_for_a_database_that_serves_and_shows_each_check(dsn: str) -> None:
    shown = howdah(dsn, "health")
    assert shown.code == 0
    for name in ("server", "schema", "engine", "maintenance", "workers", "instances"):
        assert f"\n{name} " in shown.out


def test_it_ends_with_1_while_the_engine_is_halted_which_check_only_reports(dsn: str, db: Db) -> None:
    db.execute("select howdah.pause_engine()")
    assert howdah(dsn, "health").code == 1
    assert howdah(dsn, "health", "--live").code == 0
    assert howdah(dsn, "check").code == 0
    db.execute("select howdah.resume_engine()")
    assert howdah(dsn, "health").code == 0


def test_it_ends_with_3_without_an_answer_and_without_a_schema(empty_dsn: str) -> None:
    assert howdah(NOBODY_LISTENS, "health").code == 3
    assert howdah(NOBODY_LISTENS, "health", "--live").code == 3
    assert howdah(empty_dsn, "health").code == 3
    assert howdah(empty_dsn, "health", "--live").code == 0
    assert howdah(NOBODY_LISTENS, "health", "--json").json["live"] is False


def test_a_warning_passes_unless_it_is_to_be_strict(dsn: str) -> None:
    found = howdah(dsn, "health", "--json").json
    assert "warning" in {check["state"] for check in found["checks"]}, "no worker runs"
    assert found["ready"] is True
    assert howdah(dsn, "health", "--strict").code == 1


def test_an_instance_that_does_not_run_is_no_service(dsn: str) -> None:
    shown = howdah(dsn, "health", "--instance", "nobody")
    assert shown.code == 1
    assert "nobody is not registered" in shown.out


@pytest.mark.parametrize("seconds", ["0", "nan", "101w1d"])
def test_a_timeout_out_of_bounds_is_wrong_usage(dsn: str, seconds: str) -> None:
    assert howdah(dsn, "health", "--timeout", seconds).code == 2


@pytest.mark.first_case
@pytest.mark.behaviour("IMQ-70")
@pytest.mark.parametrize("command", [["health"], ["migrate"], ["queue", "list"], ["audit", "--last"]])
def test_the_passfile_of_the_environment_serves_every_command_and_a_loose_one_none(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    parts = conninfo_to_dict(dsn)
    password = parts.pop("password", None)
    if not password:
        pytest.skip("this server asks for no password")
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("PGPASSWORD", "PGPASSFILE", "HOWDAH_PASSFILE"):
        monkeypatch.delenv(variable, raising=False)
    passfile = tmp_path / "passwords"
    passfile.write_text(f"*:*:*:*:{password}\n")
    passfile.chmod(0o600)
    without = make_conninfo("", **{name: str(value) for name, value in parts.items()})
    assert howdah(without, *command).code != 0
    monkeypatch.setenv("HOWDAH_PASSFILE", str(passfile))
    assert howdah(without, *command).code == 0
    passfile.chmod(0o640)
    refused = howdah(without, *command)
    assert refused.code != 0
    assert "not 0600" in refused.err
