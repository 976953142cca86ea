"""The commands of howdah queue for all messages of a queue: purge, move, list delayed ones, show limits."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import output, tables
from ..common import Dsn, Json, OneQueue, Queue, Role, Wide, Yes, confirm, connected
from ..poison.options import DryRun, Reason

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
LIMIT_COLUMNS = tables.Columns(
    {
        "queue_name": "queue",
        "max_concurrent": "at a time",
        "in_hand": "in hand",
        "leased": "leased",
        "rate_limit": "rate",
        "limited_for": "no room for",
    },
    {"limit_key": "key", "max_concurrent_per_key": "at a time, a key", "rate_limit_per_key": "rate, a key"},
)


def purge(queue: Queue, yes: Yes = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Discard all messages of a queue except those in hand."""
    with connected(dsn, role) as connection:
        confirm(f"Discard all messages of {output.printable(queue)} for good?", yes=yes)
        discarded = connection.admin.purge_queue(queue)
    output.said(
        f"{output.counted(discarded, 'message')} of {queue} discarded",
        as_json=as_json,
        queue=queue,
        discarded=discarded,
    )


def move(
    queue: Queue,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Destination queue.", show_default=False)],
    number: Annotated[
        int | None, typer.Option("--number", "-n", min=1, help="Move at most this many, oldest first. [default: all]")
    ] = None,
    dry_run: DryRun = False,
    reason: Reason = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Move all messages except those in hand to another queue. They keep the name of their origin."""
    with connected(dsn, role) as connection:
        moved = connection.admin.move_all(queue, target, max_messages=number, reason=reason, dry_run=dry_run)
    text = f"{output.counted(moved, 'message')} {'would be ' if dry_run else ''}moved to {target}"
    key = "would_be_moved" if dry_run else "moved"
    output.said(text, as_json=as_json, queue=queue, target=target, **{key: moved})


def delayed(
    queue: Queue,
    number: Annotated[int, typer.Option("--number", "-n", min=1, max=10000, help="Maximum number of messages.")] = 100,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """List messages that wait for their time, delayed or put back after a failure."""
    with connected(dsn, role) as connection:
        rows = connection.schedules.delayed(queue, number)
    empty = f"no message of {output.printable(queue)} waits for its time"
    tables.show(rows, DELAYED_COLUMNS, as_json=as_json, empty=empty, wide=wide)


def limits(
    queue: OneQueue = None,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """List the limits of concurrency and rates, and how far they are used. Set them with alter."""
    with connected(dsn, role) as connection:
        rows = connection.admin.list_handler_limits(queue)
    tables.show(rows, LIMIT_COLUMNS, as_json=as_json, empty="no queue has such limits", wide=wide)
