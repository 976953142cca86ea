"""What the commands share: options, exit codes, the connection, and errors as one line."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .hints import in_commands

# howdah.engine brings the driver, half a second on a small machine: commands import it when they run, so that --help
# and completion answer at once.
if TYPE_CHECKING:
    from ..engine import AdministeredFactory, Connection, Session
    from ..workers.links import Links
    from ..workers.scheduler import Scheduler

OK = 0
#: Refused or failed: the line on stderr says why, and nothing was changed unless it says so.
FAILED = 1
#: The command's arguments were wrong.
USAGE = 2
#: What the command needs is missing: no server runs or answers, the database is not migrated or not current, or a
#: message is not handled yet.
NOT_READY = 3
#: Another audit of the database is running.
BUSY = 5
#: Ctrl-C.
INTERRUPTED = 130

EXIT_CODES = (
    "Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 no answer, not running, not migrated or not current,"
    " 4 demo without its audit, 5 another audit is under way, 6 an audit has warnings, 130 interrupted."
)

CONNECT_SECONDS = 10

#: What Typer raises for arguments it does not understand. It exports only a subclass, and brings its own copy of click.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]

Dsn = Annotated[
    str | None,
    typer.Option(
        "--dsn",
        envvar="HOWDAH_DSN",
        show_envvar=True,
        metavar="DSN",
        help="DSN of the database, as libpq reads it. [default: the embedded server, if it runs]",
    ),
]
Role = Annotated[str | None, typer.Option("--role", metavar="ROLE", help="Role to assume with SET ROLE.")]
Factory = Annotated[
    str | None,
    typer.Option(
        "--factory",
        metavar="NAME",
        help="Connection factory to look up and connect by. QUEUE may be the name of an object then, too.",
    ),
]
Define = Annotated[
    list[str] | None,
    typer.Option(
        "-D",
        metavar="ATTRIBUTE=VALUE",
        help="Attribute of the factory to override, such as hosts=db2; may be repeated.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JsonBody = Annotated[
    bool,
    typer.Option("--json-body", help="Check that BODY is JSON and send it as JSON, so that receivers get it parsed."),
]
Wide = Annotated[bool, typer.Option("--wide", "-w", help="Show every column in full.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Queue = Annotated[str, typer.Argument(metavar="QUEUE", help="Queue name.", show_default=False)]
Master = Annotated[str, typer.Option("--master", help="Spark master.")]
Jar = Annotated[
    Path | None, typer.Option("--jdbc-jar", metavar="JAR", help="PostgreSQL JDBC driver. [default: searched for]")
]
Partitions = Annotated[
    int, typer.Option("--partitions", metavar="N", min=1, help="Number of connections that read many rows.")
]
OneQueue = Annotated[str | None, typer.Argument(metavar="QUEUE", help="Show only this queue.", show_default=False)]


@contextmanager
def connected(
    dsn: str | None, role: str | None, factory: str | None = None, define: list[str] | None = None
) -> Iterator[Connection]:
    """Connect for one command, by a DSN or a factory that is looked up there. Each ``admin`` call is a transaction."""
    from ..engine import connect
    from . import target

    found = found_factory(dsn, factory, define)
    if found is not None:
        if role is not None:
            raise typer.BadParameter("the factory says the role: -D role=…", param_hint="--role")
        with found.create_connection() as connection:
            connection.start()
            yield connection
        return

    # The pool also logs its errors, which would end up on stderr.
    logging.getLogger("psycopg").addHandler(logging.NullHandler())
    dsn = target.find(dsn)
    service = target.service()
    size = 1 if service is None else 2  # the dedicated model takes two
    with connect(
        dsn, role=role, min_size=0, max_size=size, timeout=_seconds_to_connect(dsn), service=service
    ) as connection:
        yield connection


@contextmanager
def transaction(
    dsn: str | None, role: str | None, factory: str | None = None, define: list[str] | None = None
) -> Iterator[Session]:
    """Open a session in a transaction. The block's end commits it; an exception rolls it back."""
    with connected(dsn, role, factory, define) as connection, connection.session() as session, session.transaction():
        yield session


def found_factory(dsn: str | None, factory: str | None, define: list[str] | None) -> AdministeredFactory | None:
    """Look up the factory that a command names, with its overrides. None: it names none."""
    from ..engine import AdministeredFactory, lookup
    from ..engine.calls.objects import parsed
    from ..engine.errors import BadArgument
    from . import target

    if factory is None:
        if define:
            raise typer.BadParameter("it overrides attributes of a --factory", param_hint="-D")
        return None
    found = lookup(target.find(dsn), factory, parsed(words(define, "-D")))
    if not isinstance(found, AdministeredFactory):
        raise BadArgument(f"object {factory} is no connection factory", "See howdah object list.")
    return found


