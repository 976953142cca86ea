"""A malformed DSN is refused without its password; every sound way to write one is taken."""

import asyncio
import contextlib
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from command import howdah, refused
from psycopg.conninfo import conninfo_to_dict

from howdah.benchmarks.place import Place
from howdah.cli.main import _command
from howdah.engine import ConnectionFactory, HowdahError, connect
from howdah.engine.aio import connect_async
from howdah.engine.database.waking import Waking
from howdah.migrations import migrate, state
from howdah.text.dsn import BadDsnError, read
from howdah.workers import Supervisor

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


@pytest.mark.slow
def test_a_url_that_names_its_driver_as_sqlalchemys_do_is_taken(dsn: str) -> None:
    given = {name: quote(str(value), safe="") for name, value in conninfo_to_dict(dsn).items()}
    url = f"postgresql+psycopg://{given['user']}:{given['password']}@{given['host']}:{given['port']}/{given['dbname']}"
    for words in (("queue", "list"), ("migrate", "--status")):
        assert howdah(url, *words).code == 0
    with connect(url) as connection:
        assert connection.admin.list_queues() is not None
