"""howdah changes: what administrators changed, and how it is taken back."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from . import output, tables
from .common import Dsn, Json, Role, Wide, Yes, confirm, connected

app = typer.Typer(
    no_args_is_help=True, help="List, take back, back up and restore what administrators changed in the configuration."
)

Number = Annotated[int, typer.Argument(metavar="CHANGE", help="Number of the change.", show_default=False)]

COLUMNS = tables.Columns(
    {"change_id": "change", "at": "at", "actor": "by", "kind": "kind", "name": "name", "act": "act", "what": "what"},
    {"reason": "reason", "undoes": "takes back", "act_id": "operator's act"},
    fold=frozenset({"what"}),
)


@app.command(name="list")
def list_changes(
    kind: Annotated[str | None, typer.Option("--kind", "-k", help="Only this kind: queue, topic, engine, …")] = None,
    name: Annotated[str | None, typer.Option("--name", "-n", help="Only what has this name.")] = None,
    max_changes: Annotated[int, typer.Option("--max", min=1, max=10000, help="Most changes to list.")] = 100,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """List what administrators changed and what operators did with messages, newest first."""
    with connected(dsn, role) as connection:
        rows = connection.changes.list(kind, name, max_changes=max_changes)
    if not as_json:
        rows = [{**row, "what": _what(row)} for row in rows]
    tables.show(rows, COLUMNS, as_json=as_json, empty="no changes", wide=wide)


@app.command()
def show(change: Number, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Show a change with all properties before and after."""
    with connected(dsn, role) as connection:
        row = connection.changes.show(change)
    if row is None:
        raise typer.BadParameter(f"there is no change {change}", param_hint="CHANGE")
    output.facts({key: value for key, value in row.items() if key != "act_id"}, as_json=as_json)


@app.command()
def undo(
    change: Number,
    again: Annotated[bool, typer.Option("--again", help="Undo it even if it was changed since.")] = False,
    yes: Yes = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Take a change back. What was made is dropped if that loses no message; what was dropped is made anew."""
    with connected(dsn, role) as connection:
        row = connection.changes.show(change)
        if row is not None:
            confirm(f"Take back change {change} ({row['kind']} {row['name']} {row['act']})?", yes=yes)
        undone = connection.changes.undo(change, again=again)
    text = "nothing had to be changed" if undone is None else f"change {change} taken back by change {undone}"
    output.said(text, as_json=as_json, change=change, undone_by=undone)


@app.command()
def backup(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="File to write, as JSON lines; - is standard output.", dir_okay=False)
    ],
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Write the configuration and the record of its changes to a file. It holds no messages and no secrets."""
    with connected(dsn, role) as connection:
        lines = [output.to_json(line) for line in connection.changes.backup()]
    if str(file) == "-":
        output.write("\n".join(lines))
        return
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    output.said(f"{output.counted(len(lines), 'line')} written to {file}", as_json=as_json, lines=len(lines))


@app.command()
def restore(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="File that backup wrote; - is standard input.", dir_okay=False)
    ],
    prune: Annotated[
        bool, typer.Option("--prune", help="Drop what the backup does not have, if that loses no message.")
    ] = False,
    yes: Yes = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Make the configuration what a backup says, in one transaction. The record gets a new identity."""
    with connected(dsn, role) as connection:
        lines = _lines(file)
        confirm("Make the configuration what the backup says?", yes=yes)
        restored = connection.changes.restore(lines, prune=prune)
    output.said(f"restored: {output.counted(restored, 'thing')} changed", as_json=as_json, changed=restored)


def _lines(file: Path) -> list[dict[str, Any]]:
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"{file} is no backup: {error}", param_hint="FILE") from error


def _what(row: dict[str, Any]) -> str:
    """What differs, for people; of what was made or dropped the name says enough."""
    before, after = row["before"], row["after"]
    if row["act_id"] is not None:
        return ", ".join(f"{key} {value}" for key, value in (after or {}).items() if key != "queue")
    if before is None or after is None:
        return ""
    changed = [key for key in after if before.get(key) != after[key]]
    return ", ".join(f"{key}: {output.cell(before.get(key))} → {output.cell(after[key])}" for key in changed)
