"""howdah transformation: functions that change messages on bridges, links and subscriptions."""

from __future__ import annotations

from typing import Annotated

import typer

from . import output, tables
from .common import Dsn, Json, Role, Wide, Yes, confirm, connected

app = typer.Typer(
    no_args_is_help=True,
    help="Manage transformations: functions of yours that change messages on bridges, links and subscriptions.",
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Transformation name.", show_default=False)]

COLUMNS = tables.Columns(
    {"name": "transformation", "function": "function", "used_by": "used by", "unfit": "cannot be called"},
    {"registered_at": "registered", "registered_by": "by"},
    cut=frozenset({"used_by", "unfit"}),
)


@app.command()
def register(
    name: Name,
    function: Annotated[
        str, typer.Argument(metavar="FUNCTION", help="SCHEMA.FUNCTION, SECURITY DEFINER.", show_default=False)
    ],
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Let bridges, links and subscriptions change messages by a function of yours."""
    with connected(dsn, role) as connection:
        new = connection.admin.register_transformation(name, function)
    text = f"transformation {name} registered" if new else f"transformation {name} was registered"
    output.said(text, as_json=as_json, name=name, function=function, new=new)


@app.command("list")
def list_(wide: Wide = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """List the transformations: who uses each, and why one cannot be called."""
    with connected(dsn, role) as connection:
        rows = connection.admin.list_transformations()
    tables.show(rows, COLUMNS, as_json=as_json, empty="no transformations", wide=wide)


@app.command()
def subscription(
    subscription: Annotated[
        str,
        typer.Argument(metavar="SUBSCRIPTION", help="Name, as howdah subscription list shows it.", show_default=False),
    ],
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Transformation. [default: none any more]", show_default=False)
    ] = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Let a subscription's consumers get messages as a transformation makes them."""
    with connected(dsn, role) as connection:
        connection.admin.transform_subscription(subscription, name)
    text = f"{subscription}: transformed by {name}" if name else f"{subscription}: as published"
    output.said(text, as_json=as_json, subscription=subscription, transformation=name)


@app.command()
def drop(name: Name, yes: Yes = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Forget a transformation that nobody uses. Its function stays."""
    with connected(dsn, role) as connection:
        confirm(f"Forget transformation {output.printable(name)}?", yes=yes)
        was = connection.admin.drop_transformation(name)
    text = f"transformation {name} dropped" if was else f"there was no transformation {name}"
    output.said(text, as_json=as_json, name=name, dropped=was)
