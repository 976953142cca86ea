"""howdah object: connection factories and destinations that clients look up by name."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from . import output, tables, times
from .common import Dsn, Json, Role, Wide, Yes, confirm, connected, words

app = typer.Typer(
    no_args_is_help=True, help="Manage administered objects: factories and destinations that clients look up by name."
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Object name, such as cf/orders.", show_default=False)]
Attributes = Annotated[
    list[str] | None,
    typer.Option(
        "--attribute",
        "-a",
        metavar="KEY=VALUE",
        help="Such as hosts=db1,db2 or priority=7; may be repeated. A wrong name lists all names.",
    ),
]
Kind = Literal["connection_factory", "xa_connection_factory", "queue", "topic"]

COLUMNS = tables.Columns(
    {"name": "object", "kind": "kind", "attributes": "attributes", "read_only": "read-only"},
    {"created_at": "created", "created_by": "by", "changed_at": "changed"},
    cut=frozenset({"attributes"}),
)


@app.command()
def create(
    name: Name,
    kind: Annotated[Kind, typer.Option("--kind", help="What it is.")] = "connection_factory",
    attribute: Attributes = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Let nobody set attributes, and ignore overrides of clients.")
    ] = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Create an object for clients to look up."""
    attributes: Any = _parsed(attribute)
    with connected(dsn, role) as connection:
        connection.objects.create(name, kind, read_only=read_only, **attributes)
    output.said(f"{kind} {name} created", as_json=as_json, name=name, kind=kind)


@app.command()
def show(name: Name, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Show one object with its attributes."""
    from ..engine.calls.objects import lookup

    with connected(dsn, role) as connection:
        found = connection.call(lookup(name))
    if as_json:
        output.write(output.to_json(vars(found) | {"overrides": None}))
        return
    facts = {"object": found.name, "kind": found.kind, "read-only": found.read_only, **found.attributes}
    output.facts(facts, as_json=False)


@app.command("list")
def list_(
    pattern: Annotated[
        str | None, typer.Argument(metavar="PATTERN", help="Names to show, such as cf/*. [default: all]")
    ] = None,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """List the objects."""
    with connected(dsn, role) as connection:
        rows = connection.objects.list(pattern)
    tables.show(rows, COLUMNS, as_json=as_json, empty="no objects", wide=wide)


@app.command("set")
def set_(
    name: Name,
    attributes: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE…", help="Attributes; KEY= takes one away.")
    ] = None,
    read_only: Annotated[
        bool | None, typer.Option("--read-only/--writable", help="Make it read-only, or writable.", show_default=False)
    ] = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Set attributes of an object. The others stay as they are."""
    if not attributes and read_only is None:
        raise typer.BadParameter("name at least one: KEY=VALUE", param_hint="KEY=VALUE")
    wanted: Any = _parsed(attributes)
    with connected(dsn, role) as connection:
        connection.objects.alter(name, read_only=read_only, **wanted)
    changed = [*wanted, *(["read_only"] if read_only is not None else [])]
    output.said(f"object {name} altered: {', '.join(changed)}", as_json=as_json, name=name, altered=changed)


@app.command()
def drop(name: Name, yes: Yes = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Drop an object. Clients that have looked it up go on."""
    with connected(dsn, role) as connection:
        confirm(f"Drop object {output.printable(name)}?", yes=yes)
        was = connection.objects.drop(name)
    text = f"object {name} dropped" if was else f"there was no object {name}"
    output.said(text, as_json=as_json, name=name, dropped=was)


@app.command("export")
def export(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="File to write. [default: stdout]")] = None,
    dsn: Dsn = None,
    role: Role = None,
) -> None:
    """Write all objects as one JSON document, for a repository."""
    with connected(dsn, role) as connection:
        document = connection.objects.export_document()
    text = json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True)
    if file is None:
        output.write(text)
        return
    file.write_text(text + "\n", encoding="utf-8")
    output.complain(f"{output.counted(len(document), 'object')} written to {file}")


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Document of howdah object export. - is stdin.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace objects that differ, even read-only ones.")
    ] = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Create the objects of a document, all or none. Objects that it does not name stay."""
    with connected(dsn, role) as connection:
        document = _document(file)
        changed = connection.objects.import_document(document, replace=replace)
    output.said(f"{output.counted(changed, 'object')} created or changed", as_json=as_json, changed=changed)


@app.command("recover")
def recover(
    name: Name,
    older_than: Annotated[
        float,
        times.length("--older-than", help="Leave branches that were prepared later: 90 (seconds), 5m, …"),
    ] = 60,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """End what crashed clients of an xa_connection_factory left prepared, as its log says."""
    from ..engine import XAConnectionFactory, lookup
    from ..engine.errors import BadArgument
    from . import target

    factory = lookup(target.find(dsn), name)
    if not isinstance(factory, XAConnectionFactory):
        raise BadArgument(f"object {name} is no xa_connection_factory", "See howdah object list.")
    with factory.create_connection() as connection:
        done = connection.recover(older_than)
    if as_json:
        output.write(output.to_json([{"transaction": one, "outcome": outcome} for one, outcome in done]))
        return
    for one, outcome in done:
        output.write(f"{one}: {outcome}")
    output.write(f"{output.counted(len(done), 'transaction')} ended")


def _document(file: Path) -> list[Any]:
    text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    try:
        document = json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"it is no JSON: {error}", param_hint="FILE") from error
    if not isinstance(document, list):
        raise typer.BadParameter("it is no document of howdah object export", param_hint="FILE")
    return document


def _parsed(given: list[str] | None) -> dict[str, Any]:
    from ..engine.calls.objects import parsed

    return parsed(words(given, "KEY=VALUE"))
