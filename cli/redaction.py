"""howdah redaction: rules that hide parts of bodies from people who look."""

from __future__ import annotations

from typing import Annotated

import typer

from . import output, tables
from .common import Dsn, Json, Role, Wide, connected

app = typer.Typer(no_args_is_help=True, help="Manage rules that hide parts of bodies from people who look.")

Pattern = Annotated[
    str, typer.Argument(metavar="PATTERN", help="Queues by name or wildcard, as orders.>.", show_default=False)
]
Path = Annotated[
    str, typer.Argument(metavar="PATH", help="JSON path, as $.card.number; $ is the whole body.", show_default=False)
]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Reason, recorded with the change.")]

COLUMNS = tables.Columns(
    {"pattern": "queues", "path": "path", "reason": "reason"},
    {"set_at": "since", "set_by": "by"},
    cut=frozenset({"reason"}),
)


@app.command("set")
def set_(
    pattern: Pattern, path: Path, reason: Reason = None, dsn: Dsn = None, role: Role = None, as_json: Json = False
) -> None:
    """Hide a part of the bodies of all queues that match."""
    with connected(dsn, role) as connection:
        new = connection.admin.set_redaction(pattern, path, reason)
    text = f"redaction of {path} in {pattern} {'set' if new else 'was there'}"
    output.said(text, as_json=as_json, pattern=pattern, path=path, new=new)


@app.command()
def drop(
    pattern: Pattern, path: Path, reason: Reason = None, dsn: Dsn = None, role: Role = None, as_json: Json = False
) -> None:
    """Show again what a rule hid."""
    with connected(dsn, role) as connection:
        dropped = connection.admin.drop_redaction(pattern, path, reason)
    text = f"redaction of {path} in {pattern} dropped" if dropped else f"there was no redaction of {path} in {pattern}"
    output.said(text, as_json=as_json, pattern=pattern, path=path, dropped=dropped)


@app.command("list")
def list_(wide: Wide = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """List the rules."""
    with connected(dsn, role) as connection:
        rows = connection.admin.list_redactions()
    tables.show(rows, COLUMNS, as_json=as_json, empty="no redactions", wide=wide)