def destination(session: Session, name: str, factory: str | None) -> str:
    """Return the destination of that name: with a factory, an object's name will do."""
    from ..engine.errors import NameNotFound

    if factory is None:
        return name
    try:
        found: str = session.lookup(name)
    except NameNotFound:
        return name
    return found


def resolve_dsn(dsn: str | None) -> str:
    """Return the given DSN, or that of the embedded server, which must run. Names the database on stderr."""
    from ..text.passfile import accessible
    from . import target

    return accessible(target.find(dsn))


def _seconds_to_connect(dsn: str | None) -> float:
    """Return the timeout of the DSN or of libpq's environment, or else CONNECT_SECONDS."""
    from ..text.dsn import BadDsnError, read

    said = os.environ.get("PGCONNECT_TIMEOUT")
    try:
        return int(read(dsn or "").get("connect_timeout") or said or 0) or CONNECT_SECONDS
    except (BadDsnError, ValueError):
        return CONNECT_SECONDS  # connecting will say what is wrong with it


def pairs(given: list[str] | None, option: str) -> dict[str, Any]:
    """Return ``key=value`` words as a dictionary. A value that is valid JSON is parsed; any other is text.

    The value @FILE of an option is what the file has: a JSON Schema is long.
    """
    found: dict[str, Any] = {}
    for key, value in words(given, option).items():
        if option == "--option" and value.startswith("@"):
            found[key] = _from_file(value[1:], option)
            continue
        try:
            found[key] = json.loads(value, parse_constant=_no_constant)
        except ValueError:
            found[key] = value
    return found


def _from_file(name: str, option: str) -> Any:
    try:
        return json.loads(Path(name).read_text(encoding="utf-8"), parse_constant=_no_constant)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"it is no JSON: {error}"
        raise typer.BadParameter(f"{name}: {reason}", param_hint=option) from error


def words(given: list[str] | None, option: str) -> dict[str, str]:
    """Return ``key=value`` words as a dictionary of texts."""
    found: dict[str, str] = {}
    for word in given or []:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise typer.BadParameter(f"{word!r} is not key=value", param_hint=option)
        if key in found:
            raise typer.BadParameter(f"{key} is given twice", param_hint=option)
        found[key] = value
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def confirm(question: str, *, yes: bool) -> None:
    """Return only if the user agrees. Without a terminal, --yes is needed."""
    from ..engine.errors import HowdahError

    if yes:
        return
    if not sys.stdin.isatty():
        raise HowdahError("not done: this needs confirmation, and stdin is not a terminal", "Use --yes.")
    if not typer.confirm(question, err=True):
        raise HowdahError("not done")


def run_until_told(running: Scheduler | Links) -> None:
    """Run threads until SIGTERM or Ctrl-C."""
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    running.start()
    while not told.wait(0.5):
        pass
    running.stop()


def describe(error: Exception) -> tuple[str, int] | None:
    """Return what to print for an error and the exit code, or None if the error is a bug of ours."""
    if isinstance(error, UsageError):
        return _describe_usage(error), USAGE

    import psycopg
    from alembic.util import CommandError
    from sqlalchemy.exc import DBAPIError

    from ..engine.embedded import EmbeddedServerError
    from ..engine.errors import CannotConnect, HowdahError, NotMigrated, translate
    from ..migrations import MigrationError
    from ..text.dsn import BadDsnError
    from ..text.passfile import LooseFileError

    if isinstance(error, BadDsnError):
        return str(error), NOT_READY
    if isinstance(error, LooseFileError):
        return str(error), FAILED
    if isinstance(error, DBAPIError) and isinstance(error.orig, Exception):
        return describe(error.orig)
    if isinstance(error, psycopg.Error):
        ours = translate(error)
        if ours is not None:
            return describe(ours)
        return one_line(error.diag.message_primary or str(error) or type(error).__name__), FAILED
    if isinstance(error, MigrationError | EmbeddedServerError):
        return str(error), FAILED  # a script for the administrator, or the end of a log: their lines count
    if isinstance(error, HowdahError):
        said = in_commands(one_line(str(error)))
        return said, NOT_READY if isinstance(error, CannotConnect | NotMigrated) else FAILED
    if isinstance(error, UnicodeError):
        return f"text that cannot be written or read: {one_line(str(error))}", FAILED
    if isinstance(error, CommandError | OSError):
        return one_line(str(error)), FAILED
    return None


def _describe_usage(error: Any) -> str:
    """Say what was wrong with the arguments. Says nothing if there were none: Typer has shown the help."""
    said = one_line(error.format_message())
    return f"{said} (see: {error.ctx.command_path} --help)" if said and error.ctx else said


def one_line(text: str) -> str:
    """Return the text without line breaks."""
    return " ".join(text.split())
