"""howdah engine: properties of the whole engine, and how full it is."""

from __future__ import annotations

from typing import Annotated

import typer

from . import output
from .common import Dsn, Json, Role, connected, pairs

app = typer.Typer(no_args_is_help=True, help="Properties and limits of the whole engine, and how full it is.")

Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        metavar="KEY=VALUE",
        help="Property to set, such as max_size=5m or autorollback=true. A wrong name lists all names.",
    ),
]


@app.command()
def show(dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Show the resource state (green, yellow, orange or red), the queues' contents and the properties."""
    with connected(dsn, role) as connection:
        facts = {**connection.admin.resource_state(), **connection.admin.engine_options()}
    output.facts(facts, as_json=as_json)


@app.command()
def alter(option: Options = None, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Change properties of the engine. The others stay as they are."""
    options = pairs(option, "--option")
    if not options:
        raise typer.BadParameter("name at least one: -o KEY=VALUE", param_hint="--option")
    with connected(dsn, role) as connection:
        connection.admin.alter_engine(**options)
    output.said(f"engine altered: {', '.join(options)}", as_json=as_json, altered=options)
