"""howdah kept: messages that were consumed and that their queue keeps."""

from __future__ import annotations

from typing import Annotated

import typer

from . import output, tables, times
from .common import Dsn, Json, Queue, Role, Wide, Yes, confirm, connected
from .poison.options import DryRun, Ids, Reason

app = typer.Typer(no_args_is_help=True, help="Show, replay and delete messages that were consumed and are kept.")

Before = Annotated[str | None, typer.Option("--before", metavar="TIME", help="Only those consumed before this time.")]

COLUMNS = tables.Columns(
    {
        "message_id": "message",
        "kept_at": "consumed",
        "kept_until": "kept until",
        "priority": "priority",
        "delivery_count": "deliveries",
        "body": "body",
    },
    {
        "sent_at": "sent",
        "message_type": "type",
        "correlation_id": "correlation id",
        "headers": "headers",
        "dead_reason": "died because",
    },
    cut=frozenset({"body"}),
)


@app.command("list")
def list_(
    queue: Queue,
    number: Annotated[int, typer.Option("--number", "-n", min=1, max=10000, help="Maximum number of messages.")] = 100,
    id_: Annotated[int | None, typer.Option("--id", metavar="MESSAGE_ID", help="Only this message.")] = None,
    oldest: Annotated[bool, typer.Option("--oldest", help="The oldest first. [default: the newest]")] = False,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """List messages that were consumed and that the queue keeps."""
    with connected(dsn, role) as connection:
        rows = connection.admin.browse_kept(queue, max_messages=number, only_id=id_, newest_first=not oldest)
    if not as_json:
        rows = [{**row, "body": f"{len(row['bytes'])} bytes" if row["body"] is None else row["body"]} for row in rows]
    tables.show(rows, COLUMNS, as_json=as_json, empty=f"{output.printable(queue)} keeps no message", wide=wide)


@app.command()
def replay(
    queue: Queue,
    id_: Ids = None,
    everything: Annotated[bool, typer.Option("--all", help="All that the queue keeps.")] = False,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Those consumed at this time (or 12h ago) or later.")
    ] = None,
    before: Before = None,
    number: Annotated[
        int | None, typer.Option("--number", "-n", min=1, help="At most this many messages, the oldest first.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "--to", metavar="QUEUE", help="Destination queue. [default: the same]")
    ] = None,
    dry_run: DryRun = False,
    reason: Reason = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Send kept messages again, as new ones: those of --id, those of a time, or --all."""
    _check(id_, everything, since or before)
    with connected(dsn, role) as connection:
        replayed = connection.admin.replay_kept(
            queue,
            id_,
            target=target,
            max_messages=number,
            kept_from=times.moment(since, connection.admin.now, "--since"),
            kept_before=times.moment(before, connection.admin.now, "--before"),
            reason=reason,
            dry_run=dry_run,
        )
    text = f"{output.counted(replayed, 'message')} {'would be ' if dry_run else ''}sent again to {target or queue}"
    key = "would_be_replayed" if dry_run else "replayed"
    output.said(text, as_json=as_json, queue=queue, target=target or queue, **{key: replayed})


@app.command()
def delete(
    queue: Queue,
    id_: Ids = None,
    everything: Annotated[bool, typer.Option("--all", help="All that the queue keeps.")] = False,
    before: Before = None,
    reason: Reason = None,
    yes: Yes = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Delete kept messages before their time: those of --id, those before a time, or --all."""
    _check(id_, everything, before)
    with connected(dsn, role) as connection:
        until = times.moment(before, connection.admin.now, "--before")
        if id_ is None:
            which = "all messages" if until is None else "the messages before that time"
            confirm(f"Delete {which} that {output.printable(queue)} keeps for good?", yes=yes)
        deleted = connection.admin.delete_kept(queue, id_, kept_before=until, reason=reason)
    text = f"{output.counted(deleted, 'kept message')} of {queue} deleted"
    output.said(text, as_json=as_json, queue=queue, deleted=deleted)


def _check(ids: list[int] | None, everything: bool, moment: str | None) -> None:
    if sum((bool(ids), everything, moment is not None)) != 1:
        raise typer.BadParameter("give either --id, or --all, or a time", param_hint="--id")
