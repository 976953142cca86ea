"""howdah listener: create, show, change, stop, resume and drop listeners."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from . import output, tables
from .common import Dsn, Json, Queue, Role, Wide, Yes, confirm, connected, pairs

app = typer.Typer(no_args_is_help=True, help="Manage listeners: endpoints of queues that stop when deliveries fail.")

Listener = Annotated[str, typer.Argument(metavar="LISTENER", help="Listener name.", show_default=False)]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        metavar="KEY=VALUE",
        help="Option to set: max_sessions, stop_on_failure, sequential_failures or kind.",
    ),
]

COLUMNS = tables.Columns(
    {
        "listener_name": "listener",
        "queue": "queue",
        "status": "status",
        "failures": "failures",
        "stops_at": "stops at",
    },
    {
        "max_sessions": "sessions",
        "stopped_at": "stopped",
        "stopped_message_id": "by message",
        "stop_reason": "reason",
        "contradicts": "contradicts its queue",
    },
)


@app.command("list")
def list_(wide: Wide = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """List the listeners with status and failure counter."""
    with connected(dsn, role) as connection:
        rows = connection.admin.list_listeners()
    if not as_json:
        rows = [{**row, "stops_at": _stops_at(row), "contradicts": row["warning"] is not None} for row in rows]
    tables.show(rows, COLUMNS, as_json=as_json, empty="no listeners", wide=wide)


@app.command()
def show(listener: Listener, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Show a listener and its options."""
    from ..engine.errors import NoSuchListener

    with connected(dsn, role) as connection:
        rows = connection.admin.list_listeners(listener)
    if not rows:
        raise NoSuchListener(f"there is no listener {listener!r}", "See howdah listener list.")
    output.facts(rows[0], as_json=as_json)


@app.command()
def create(
    listener: Listener,
    queue: Queue,
    option: Options = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Create a listener for a queue."""
    options = pairs(option, "--option")
    with connected(dsn, role) as connection:
        warning = connection.admin.create_listener(listener, queue, **options)
    _said(f"listener {listener} created", warning, as_json=as_json, listener=listener, queue=queue)


@app.command()
def alter(
    listener: Listener, option: Options = None, dsn: Dsn = None, role: Role = None, as_json: Json = False
) -> None:
    """Change options of a listener. Its status and the other options stay as they are."""
    options = pairs(option, "--option")
    if not options:
        raise typer.BadParameter("name at least one: -o KEY=VALUE", param_hint="--option")
    with connected(dsn, role) as connection:
        warning = connection.admin.alter_listener(listener, **options)
    _said(
        f"listener {listener} altered: {', '.join(options)}",
        warning,
        as_json=as_json,
        listener=listener,
        altered=options,
    )


@app.command()
def stop(
    listener: Listener,
    reason: Annotated[str | None, typer.Option("--reason", help="Reason, kept with the listener.")] = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Stop a listener. Messages in hand are finished."""
    with connected(dsn, role) as connection:
        stopped = connection.admin.stop_listener(listener, reason)
    text = f"listener {listener} " + ("stopped" if stopped else "was stopped already")
    output.said(text, as_json=as_json, listener=listener, stopped=stopped)


@app.command()
def resume(listener: Listener, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Resume a stopped listener.

    The next failure stops it again. A handled message resets its failure counter to 0.
    """
    with connected(dsn, role) as connection:
        resumed = connection.admin.resume_listener(listener)
    text = f"listener {listener} " + ("resumed" if resumed else "was running already")
    output.said(text, as_json=as_json, listener=listener, resumed=resumed)


@app.command()
def drop(listener: Listener, yes: Yes = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Drop a listener. Its queue and messages stay."""
    with connected(dsn, role) as connection:
        confirm(f"Drop listener {output.printable(listener)}?", yes=yes)
        connection.admin.drop_listener(listener)
    output.said(f"listener {listener} dropped", as_json=as_json, listener=listener)


def _said(text: str, warning: str | None, *, as_json: bool, **result: Any) -> None:
    output.said(f"{text}; warning: {warning}" if warning else text, as_json=as_json, **result, warning=warning)


def _stops_at(row: dict[str, Any]) -> int | None:
    return max(int(row["sequential_failures"]), 1) if row["stop_on_failure"] else None
