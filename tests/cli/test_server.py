"""howdah server: what a person at a terminal, or a script, sees of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


def howdah(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "howdah.cli.main", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_start_status_psql_stop(server_folder: Path) -> None:
    data = ("--data", server_folder)

    started = howdah("server", "start", *data, "--json")
    assert started.returncode == 0
    dsn = json.loads(started.stdout)["dsn"]

    status = howdah("server", "status", *data)
    assert status.returncode == 0
    assert dsn in status.stdout.splitlines()[-1]

    assert howdah("server", "psql", *data, "-Atc", "select 6 * 7").stdout == "42\n"

    assert howdah("server", "stop", *data).stdout == "stopped\n"
    assert json.loads(howdah("server", "stop", *data, "--json").stdout) == {"stopped": False}
    assert howdah("server", "status", *data).returncode == 3


def test_an_error_is_one_line_without_a_traceback(server_folder: Path) -> None:
    failed = howdah("server", "psql", "--data", server_folder)

    assert failed.returncode == 1
    assert failed.stderr == f"howdah: no server runs in {server_folder}: howdah server start\n"
    assert failed.stdout == ""


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")

    failed = howdah("server", "start", "--data", file / "below")

    assert failed.returncode == 1
    assert failed.stderr.startswith("howdah: the server in ")
    assert failed.stderr.count("\n") == 1


def test_the_folder_may_come_from_the_environment(server_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOWDAH_HOME", str(server_folder))

    assert str(server_folder) in howdah("server", "status").stdout
