"""howdah service: which services there are, and what they are like."""

from __future__ import annotations

from typing import Annotated

import typer

from . import output, tables
from .common import Dsn, Json, Role, Wide, connected, pairs

app = typer.Typer(
    no_args_is_help=True, help="Manage services, with which clients connect: for messages or for administration."
)

Name = Annotated[str, typer.Argument(metavar="SERVICE", help="Service: jms, ssljms, …", show_default=False)]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        metavar="KEY=VALUE",
        help="Property to set, such as max_connections=20. A wrong name lists all names.",
    ),
]

COLUMNS = tables.Columns(
    {
        "service": "service",
        "kind": "kind",
        "state": "state",
        "require_tls": "TLS",
        "model": "model",
        "min_connections": "min",
        "max_connections": "max",
        "unavailable": "reason",
    },
    {
        "idle_seconds": "idle seconds",
        "monitor_limit": "consumers",
        "roles": "roles",
        "access_enabled": "access rules",
        "rule_set": "rule set",
        "comment": "comment",
    },
)


@app.command("list")
def list_(wide: Wide = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """List the services, and those that there cannot be, with the reason."""
    with connected(dsn, role) as connection:
        rows = connection.services.list()
    if not as_json:
        rows = [{**row, "state": _state(row["active"], row["unavailable"])} for row in rows]
    tables.show(rows, COLUMNS, as_json=as_json, empty="no services", wide=wide)


@app.command()
def alter(name: Name, option: Options = None, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Change a service, for sessions that connect from now on. The other properties stay as they are."""
    options = pairs(option, "--option")
    if not options:
        raise typer.BadParameter("name at least one: -o KEY=VALUE", param_hint="--option")
    with connected(dsn, role) as connection:
        connection.services.alter(name, **options)
    output.said(f"service {name} altered: {', '.join(options)}", as_json=as_json, service=name, altered=options)


@app.command()
def activate(name: Name, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Let a service accept sessions."""
    with connected(dsn, role) as connection:
        connection.services.alter(name, active=True)
    output.said(f"service {name} active", as_json=as_json, service=name, active=True)


@app.command()
def deactivate(name: Name, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Let a service accept nobody. Sessions that have connected with it go on."""
    with connected(dsn, role) as connection:
        connection.services.alter(name, active=False)
    output.said(f"service {name} not active", as_json=as_json, service=name, active=False)


def _state(active: bool, unavailable: str | None) -> str:
    if unavailable is not None:
        return "not available"
    return "active" if active else "not active"
