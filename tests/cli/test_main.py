"""What holds for every command: exit codes, one line for an error, help, quick starts."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from command import howdah, refused, start
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from support import Db, one, wait_until

from howdah.benchmarks.place import Place
from howdah.cli.main import _command
from howdah.engine import ConnectionFactory, HowdahError, connect
from howdah.engine.aio import connect_async
from howdah.engine.database.waking import Waking
from howdah.migrations import migrate, state
from howdah.text.dsn import BadDsnError, read
from howdah.text.extras import how_to_install
from howdah.workers import Supervisor

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


@pytest.mark.parametrize("words", [(), ("queue",)])
def test_no_words_show_the_help(dsn: str, words: tuple[str, ...]) -> None:
    shown = howdah(dsn, *words)
    assert (shown.code, shown.err) == (2, "")
    assert "Usage: howdah" in shown.out


def test_version_is_said_and_dash_h_shows_the_help_of_every_command(dsn: str) -> None:
    assert howdah(dsn, "--version").out == f"howdah {version('howdah')}\n"
    for words in ((), ("queue",), ("queue", "list"), ("send",)):
        shown = howdah(dsn, *words, "-h")
        assert (shown.code, shown.err) == (0, "")
        assert f"Usage: howdah {' '.join(words)}".strip() in shown.out


def test_python_dash_m_howdah_is_the_command() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "howdah", "--version"], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"howdah {version('howdah')}\n", "")


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


def test_help_shows_defaults_that_are_described_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for words, default in (
        (("server", "start"), "[default: the user's data folder]"),
        (("queue", "list"), "[default: the embedded server, if it runs]"),
        (("poison", "list"), "[default: "),
    ):
        assert default in howdah("", *words, "--help").out


def test_help_shows_no_value_where_a_flag_takes_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for words in ((), ("send",), ("worker",)):
        assert "<bool>" not in howdah("", *words, "--help").out


def test_help_of_alter_shows_no_default_of_what_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = howdah("", "link", "alter", "--help").out
    assert shown.count("[default: ") == shown.count("[default: the embedded server") == 1


def test_help_breaks_a_paragraph_where_the_terminal_ends_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = howdah("", "import", "activemq", "--help").out
    assert "takes back what was consumed in ActiveMQ. Stop the broker" in shown
    assert "lists" not in shown.split("The broker may run.")[0], "paragraphs stay apart"


def test_help_needs_neither_the_driver_nor_spark() -> None:
    program = (
        "import sys\n"
        "from howdah.cli.main import main\n"
        "sys.argv = ['howdah', '--help']\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "print(sorted({'psycopg', 'sqlalchemy', 'alembic', 'pyspark', 'apscheduler'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)

    assert shown.stdout.splitlines()[-1] == "[]"
    assert "Exit codes: 0 done" in shown.stdout


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


SECRET = "s3cr3t"
# Each would be quoted by libpq with the password in it, or be taken for a host, port or database.
MALFORMED = [
    f"mysql://howdah:{SECRET}@127.0.0.1:1/x",
    f"postgresql://howdah:{SECRET}%@127.0.0.1:1/x",
    f"postgresql://howdah:{SECRET}@[::1/x",
    f"postgresql://howdah:p@{SECRET}@127.0.0.1:1/x",
    f"postgresql://howdah:{SECRET}/1@127.0.0.1:1/x",
    f"postgresql://howdah:1/{SECRET}@127.0.0.1:1/x",
    f"postgresql://howdah@127.0.0.1:1/x?password={SECRET}%",
    f"postgresql://howdah@127.0.0.1:1/x?passwort={SECRET}&password={SECRET}",
    f"host=127.0.0.1 port=1 user=howdah password=a {SECRET}",
    f"host=127.0.0.1 port=1 user=howdah password='{SECRET}",
    f"dbname=postgresql://howdah:{SECRET}@127.0.0.1:1/x",
    f"host=127.0.0.1 port=1 user=postgresql://howdah:{SECRET}",
    f"host=howdah:{SECRET} dbname=x",
    f"host=127.0.0.1,howdah:{SECRET} dbname=x",
    f"hostaddr=howdah:{SECRET} dbname=x",
    SECRET,
]
# What a command needs besides: an argument that is not "1", or options.
WORDS = {"facade": "pgmq", "target": "howdah.cli.demo.flights:app", "link_id": "6f1b52c1-3c3b-4a0e-9d3c-0f5a1f6a2b11"}
MORE = {
    "link create": ("--from", "q", "--to", "q"),
    "link alter": ("--to", "q"),
    "link rebase": ("--yes",),
    "send": ("body",),
    "queue act": ("--reason", "r"),
    "object set": ("a=1",),
    "user create": ("--no-password",),
    "user password": ("--password-file", "secret"),
    "alter": ("-o", "a=1"),
    "replay": ("--id", "1"),
    "poison move": ("--id", "1", "--target", "q"),
    "park": ("--id", "1"),
    "retry": ("--id", "1"),
    "kept delete": ("--id", "1"),
    "discard": ("--id", "1"),
    "top": ("--once",),
    "import activemq": ("--from", "dbname=store"),
    "changes restore": (),
    "restore": ("--message", "1", "--to", "q"),
}


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            yield from _commands(inner, (*path, name))
    else:
        yield path, command


def _with_dsn() -> Iterator[tuple[str, ...]]:
    """Every command that takes a DSN, with the words that it cannot do without."""
    for path, command in _commands(_command()):
        if "dsn" in {parameter.name for parameter in command.params}:
            needed = [
                WORDS.get(parameter.name, "1")
                for parameter in command.params
                if parameter.required and not parameter.opts[0].startswith("-")
            ]
            yield (*path, *needed, *MORE.get(" ".join(path), MORE.get(path[-1], ())))


@pytest.mark.parametrize("words", list(_with_dsn()), ids=" ".join)
def test_no_command_shows_the_password_of_a_malformed_dsn(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "secret").touch(0o600)
    (tmp_path / "secret").write_text("x\n")
    (tmp_path / "1").write_text("[[webhook]]\nname = 'a'\nurl = 'http://127.0.0.1:1/'\nevents = ['MESSAGE_DEAD']\n")
    with contextlib.chdir(tmp_path):
        for dsn in MALFORMED[1:3]:
            shown = howdah(dsn, *words, "--dsn", dsn)
            refused(shown, "the DSN cannot be read", 3)
            assert SECRET not in shown.err


@pytest.mark.parametrize("dsn", MALFORMED)
def test_a_malformed_dsn_is_refused_without_its_password(dsn: str) -> None:
    shown = howdah(dsn, "check")
    refused(shown, "the DSN cannot be read", 3)
    assert SECRET not in shown.err


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://[::1]:5432/x",
        "postgresql://[fe80::1%25eth0],b:5433/x",
        "host=::1,2001:db8::7 dbname=x",
        "host=/run/a:b dbname=x",
        "hostaddr=::1 host=b",
    ],
)
def test_an_ipv6_address_or_a_sockets_folder_is_a_host(dsn: str) -> None:
    assert read(dsn)["host"]


@pytest.mark.parametrize("dsn", MALFORMED)
def test_no_traceback_of_a_malformed_dsn_shows_its_password(dsn: str) -> None:
    entries: list[Callable[[], object]] = [
        lambda: connect(dsn),
        lambda: ConnectionFactory(dsn, user="u").create_connection(),
        lambda: asyncio.run(connect_async(dsn).__aenter__()),
        lambda: migrate(dsn),
        lambda: state(dsn),
        lambda: Supervisor("howdah.cli.demo.flights:app", dsn),
        lambda: Place(dsn),
        lambda: Waking.of(dsn),
    ]
    for entry in entries:
        with pytest.raises((HowdahError, BadDsnError)) as caught:
            entry()
        # What a logging framework may walk to, shown or not.
        error: BaseException | None = caught.value
        assert SECRET not in "".join(traceback.format_exception(error))
        while error is not None:
            assert SECRET not in f"{error!r} {error}"
            error = error.__cause__ or error.__context__


def test_a_url_that_names_its_driver_as_sqlalchemys_do_is_taken(dsn: str) -> None:
    given = {name: quote(str(value), safe="") for name, value in conninfo_to_dict(dsn).items()}
    url = f"postgresql+psycopg://{given['user']}:{given['password']}@{given['host']}:{given['port']}/{given['dbname']}"
    for words in (("queue", "list"), ("migrate", "--status")):
        assert howdah(url, *words).code == 0
    with connect(url) as connection:
        assert connection.admin.list_queues() is not None
