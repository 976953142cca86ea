"""howdah subscription: create, show, pause, resume and end subscriptions to topics."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from . import output, tables
from .common import Dsn, Json, Role, Wide, Yes, confirm, connected, pairs
from .times import Since, moment

app = typer.Typer(
    no_args_is_help=True,
    help="Manage subscriptions to topics. Receive from a subscription by its name, as from a queue.",
)

Subscription = Annotated[
    str,
    typer.Argument(
        metavar="SUBSCRIPTION", help="Subscription name as create printed it: TOPIC:CLIENT:NAME.", show_default=False
    ),
]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        metavar="KEY=VALUE",
        help="Option of the poison policy, such as max_failed_deliveries=3; for create also prioritized=true.",
    ),
]

LIST_COLUMNS = tables.Columns(
    {"subscription": "subscription", "behind": "behind", "behind_for": "for", "paused": "paused"},
    {
        "kind": "kind",
        "selector": "selector",
        "delivered": "delivered",
        "set_aside": "set aside",
        "silent_for": "silent for",
    },
)


@app.command()
def create(
    topic: Annotated[
        str, typer.Argument(metavar="TOPIC", help="Topic, or a wildcard such as STOCKS.>.", show_default=False)
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Subscription name.", show_default=False)],
    client_id: Annotated[
        str, typer.Option("--client-id", help="Client of the subscription; names are unique for each client.")
    ] = "",
    selector: Annotated[
        str | None, typer.Option("--selector", "-s", help="Receive only messages that it selects.")
    ] = None,
    shared: Annotated[bool, typer.Option("--shared", help="Allow several consumers at once, such as workers.")] = False,
    no_local: Annotated[bool, typer.Option("--no-local", help="Leave out what the same client publishes.")] = False,
    since: Since = None,
    option: Options = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Create a durable subscription.

    The same definition again changes nothing. A different definition starts the subscription anew.
    """
    options = pairs(option, "--option")
    with connected(dsn, role) as connection:
        admin = connection.admin
        subscription = admin.subscribe(
            topic,
            name,
            client_id=client_id,
            selector=selector,
            shared=shared,
            no_local=no_local,
            since=moment(since, admin.now, "--since"),
            **options,
        )
    output.said(f"subscribed as {subscription}", as_json=as_json, subscription=subscription)


@app.command("list")
def list_(
    topic: Annotated[
        str | None, typer.Argument(metavar="TOPIC", help="Show only subscriptions to this topic.", show_default=False)
    ] = None,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """List the subscriptions and how far behind each is."""
    with connected(dsn, role) as connection:
        rows = connection.admin.list_subscriptions(topic)
    if not as_json:
        rows = [{**row, "kind": _kind(row)} for row in rows]
    tables.show(rows, LIST_COLUMNS, as_json=as_json, empty="no subscriptions", wide=wide)


@app.command()
def pause(subscription: Subscription, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Refuse receiving until the subscription is resumed. Published messages are kept for it."""
    _switch("pause", subscription, dsn, role, as_json)


@app.command()
def resume(subscription: Subscription, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Allow receiving from the subscription again."""
    _switch("resume", subscription, dsn, role, as_json)


@app.command()
def alter(
    subscription: Subscription, option: Options = None, dsn: Dsn = None, role: Role = None, as_json: Json = False
) -> None:
    """Change options of a subscription's poison policy. Its cursor and the other options stay as they are."""
    options = pairs(option, "--option")
    if not options:
        raise typer.BadParameter("name at least one: -o KEY=VALUE", param_hint="--option")
    with connected(dsn, role) as connection:
        connection.admin.alter_queue(subscription, **options)
    text = f"subscription {subscription} altered: {', '.join(options)}"
    output.said(text, as_json=as_json, subscription=subscription, altered=options)


@app.command()
def seek(
    subscription: Subscription,
    since: Annotated[
        str,
        typer.Argument(
            metavar="TIME",
            help='2026-05-01T12:30, how long ago (90s, 30m, 12h, 7d), "beginning", or "end".',
            show_default=False,
        ),
    ],
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Move a subscription back to an earlier time, as far as messages are still stored, or skip forward."""
    with connected(dsn, role) as connection:
        admin = connection.admin
        to = datetime.max if since == "end" else moment(since, admin.now, "TIME")
        assert to is not None
        admin.seek_subscription(subscription, to)
    output.said(f"{subscription}: goes on from {since}", as_json=as_json, subscription=subscription, since=since)


@app.command()
def drop(
    subscription: Subscription, yes: Yes = False, dsn: Dsn = None, role: Role = None, as_json: Json = False
) -> None:
    """End a subscription. It loses the messages that it has not read."""
    with connected(dsn, role) as connection:
        confirm(f"End subscription {output.printable(subscription)} for good?", yes=yes)
        connection.admin.unsubscribe(subscription)
    output.said(f"subscription {subscription} dropped", as_json=as_json, subscription=subscription)


def _switch(verb: str, subscription: str, dsn: str | None, role: str | None, as_json: bool) -> None:
    with connected(dsn, role) as connection:
        getattr(connection.admin, verb)(subscription, sending=False)
    output.said(f"{subscription}: {verb}d", as_json=as_json, subscription=subscription, **{f"{verb}d": True})


def _kind(row: dict[str, Any]) -> str:
    words = ("durable" if row["durable"] else "not durable", "shared" if row["shared"] else "")
    return ", ".join(filter(None, (*words, "by priority" if row["prioritized"] else "")))
