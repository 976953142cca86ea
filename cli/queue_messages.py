"""What howdah queue does with all the messages of a queue: purge, move, and show those that wait."""

from __future__ import annotations

from typing import Annotated

import typer

from . import output, tables
from .common import Dsn, Json, Queue, Role, Wide, Yes, confirm, connected
from .poison.options import DryRun, Reason

DELAYED_COLUMNS = tables.Columns(
    {
        "message_id": "message",
        "due_at": "due",
        "reason": "because of",
        "sent_at": "sent",
        "priority": "priority",
    },
    {
        "expires_at": "expires",
        "message_type": "type",
        "correlation_id": "correlation id",
        "headers": "headers",
        "bytes": "bytes",
    },
)


def purge(queue: Queue, yes: Yes = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Discard the messages of a queue that nobody has in hand just now."""
    with connected(dsn, role) as connection:
        confirm(f"Discard all messages of {output.printable(queue)} for good?", yes=yes)
        discarded = connection.admin.purge_queue(queue)
    output.said(f"{discarded} messages of {queue} discarded", as_json=as_json, queue=queue, discarded=discarded)


def move(
    queue: Queue,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The queue they are put into.", show_default=False)],
    number: Annotated[
        int | None, typer.Option("--number", "-n", min=1, help="Only so many, the oldest. [default: all]")
    ] = None,
    dry_run: DryRun = False,
    reason: Reason = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Put the messages of a queue that nobody has in hand into another one; they remember where they came from."""
    with connected(dsn, role) as connection:
        moved = connection.admin.move_all(queue, target, max_messages=number, reason=reason, dry_run=dry_run)
    text = f"{moved} messages {'would be ' if dry_run else ''}moved to {target}"
    key = "would_be_moved" if dry_run else "moved"
    output.said(text, as_json=as_json, queue=queue, target=target, **{key: moved})


def delayed(
    queue: Queue,
    number: Annotated[int, typer.Option("--number", "-n", min=1, max=10000, help="How many at most.")] = 100,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Show the messages that wait for their time: sent with a delay, or put back after a failure."""
    with connected(dsn, role) as connection:
        rows = connection.schedules.delayed(queue, number)
    empty = f"no message of {output.printable(queue)} waits for its time"
    tables.show(rows, DELAYED_COLUMNS, as_json=as_json, empty=empty, wide=wide)
