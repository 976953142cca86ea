"""howdah server: what a person at a terminal, or a script, sees of it."""

import json
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from command import howdah as in_process
from command import refused
from psycopg.conninfo import conninfo_to_dict
from support import one

from howdah.engine.embedded import EmbeddedServer


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


@pytest.mark.slow
def test_an_error_is_one_line_without_a_traceback(server_folder: Path) -> None:
    failed = howdah("server", "psql", "--data", server_folder)

    assert failed.returncode == 3
    assert failed.stderr.startswith(f"howdah: no server runs in {server_folder} (howdah server start starts it.")
    assert failed.stderr.count("\n") == 1
    assert failed.stdout == ""


@pytest.mark.slow
def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")

    failed = howdah("server", "start", "--data", file / "below")

    assert failed.returncode == 1
    assert failed.stderr.startswith("howdah: the server in ")
    assert failed.stderr.count("\n") == 1


@pytest.mark.slow
def test_the_folder_may_come_from_the_environment(server_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOWDAH_HOME", str(server_folder))

    assert str(server_folder) in howdah("server", "status").stdout


@pytest.fixture
def at_home(server_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A default folder in which nothing runs; no DSN is given."""
    home = server_folder.parent / "home"
    monkeypatch.delenv("HOWDAH_DSN", raising=False)
    monkeypatch.setenv("HOWDAH_HOME", str(home))
    return home


def test_commands_start_no_server_and_say_how_to_start_or_name_one(at_home: Path) -> None:
    for words in (("migrate",), ("queue", "list"), ("check",), ("worker", "shop:app"), ("send", "q", "x")):
        result = in_process("", *words)
        refused(result, f"howdah: no server runs in {at_home} (howdah server start starts it.", 3)
        assert "HOWDAH_HOME" in result.err
        assert "--dsn or HOWDAH_DSN" in result.err
    assert not at_home.exists()


@pytest.mark.slow
def test_a_started_server_that_others_will_not_find_says_how_they_would(
    made_folder: Path, at_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = howdah("server", "start", "--data", made_folder)
    assert started.returncode == 0
    assert started.stderr == (
        f"howdah: note: other commands work on this server once you say: export HOWDAH_HOME={made_folder}\n"
    )
    status = howdah("server", "status")
    assert status.returncode == 3
    assert f"no server runs in {at_home}; one in another folder is named with --data or HOWDAH_HOME" in status.stdout

    monkeypatch.setenv("HOWDAH_HOME", str(made_folder))
    assert howdah("server", "start").stderr == ""
    listed = howdah("migrate", "--status")
    assert listed.returncode == 0
    assert listed.stderr.startswith(f"howdah: the embedded server in {made_folder}, database howdah on 127.0.0.1:")
    assert listed.stderr.count("\n") == 1

    monkeypatch.setenv("HOWDAH_DSN", "postgresql://elsewhere/app")
    assert "note: HOWDAH_DSN is set" in howdah("server", "start").stderr


@pytest.mark.slow
def test_the_engine_is_made_non_persistent_at_the_start_and_a_plain_start_leaves_it_so(
    private_server: EmbeddedServer,
) -> None:
    data = ("--data", private_server.folder)

    def persistent() -> object:
        with psycopg.connect(private_server.start().dsn) as db:
            return one(db, "select howdah.engine_options() -> 'persistent'")

    assert howdah("server", "start", *data, "--non-persistent").returncode == 0
    assert persistent() is False
    private_server.stop()
    assert howdah("server", "start", *data).returncode == 0
    assert persistent() is False
    assert howdah("server", "start", *data, "--persistent").returncode == 0
    assert persistent() is True


@pytest.mark.slow
def test_a_start_that_finds_no_engine_to_alter_says_so_and_leaves_the_server_running(made_folder: Path) -> None:
    started = howdah("server", "start", "--data", made_folder, "--non-persistent", "--json")
    assert started.returncode == 3
    assert "howdah: the server runs, but Howdah is not installed in its database" in started.stderr
    assert "(Run howdah migrate --non-persistent.)" in started.stderr
    assert json.loads(started.stdout)["running"] is True
    assert howdah("server", "status", "--data", made_folder).returncode == 0


@pytest.mark.slow
def test_migrate_names_its_database_without_a_password(dsn: str) -> None:
    access = conninfo_to_dict(dsn)
    named = f"database {access['dbname']} on {access['host']}:{access['port']} as {access['user']}"
    assert named in in_process(dsn, "migrate").out
    shown = in_process(dsn, "migrate", "--status", "--json")
    assert shown.json["database"] == named
    assert str(access["password"]) not in shown.out
    assert named in in_process(dsn, "migrate", "--check").out


def test_at_a_terminal_a_command_names_the_database_of_a_dsn_once(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    access = conninfo_to_dict(dsn)
    monkeypatch.setattr("howdah.cli.target._is_read_by_people", lambda: True)
    listed = in_process(dsn, "queue", "list", "--json")
    assert listed.err == (
        f"howdah: database {access['dbname']} on {access['host']}:{access['port']} as {access['user']}\n"
    )
    assert in_process(dsn, "migrate", "--status").err == listed.err
