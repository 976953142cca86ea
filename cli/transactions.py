"""howdah transactions: those that were prepared (two-phase) and wait for their end."""

from __future__ import annotations

from typing import Annotated

import typer

from . import output, tables
from .common import Dsn, Json, Role, Wide, Yes, confirm, connected

app = typer.Typer(no_args_is_help=True, help="Prepared transactions.")

Gid = Annotated[str, typer.Argument(metavar="GID", help="Its identifier.", show_default=False)]
COLUMNS = tables.Columns(
    {"gid": "transaction", "owner": "owner", "age": "age", "ours": "ours"}, {"before_start": "before start"}
)


@app.command("list")
def list_(wide: Wide = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Show the prepared transactions that are Howdah's."""
    with connected(dsn, role) as connection:
        rows = connection.transactions.list()
    tables.show(rows, COLUMNS, as_json=as_json, empty="no prepared transactions", wide=wide)


@app.command()
def commit(gid: Gid, yes: Yes = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Commit one, as its owner or a superuser."""
    with connected(dsn, role) as connection:
        confirm(f"Commit {output.printable(gid)}, whatever its transaction manager decides?", yes=yes)
        connection.transactions.commit(gid)
    output.said(f"transaction {gid} committed", as_json=as_json, gid=gid, ended="committed")


@app.command()
def rollback(gid: Gid, yes: Yes = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Roll one back, as its owner or a superuser."""
    with connected(dsn, role) as connection:
        confirm(f"Roll back {output.printable(gid)}, whatever its transaction manager decides?", yes=yes)
        connection.transactions.rollback(gid)
    output.said(f"transaction {gid} rolled back", as_json=as_json, gid=gid, ended="rolled back")
