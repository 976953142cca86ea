"""howdah receive and howdah browse: consume messages, or only look at them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import output, tables, times
from .common import Define, Dsn, Factory, Json, Queue, Role, Wide, destination, transaction

if TYPE_CHECKING:
    from ..engine import Message
    from ..engine.calls.options import BrowserOptions

BROWSE_COLUMNS = tables.Columns(
    {
        "message_id": "message",
        "priority": "priority",
        "sent_at": "sent",
        "delivery_count": "delivery",
        "preview": "body",
    },
    {"content_type": "content", "headers": "headers"},
    cut=frozenset({"preview"}),
)
HISTORY_COLUMNS = tables.Columns(
    {"message_id": "message", "priority": "priority", "sent_at": "sent", "preview": "body"},
    {"content_type": "content", "headers": "headers"},
    cut=frozenset({"preview"}),
)
PAGE = 1000


def receive(
    queue: Queue,
    number: Annotated[int, typer.Option("--number", "-n", help="Maximum number of messages.")] = 1,
    wait: Annotated[float, times.length("--wait", help="Time to wait for the first message: 90 (seconds), 5m, …")] = 0,
    dsn: Dsn = None,
    role: Role = None,
    factory: Factory = None,
    define: Define = None,
    as_json: Json = False,
) -> None:
    """Receive messages and print them.

    Printed messages are consumed. If printing fails, they return to the queue.
    """
    with transaction(dsn, role, factory, define) as session:
        messages = session.receive(destination(session, queue, factory), number, wait=wait)
        for message in messages:
            output.write(output.message_json(message) if as_json else output.message_text(message))
    if not messages and not as_json:
        typer.echo(f"no message in {output.printable(queue)}", err=True)


def browse(
    queue: Queue,
    number: Annotated[int, typer.Option("--number", "-n", help="Maximum number of messages.")] = 20,
    selector: Annotated[
        str | None, typer.Option("--selector", "-s", help="Show only messages that it selects.")
    ] = None,
    correlation_id: Annotated[
        str | None, typer.Option("--correlation-id", "-c", help="Show only messages with this correlation id.")
    ] = None,
    message_id: Annotated[
        int | None, typer.Option("--message", "-m", help="Show only the message with this id.")
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(
            "--after", metavar="PRIORITY:POSITION", help="Continue after this message; --json prints both values."
        ),
    ] = None,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    factory: Factory = None,
    define: Define = None,
    as_json: Json = False,
) -> None:
    """Show ready messages by priority and position. Takes and locks nothing."""
    if number < 1:
        raise typer.BadParameter(f"{number} is not 1 or more", param_hint="--number")
    from ..engine import Browser

    which: BrowserOptions = {
        "selector": selector,
        "correlation_id": correlation_id,
        "only_id": message_id,
        "after": _place(after),
    }
    with transaction(dsn, role, factory, define) as session:
        messages = list(
            islice(Browser(session, destination(session, queue, factory), min(number, PAGE), **which), number)
        )
    if as_json:
        for message in messages:
            output.write(output.message_json(message))
        return
    empty = f"no ready message in {output.printable(queue)}"
    tables.show([*map(browsed, messages)], BROWSE_COLUMNS, as_json=False, empty=empty, wide=wide)


def browsed(message: Message) -> dict[str, Any]:
    """Return a message as a row of a table."""
    keys = ("message_id", "priority", "sent_at", "delivery_count", "content_type", "headers")
    return {key: getattr(message, key) for key in keys} | {"preview": output.body_preview(message.body)}


def _place(after: str | None) -> tuple[int, int] | None:
    if after is None:
        return None
    priority, _, position = after.partition(":")
    if not (priority.isdecimal() and position.isdecimal()):
        raise typer.BadParameter(f"{after!r} is not PRIORITY:POSITION, such as 4:1200", param_hint="--after")
    return int(priority), int(position)
