"""howdah server: the embedded PostgreSQL, for users without their own server."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from . import target
from .common import NOT_READY, Json, connected

if TYPE_CHECKING:
    from ..engine.embedded import EmbeddedServer, ServerInfo

app = typer.Typer(no_args_is_help=True, help="Run the embedded PostgreSQL.")

Data = Annotated[
    Path | None,
    typer.Option(
        "--data", help="Folder of the server. [default: the user's data folder]", envvar="HOWDAH_HOME", show_envvar=True
    ),
]
Version = Annotated[
    int | None,
    typer.Option(
        "--pg-version", help="Major version: 16, 18 or one installed by Debian. [default: the folder's, or 18]"
    ),
]


@app.command()
def start(
    data: Data = None,
    pg_version: Version = None,
    persistent: Annotated[
        bool | None,
        typer.Option(
            "--persistent/--non-persistent",
            help="Alter the engine once the server runs. Non-persistent loses every message when the server stops."
            " [default: unchanged]",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Start the embedded server. The first start creates its folder. A running server is left alone.

    Other commands use the server in the default folder, or in the folder of HOWDAH_HOME. They never start a server.
    """
    server = _server(data, pg_version)
    info = server.start()
    show(info, as_json=as_json)
    target.say_how_to_reach(server)
    if persistent is not None:
        _alter_engine(info.dsn, persistent)


@app.command()
def stop(
    data: Data = None,
    mode: Annotated[
        Literal["smart", "fast", "immediate"], typer.Option(help="fast disconnects clients; smart waits for them.")
    ] = "fast",
    vacuum: Annotated[
        bool, typer.Option("--vacuum", help="First return the space of consumed messages to the disk.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Stop the embedded server and wait until it has ended. Does nothing if it is not running."""
    server = _server(data)
    stopped = server.stop(mode, vacuum=vacuum)
    if as_json:
        typer.echo(json.dumps({"stopped": stopped}))
    else:
        typer.echo("stopped" if stopped else f"no server runs in {server.folder}")


@app.command()
def status(data: Data = None, as_json: Json = False) -> None:
    """Show whether the embedded server runs, and where. Exit code 3 if it does not."""
    server = _server(data)
    if info := server.status():
        show(info, as_json=as_json)
        return
    hint = f"no server runs in {server.folder}; one in another folder is named with --data or HOWDAH_HOME"
    typer.echo(json.dumps({"running": False, "data": str(server.folder)}) if as_json else hint)
    raise typer.Exit(NOT_READY)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def psql(context: typer.Context, data: Data = None) -> None:
    """Open psql on the embedded server. Other arguments go to psql; put -- before those that look like ours."""
    from psycopg.conninfo import conninfo_to_dict

    from ..engine.embedded import running

    server = _server(data)
    info = running(server)
    program = server.bin("psql")
    # By environment, not argument: other users of the machine can read arguments.
    names = {
        "host": "PGHOST",
        "port": "PGPORT",
        "user": "PGUSER",
        "password": "PGPASSWORD",
        "dbname": "PGDATABASE",
    }
    access = {names[key]: str(value) for key, value in conninfo_to_dict(info.dsn).items()}
    os.execve(program, [str(program), *context.args], os.environ | access)


def _alter_engine(dsn: str, persistent: bool) -> None:
    """Make the engine persistent or not. Raises NotMigrated if there is no engine yet; the server runs all the same."""
    from ..engine.errors import NotMigrated

    try:
        with connected(dsn, None) as connection:
            connection.admin.alter_engine(persistent=persistent)
    except NotMigrated as error:
        raise NotMigrated(
            "the server runs, but Howdah is not installed in its database,"
            " or not by this version: no engine was altered",
            f"Run howdah migrate --{'persistent' if persistent else 'non-persistent'}.",
        ) from error


def _server(data: Path | None, version: int | None = None) -> EmbeddedServer:
    from ..engine.embedded import EmbeddedServer

    return EmbeddedServer(data, version)


def show(info: ServerInfo, *, as_json: bool) -> None:
    """Print the server's place, and its DSN with the password."""
    facts = {"running": True} | {
        name: str(value) if isinstance(value, Path) else value for name, value in asdict(info).items()
    }
    if as_json:
        typer.echo(json.dumps(facts))
        return
    for name in ("version", "pid", "data", "socket_dir", "dsn"):
        typer.echo(f"{name:<12}{facts[name]}")
