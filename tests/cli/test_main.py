"""What holds for every command: exit codes, one line for an error, quick starts."""

import os
import signal
import socket
import subprocess
import sys
import time
from importlib.metadata import version

import pytest
from command import howdah, refused, start
from psycopg.conninfo import make_conninfo
from support import Db, one, wait_until

from howdah.text.extras import how_to_install

READING = [("queue", "list"), ("queue", "stats"), ("workers",), ("poison", "list"), ("send", "q", "x"), ("audit",)]


def test_a_database_that_is_not_migrated(empty_dsn: str) -> None:
    for words in (*READING, ("receive", "q"), ("send", "q", "-f", "-")):
        refused(howdah(empty_dsn, *words, stdin='{"body": 1}'), "this database has no Howdah", 3)


@pytest.mark.parametrize("words", [*READING, ("migrate",), ("migrate", "--check")])
def test_a_dsn_that_does_not_answer(words: tuple[str, ...]) -> None:
    closed = howdah("postgresql://howdah:secret@127.0.0.1:1/x", *words)
    refused(closed, "cannot connect", 3)
    assert "secret" not in closed.err
    refused(howdah("what is this", *words), "cannot be read", 3)


@pytest.mark.slow
def test_a_server_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("howdah.cli.common.CONNECT_SECONDS", 60)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        begun = time.monotonic()
        dsn = f"postgresql://howdah@127.0.0.1:{silent.getsockname()[1]}/x?connect_timeout=2&sslmode=disable"
        refused(howdah(dsn, "queue", "list"), "cannot connect", 3)
        assert time.monotonic() - begun < 30


@pytest.mark.slow
def test_exit_codes_of_a_real_program(dsn: str, empty_dsn: str) -> None:
    codes = {}
    for database, *words in (
        (dsn, "queue", "list"),
        (dsn, "queue", "show", "nowhere"),
        (dsn, "queue", "show"),
        (empty_dsn, "queue", "list"),
    ):
        process = start(database, *words)
        _, err = process.communicate(timeout=60)
        codes[tuple(words), database] = process.returncode
        assert b"Traceback" not in err
        if process.returncode:
            assert err.count(b"\n") == 1
    assert list(codes.values()) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("queue", "show"), "howdah: Missing argument 'QUEUE'. (see: howdah queue show --help)\n"),
        (("--frob",), "howdah: No such option: --frob (see: howdah --help)\n"),
        (("frob",), "howdah: No such command 'frob'. (see: howdah --help)\n"),
        (("receive", "q", "--wait=-1"), "howdah: Invalid value for '--wait': '-1' is not a duration"),
        (("migrate", "--one-role", "--role-prefix", "x_"), "howdah: Invalid value for --role-prefix: --one-role has"),
    ],
)
def test_wrong_usage_is_one_line_that_names_the_help(dsn: str, words: tuple[str, ...], said: str) -> None:
    shown = howdah(dsn, *words)
    assert (shown.code, shown.out, shown.err.count("\n")) == (2, "", 1)
    assert shown.err.startswith(said)


def test_python_dash_m_howdah_is_the_command() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "howdah", "--version"], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"howdah {version('howdah')}\n", "")


@pytest.mark.slow
def test_ctrl_c(dsn: str, db: Db) -> None:
    howdah(dsn, "queue", "create", "q")
    process = start(dsn, "receive", "q", "--wait", 60)
    wait_until(
        lambda: one(
            db,
            "select count(*) from pg_stat_activity"
            " where query like '%howdah.receive(%' and pid <> pg_backend_pid() and datname = current_database()",
        )
    )
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)

    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err


@pytest.mark.slow
def test_a_closed_pipe_ends_a_listing_quietly(dsn: str) -> None:
    for json_option in ([], ["--json"]):
        reading, writing = os.pipe()
        os.close(reading)
        process = start(dsn, "queue", "list", *json_option, stdout=writing)
        os.close(writing)
        assert process.communicate(timeout=60)[1] == b""
        assert process.returncode == 1


def test_workers(dsn: str, db: Db) -> None:
    assert howdah(dsn, "workers").out == "no workers\n"
    assert howdah(dsn, "workers", "--json").json == []
    db.execute("select howdah.register_worker('w1', 'host1', 7, 2, array['a', 'b'])")

    (row,) = howdah(dsn, "workers", "--json").json
    assert (row["name"], row["pid"], row["queues"], row["in_hand"]) == ("w1", 7, ["a", "b"], {})
    assert "a, b" in howdah(dsn, "workers").out


@pytest.mark.slow
def test_without_the_extra_the_audit_says_how_to_get_it(dsn: str) -> None:
    program = "import sys\nsys.modules['pyspark'] = None\nfrom howdah.cli.main import main\nmain(['audit'])"
    shown = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"HOWDAH_DSN": dsn},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert shown.returncode == 3
    assert shown.stderr == f"howdah: the audit needs Spark, which is not installed ({how_to_install('audit')})\n"


def test_an_audit_that_cannot_be_made_is_one_line(dsn: str, tmp_path: object) -> None:
    refused(howdah(dsn, "audit", "--jdbc-jar", "/nowhere.jar"), "/nowhere.jar", 3)


@pytest.mark.parametrize("words", [(), ("--last",)])
def test_an_audit_for_which_the_right_is_missing_accuses_nobody(dsn: str, words: tuple[str, ...]) -> None:
    """Exit code 1 says that a rule is broken."""
    mine = make_conninfo(dsn, options="-c role=howdah_producer")
    refused(howdah(mine, "audit", *words), "permission denied", 3)
