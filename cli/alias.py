"""howdah alias: other names of queues and topics, with levels of reliability of their own."""

from __future__ import annotations

from typing import Annotated

import typer

from . import output, tables
from .common import Dsn, Json, Role, Wide, Yes, confirm, connected, pairs

app = typer.Typer(no_args_is_help=True, help="Manage aliases: other names, with levels of reliability of their own.")

Alias = Annotated[str, typer.Argument(metavar="ALIAS", help="The other name.", show_default=False)]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        metavar="KEY=VALUE",
        help="Such as max_reliability=RELIABLE_PERSISTENT; null: as the target's. A wrong name lists all names.",
    ),
]

LIST_COLUMNS = tables.Columns(
    {
        "alias": "alias",
        "target": "target",
        "default_reliability": "default",
        "max_reliability": "highest",
        "producer_may_override": "override",
    },
    {"created_at": "created", "created_by": "by"},
)


@app.command()
def create(
    alias: Alias,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Queue or topic.", show_default=False)],
    option: Options = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Give a queue or topic another name."""
    options = pairs(option, "--option")
    with connected(dsn, role) as connection:
        connection.admin.create_alias(alias, target, **options)
    output.said(f"alias {alias} of {target} created", as_json=as_json, alias=alias, target=target)


@app.command()
def alter(
    alias: Alias,
    target: Annotated[str | None, typer.Option("--target", metavar="NAME", help="Another queue or topic.")] = None,
    option: Options = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Change options of an alias, or what it stands for. The others stay as they are."""
    options = pairs(option, "--option")
    if not options and target is None:
        raise typer.BadParameter("name at least one: -o KEY=VALUE", param_hint="--option")
    with connected(dsn, role) as connection:
        connection.admin.alter_alias(alias, target, **options)
    changed = [*options, *(["target"] if target else [])]
    output.said(f"alias {alias} altered: {', '.join(changed)}", as_json=as_json, alias=alias, altered=changed)


@app.command("list")
def list_(wide: Wide = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """List the aliases. A level that is empty is the target's."""
    with connected(dsn, role) as connection:
        rows = connection.admin.list_aliases()
    tables.show(rows, LIST_COLUMNS, as_json=as_json, empty="no aliases", wide=wide)


@app.command()
def drop(alias: Alias, yes: Yes = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """End an alias. The queue or topic that it stands for stays."""
    with connected(dsn, role) as connection:
        confirm(f"Drop alias {output.printable(alias)}?", yes=yes)
        was = connection.admin.drop_alias(alias)
    text = f"alias {alias} dropped" if was else f"there was no alias {alias}"
    output.said(text, as_json=as_json, alias=alias, dropped=was)
