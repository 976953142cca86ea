"""howdah schedule manages scheduled messages. howdah scheduler sends them where no worker runs."""

from __future__ import annotations

import os
import socket
from typing import Annotated, Any

import typer

from . import output, tables, times
from .common import Dsn, Json, JsonBody, Queue, Role, Wide, connected, resolve_dsn, run_until_told
from .log_options import LogJson

app = typer.Typer(no_args_is_help=True, help="Manage schedules, which send messages by the clock.")

Number = Annotated[int, typer.Argument(metavar="NUMBER", help="Schedule number.", show_default=False)]
COLUMNS = tables.Columns(
    {"schedule_id": "number", "queue_name": "queue", "name": "name", "next": "next"},
    {
        "state": "state",
        "when": "when",
        "fired": "fired",
        "missed": "missed",
        "last_error": "error",
    },
)


@app.command()
def add(
    queue: Queue,
    body: Annotated[str, typer.Argument(metavar="BODY", help="Body of each message.", show_default=False)],
    json_body: JsonBody = False,
    cron: Annotated[str | None, typer.Option(help='Cron expression, such as "30 8 * * mon-fri".')] = None,
    every: Annotated[float | None, times.length("--every", help="Period: 90 (seconds), 30m, 12h, 7d, …")] = None,
    repeat: Annotated[
        int | None, typer.Option(help="Number of repetitions after the first. [default: no limit]")
    ] = None,
    delay: Annotated[float | None, times.length("--delay", help="Delay of the first message.")] = None,
    starts: Annotated[str | None, typer.Option(metavar="TIME", help="Earliest time: 2026-05-01T12:30.")] = None,
    ends: Annotated[str | None, typer.Option(metavar="TIME", help="Latest time.")] = None,
    name: Annotated[str | None, typer.Option(help="Name; replaces a schedule with the same name.")] = None,
    time_zone: Annotated[str, typer.Option(help="Time zone of --cron, such as Europe/Vienna.")] = "UTC",
    catch_up: Annotated[
        bool | None, typer.Option("--catch-up/--no-catch-up", help="Send a message for each missed time.")
    ] = None,
    reliability: Annotated[
        str | None,
        typer.Option("--reliability", metavar="LEVEL", help="BEST_EFFORT_NONPERSISTENT to ASSURED_PERSISTENT."),
    ] = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Schedule a message: by a cron expression, periodically, or once.

    A BODY is sent as text, even if it looks like JSON. Use --json-body to send it as JSON.
    """
    from .lines import check_text, note_text

    content_type = "application/json" if json_body else None
    check_text(body, content_type)
    with connected(dsn, role) as connection:
        number = connection.schedules.add(
            queue,
            body,
            content_type=content_type,
            cron=cron,
            period=every,
            repeat=repeat,
            delay=delay,
            starts_at=_time(starts, "--starts"),
            ends_at=_time(ends, "--ends"),
            name=name,
            time_zone=time_zone,
            catch_up=catch_up,
            reliability=reliability,
        )
    note_text(body, content_type)
    output.said(f"schedule {number} added", as_json=as_json, schedule_id=number, queue=queue)


@app.command("list")
def list_(
    queue: Annotated[
        str | None, typer.Argument(metavar="QUEUE", help="Show only schedules of this queue.", show_default=False)
    ] = None,
    all_states: Annotated[bool, typer.Option("--all", help="Include ended and cancelled schedules.")] = False,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """List the schedules, the next one to fire first."""
    with connected(dsn, role) as connection:
        rows = connection.schedules.list(queue, all_states=all_states)
    if not as_json:
        rows = [{**row, "when": _when(row), "next": _next(row)} for row in rows]
    tables.show(rows, COLUMNS, as_json=as_json, empty="no schedules", wide=wide)


@app.command()
def cancel(schedule: Number, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Cancel a schedule for good."""
    with connected(dsn, role) as connection:
        connection.schedules.cancel(schedule)
    output.said(f"schedule {schedule} cancelled", as_json=as_json, schedule_id=schedule)


@app.command()
def pause(schedule: Number, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Pause a schedule until it is resumed."""
    with connected(dsn, role) as connection:
        changed = connection.schedules.pause(schedule)
    text = f"schedule {schedule} {'paused' if changed else 'was not active'}"
    output.said(text, as_json=as_json, schedule_id=schedule, changed=changed)


@app.command()
def resume(schedule: Number, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Resume a paused schedule from its next time on."""
    with connected(dsn, role) as connection:
        changed = connection.schedules.resume(schedule)
    text = f"schedule {schedule} {'resumed' if changed else 'was not paused'}"
    output.said(text, as_json=as_json, schedule_id=schedule, changed=changed)


@app.command()
def fire(
    schedule: Number,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why, for the record.")] = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Send a schedule's message now, beside its planned times."""
    with connected(dsn, role) as connection:
        sent = connection.schedules.fire_now(schedule, reason)
    text = f"schedule {schedule} fired: " + ("its series began" if sent is None else f"message {sent}")
    output.said(text, as_json=as_json, schedule_id=schedule, message_id=sent)


def scheduler(dsn: Dsn = None, log_json: LogJson = False) -> None:
    """Fire schedules until SIGTERM. Needed only where no worker runs; several may run at once."""
    from ..workers.log import writer
    from ..workers.scheduler import Scheduler

    target = resolve_dsn(dsn)
    with connected(target, None) as connection:  # a database that is not there or not migrated is said at once
        connection.schedules.due()
    writer.configure(as_json=log_json)
    run_until_told(Scheduler(target, f"{socket.gethostname()}:scheduler:{os.getpid()}"))


def _when(row: dict[str, Any]) -> str:
    if row["cron"] is not None:
        zone = "" if row["time_zone"] == "UTC" else f" {row['time_zone']}"
        return f"{row['cron']}{zone}"
    return "once" if row["period"] is None else f"every {row['period']}"


def _next(row: dict[str, Any]) -> Any:
    """Return when a schedule fires next, or why it does not."""
    return row["next_at"] or "to be planned" if row["state"] == "active" else row["state"]


def _time(word: str | None, option: str) -> Any:
    from datetime import UTC, datetime

    from .times import moment

    return moment(word, lambda: datetime.now(UTC), option)
