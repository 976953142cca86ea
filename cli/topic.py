"""howdah topic: create, show, change, bridge and drop topics, and browse their history."""

from __future__ import annotations

from typing import Annotated

import typer

from . import output, tables
from .common import Dsn, Json, Queue, Role, Wide, Yes, confirm, connected, pairs
from .receive import HISTORY_COLUMNS, browsed
from .times import Since, moment

app = typer.Typer(no_args_is_help=True, help="Manage topics, whose messages go to every subscription.")

Topic = Annotated[str, typer.Argument(metavar="TOPIC", help="Topic name.", show_default=False)]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        metavar="KEY=VALUE",
        help="Option to set, such as retain_ms=86400000. contract=@FILE takes JSON from a file.",
    ),
]

LIST_COLUMNS = tables.Columns(
    {
        "topic": "topic",
        "subscriptions": "subscriptions",
        "durable_subscriptions": "durable",
        "bridges": "bridges",
        "published": "published",
        "sending_paused": "paused",
    },
    {"discarded": "discarded", "refused_for": "refuses, for", "created_at": "created"},
)


@app.command()
def create(topic: Topic, option: Options = None, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Create a topic."""
    options = pairs(option, "--option")
    with connected(dsn, role) as connection:
        number = connection.admin.create_topic(topic, **options)
    output.said(f"topic {topic} created", as_json=as_json, topic=topic, destination_id=number)


@app.command()
def alter(topic: Topic, option: Options = None, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Change options of a topic. The others stay as they are."""
    options = pairs(option, "--option")
    if not options:
        raise typer.BadParameter("name at least one: -o KEY=VALUE", param_hint="--option")
    with connected(dsn, role) as connection:
        connection.admin.alter_topic(topic, **options)
    output.said(f"topic {topic} altered: {', '.join(options)}", as_json=as_json, topic=topic, altered=options)


@app.command("list")
def list_(wide: Wide = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """List the topics."""
    with connected(dsn, role) as connection:
        rows = connection.admin.list_topics()
    tables.show(rows, LIST_COLUMNS, as_json=as_json, empty="no topics", wide=wide)


@app.command()
def show(topic: Topic, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Show a topic, its options and the queues that it is bridged to."""
    from ..engine.errors import NoSuchQueue

    with connected(dsn, role) as connection:
        rows = [row for row in connection.admin.list_topics() if row["topic"] == topic]
        if not rows:
            raise NoSuchQueue(f"there is no topic {topic!r}", "See howdah topic list.")
        options = connection.admin.topic_options(topic)
        bridges = connection.admin.list_bridges(topic) if rows[0]["bridges"] else []
    output.facts(
        {**rows[0], **options, "bridges": [_bridge(**row) if not as_json else row for row in bridges]}, as_json=as_json
    )


@app.command()
def history(
    topic: Topic,
    since: Since = None,
    number: Annotated[int, typer.Option("--number", "-n", help="Maximum number of messages.")] = 20,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Show messages that are still stored, oldest first. Takes nothing.

    Messages that every subscription has read may be gone.
    """
    with connected(dsn, role) as connection:
        admin = connection.admin
        messages = admin.topic_history(topic, moment(since, admin.now, "--since"), number)
    if as_json:
        for message in messages:
            output.write(output.message_json(message))
        return
    empty = f"no stored message of {output.printable(topic)}"
    tables.show([*map(browsed, messages)], HISTORY_COLUMNS, as_json=False, empty=empty, wide=wide)


@app.command()
def bridge(
    topic: Topic,
    queue: Queue,
    selector: Annotated[
        str | None, typer.Option("--selector", "-s", help="Pass on only messages that it selects.")
    ] = None,
    transformation: Annotated[
        str | None, typer.Option("--transformation", "-t", help="Pass messages on as it makes them.")
    ] = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Pass the topic's messages on to a queue too. Run it again to change the selector and the transformation."""
    with connected(dsn, role) as connection:
        connection.admin.bridge(topic, queue, selector, transformation)
    output.said(
        f"{topic} goes on to {queue}",
        as_json=as_json,
        topic=topic,
        queue=queue,
        selector=selector,
        transformation=transformation,
    )


@app.command()
def unbridge(topic: Topic, queue: Queue, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Stop passing messages on to a queue."""
    with connected(dsn, role) as connection:
        was = connection.admin.unbridge(topic, queue)
    text = f"{topic} goes on to {queue} no longer" if was else f"{topic} did not go on to {queue}"
    output.said(text, as_json=as_json, topic=topic, queue=queue, unbridged=was)


@app.command()
def drop(
    topic: Topic,
    force: Annotated[bool, typer.Option("--force", help="Drop the topic's subscriptions too.")] = False,
    yes: Yes = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Drop a topic. A topic that has subscriptions needs --force."""
    with connected(dsn, role) as connection:
        confirm(f"Drop {output.printable(topic)}{' and its subscriptions' if force else ''} for good?", yes=yes)
        read = connection.admin.drop_topic(topic, force=force)
    text = f"topic {topic} dropped" + (f", which {read} subscriptions read" if read else "")
    output.said(text, as_json=as_json, topic=topic, subscriptions=read)


def _bridge(queue: str, selector: str | None, transformation: str | None) -> str:
    how = ", ".join(text for text in (selector, transformation and f"transformed by {transformation}") if text)
    return f"{queue} ({how})" if how else queue
