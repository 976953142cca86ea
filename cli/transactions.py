"""howdah transactions: show and end prepared (two-phase) transactions."""

from __future__ import annotations

from typing import Annotated

import typer

from . import output, tables
from .common import Dsn, Json, Role, Wide, Yes, confirm, connected

app = typer.Typer(no_args_is_help=True, help="Show and end prepared (two-phase) transactions.")

Gid = Annotated[str, typer.Argument(metavar="GID", help="Identifier of the transaction.", show_default=False)]
COLUMNS = tables.Columns(
    {"gid": "transaction", "owner": "owner", "age": "age", "ours": "ours"}, {"before_start": "before start"}
)


@app.command("list")
def list_(wide: Wide = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """List Howdah's prepared transactions."""
    with connected(dsn, role) as connection:
        rows = connection.transactions.list()
    tables.show(rows, COLUMNS, as_json=as_json, empty="no prepared transactions", wide=wide)


@app.command()
def commit(gid: Gid, yes: Yes = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Commit a prepared transaction. Only its owner or a superuser may."""
    with connected(dsn, role) as connection:
        confirm(f"Commit {output.printable(gid)}, whatever its transaction manager decides?", yes=yes)
        connection.transactions.commit(gid)
    output.said(f"transaction {gid} committed", as_json=as_json, gid=gid, ended="committed")


@app.command()
def rollback(gid: Gid, yes: Yes = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Roll back a prepared transaction. Only its owner or a superuser may."""
    with connected(dsn, role) as connection:
        confirm(f"Roll back {output.printable(gid)}, whatever its transaction manager decides?", yes=yes)
        connection.transactions.rollback(gid)
    output.said(f"transaction {gid} rolled back", as_json=as_json, gid=gid, ended="rolled back")
