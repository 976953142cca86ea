"""howdah instance: the sets of worker processes, one for each running howdah worker."""

from __future__ import annotations

from typing import Annotated

import typer

from . import output, tables
from .common import Dsn, Json, Role, Wide, connected

app = typer.Typer(
    no_args_is_help=True, help="List, quiesce, resume and end instances: each running howdah worker is one."
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Instance name.", show_default=False)]

COLUMNS = tables.Columns(
    {
        "name": "instance",
        "state": "state",
        "waits_for": "waits for",
        "role": "role",
        "workers": "workers",
        "consumers": "consumers",
        "unread": "unread",
        "silent_for": "last seen",
    },
    {"missed": "missed", "last_change": "last change", "host": "host", "pid": "pid", "started_at": "started"},
)


@app.command(name="list")
def list_instances(wide: Wide = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """List the live instances, and how many changes of the configuration each has yet to read."""
    with connected(dsn, role) as connection:
        rows = connection.instances.list()
    if not as_json:
        roles = ("master", "holder")
        rows = [{**row, "role": ", ".join(one for one in roles if row[one])} for row in rows]
    tables.show(rows, COLUMNS, as_json=as_json, empty="no instances", wide=wide)


@app.command()
def show(name: Name, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Show one instance."""
    with connected(dsn, role) as connection:
        rows = [row for row in connection.instances.list() if row["name"] == name]
    if not rows:
        raise typer.BadParameter(f"there is no instance {name}", param_hint="NAME")
    output.facts(rows[0], as_json=as_json)


@app.command()
def quiesce(name: Name, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Let an instance receive nothing new. What it has in hand is finished."""
    with connected(dsn, role) as connection:
        changed = connection.instances.quiesce(name)
    output.said(f"{name} {'quiesced' if changed else 'was quiesced already'}", as_json=as_json, quiesced=changed)


@app.command()
def resume(name: Name, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Let a quiesced instance receive again."""
    with connected(dsn, role) as connection:
        changed = connection.instances.resume(name)
    output.said(f"{name} {'resumed' if changed else 'was not quiesced'}", as_json=as_json, resumed=changed)


@app.command()
def end(name: Name, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Tell an instance to end, wherever it runs. What it has in hand is finished."""
    with connected(dsn, role) as connection:
        found = connection.instances.end(name)
    if not found:
        raise typer.BadParameter(f"there is no instance {name}", param_hint="NAME")
    output.said(f"{name} was told to end", as_json=as_json, ending=name)
