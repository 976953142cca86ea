"""howdah link: forward messages to queues of other engines."""

from __future__ import annotations

import os
import socket
from typing import Annotated
from uuid import UUID

import typer

from . import output, tables
from .common import Dsn, Json, Role, Wide, Yes, confirm, connected, resolve_dsn, run_until_told
from .log_options import LogJson

app = typer.Typer(
    no_args_is_help=True, help="Manage links, which forward messages to queues of other engines, each exactly once."
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Link name.", show_default=False)]
Service = Annotated[
    str | None,
    typer.Option("--service", metavar="SERVICE", help="Service of pg_service.conf that leads to the target."),
]
DsnEnv = Annotated[
    str | None,
    typer.Option("--dsn-env", metavar="VARIABLE", help="Environment variable with the target's DSN: HOWDAH_…."),
]
BatchSize = Annotated[
    int | None, typer.Option(min=1, max=10000, help="Most messages at a time. A new link has 1000.", show_default=False)
]
RetryMs = Annotated[
    int | None,
    typer.Option(
        "--retry-ms-max",
        min=1,
        help="Longest pause while the target is away. A new link has 30000.",
        show_default=False,
    ),
]

COLUMNS = tables.Columns(
    {"name": "link", "source": "from", "to": "to", "state": "state", "waiting": "waiting", "forwarded": "forwarded"},
    {
        "forwarded_at": "last",
        "away_since": "away since",
        "last_error": "error",
        "holder": "forwarder",
        "selector": "selector",
        "cut": "cut",
        "dropped": "dropped",
    },
)
ARRIVALS = tables.Columns(
    {"engine": "engine", "link": "link", "source": "from", "arrived": "arrived", "in_transit": "in transit"},
    {"repeated": "repeated", "lost": "lost", "arrived_at": "last", "arrived_as": "role", "link_id": "identity"},
)


@app.command()
def create(
    name: Name,
    source: Annotated[
        str, typer.Option("--from", metavar="QUEUE", help="Queue or subscription here.", show_default=False)
    ],
    target: Annotated[str, typer.Option("--to", metavar="QUEUE", help="Queue or topic there.", show_default=False)],
    service: Service = None,
    dsn_env: DsnEnv = None,
    selector: Annotated[
        str | None, typer.Option("--selector", "-s", help="Forward only messages that it selects.")
    ] = None,
    transformation: Annotated[
        str | None, typer.Option("--transformation", "-t", help="Forward messages as it makes them.")
    ] = None,
    batch_size: BatchSize = None,
    retry_ms_max: RetryMs = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Create a link. Workers forward over it, and so does link run."""
    with connected(dsn, role) as connection:
        link_id = connection.links.create(
            name,
            source,
            target,
            service=service,
            dsn_env=dsn_env,
            selector=selector,
            transformation=transformation,
            batch_size=batch_size,
            retry_ms_max=retry_ms_max,
        )
    output.said(f"link {name} created", as_json=as_json, link=name, link_id=str(link_id))


@app.command()
def alter(
    name: Name,
    target: Annotated[
        str | None, typer.Option("--to", metavar="QUEUE", help="Queue or topic there.", show_default=False)
    ] = None,
    service: Service = None,
    dsn_env: DsnEnv = None,
    selector: Annotated[
        str | None, typer.Option("--selector", "-s", help='Forward only messages that it selects; "": all.')
    ] = None,
    transformation: Annotated[
        str | None, typer.Option("--transformation", "-t", help='Forward messages as it makes them; "": as they are.')
    ] = None,
    batch_size: BatchSize = None,
    retry_ms_max: RetryMs = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Change a link. What is left out stays as it is."""
    with connected(dsn, role) as connection:
        connection.links.alter(
            name,
            target_queue=target,
            service=service,
            dsn_env=dsn_env,
            selector=selector,
            transformation=transformation,
            batch_size=batch_size,
            retry_ms_max=retry_ms_max,
        )
    output.said(f"link {name} changed", as_json=as_json, link=name)


@app.command("list")
def list_(wide: Wide = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """List the links from here."""
    with connected(dsn, role) as connection:
        rows = connection.links.list()
    if not as_json:
        rows = [{**row, "to": f"{row['target_queue']} ({row['service'] or row['dsn_env']})"} for row in rows]
    tables.show(rows, COLUMNS, as_json=as_json, empty="no links", wide=wide)


@app.command()
def status(name: Name, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Show one link: its state, what waits, the last error, its settings. Exit code 1 if it is away."""
    with connected(dsn, role) as connection:
        rows = [row for row in connection.links.list() if row["name"] == name]
    if not rows:
        raise typer.BadParameter(f"there is no link {name}", param_hint="NAME")
    output.facts(rows[0], as_json=as_json)
    raise typer.Exit(rows[0]["state"] == "away")


@app.command()
def arrivals(wide: Wide = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """List the links that lead here, and what came over them."""
    with connected(dsn, role) as connection:
        rows = connection.links.arrivals()
    tables.show(rows, ARRIVALS, as_json=as_json, empty="no links lead here", wide=wide)


@app.command()
def pause(name: Name, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Forward nothing more over a link for now."""
    with connected(dsn, role) as connection:
        changed = connection.links.pause(name)
    output.said(f"link {name} {'paused' if changed else 'was paused'}", as_json=as_json, link=name, changed=changed)


@app.command()
def resume(name: Name, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Let a paused link forward again."""
    with connected(dsn, role) as connection:
        changed = connection.links.resume(name)
    text = f"link {name} {'resumed' if changed else 'was not paused'}"
    output.said(text, as_json=as_json, link=name, changed=changed)


@app.command()
def rebase(name: Name, yes: Yes = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Let a link begin anew after one of its engines was restored. Messages in doubt may then come twice."""
    confirm(f"messages of link {name} that were under way may come twice; go on?", yes=yes)
    with connected(dsn, role) as connection:
        link_id = connection.links.rebase(name)
    output.said(f"link {name} begins anew", as_json=as_json, link=name, link_id=str(link_id))


@app.command()
def drop(name: Name, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Drop a link. Messages that were not forwarded stay where they are."""
    with connected(dsn, role) as connection:
        connection.links.drop(name)
    output.said(f"link {name} dropped", as_json=as_json, link=name)


@app.command()
def forget(
    link_id: Annotated[UUID, typer.Argument(metavar="IDENTITY", help="Identity of the link.", show_default=False)],
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Forget a link that led here, once it was dropped at its sender."""
    with connected(dsn, role) as connection:
        lost = connection.links.forget_arrivals(link_id)
    output.said(f"link forgotten, with {lost} messages in transit", as_json=as_json, in_transit=lost)


@app.command("new-engine-id")
def new_engine_id(dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Give the engine another identity, in a copy of a whole cluster. Links from it stop until they are rebased."""
    with connected(dsn, role) as connection:
        engine_id = connection.links.new_engine_id()
    output.said(f"this engine is {engine_id}", as_json=as_json, engine_id=str(engine_id))


@app.command()
def run(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Links to run. [default: all]", show_default=False)
    ] = None,
    dsn: Dsn = None,
    log_json: LogJson = False,
) -> None:
    """Forward until SIGTERM. Needed only where no worker runs; several may run at once."""
    from ..workers.links import Links
    from ..workers.log import writer

    target = resolve_dsn(dsn)
    with connected(target, None) as connection:  # a database that is not there or not migrated is said at once
        known = {row["name"] for row in connection.links.list()}
    for name in names or ():
        if name not in known:
            raise typer.BadParameter(f"there is no link {name}", param_hint="NAME")
    writer.configure(as_json=log_json)
    run_until_told(Links(target, f"{socket.gethostname()}:link:{os.getpid()}", names or ()))
