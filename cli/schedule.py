"""howdah schedule: messages sent by the clock. howdah scheduler: the process that sends them where no worker runs."""

from __future__ import annotations

import os
import signal
import socket
import threading
from typing import Annotated, Any

import typer

from . import output, tables, times
from .common import Dsn, Json, Queue, Role, Wide, connected, resolve_dsn

app = typer.Typer(no_args_is_help=True, help="Messages sent by the clock.")

Number = Annotated[int, typer.Argument(metavar="NUMBER", help="Number of the schedule.", show_default=False)]
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
    body: Annotated[str, typer.Argument(metavar="BODY", help="The message.", show_default=False)],
    cron: Annotated[str | None, typer.Option(help='Cron expression, such as "30 8 * * mon-fri".')] = None,
    every: Annotated[float | None, times.length("--every", help="Period: 90 (seconds), 30m, 12h, 7d, …")] = None,
    repeat: Annotated[int | None, typer.Option(help="So many times after the first. [default: for ever]")] = None,
    delay: Annotated[float | None, times.length("--delay", help="Before the first one.")] = None,
    starts: Annotated[str | None, typer.Option(metavar="TIME", help="Not before: 2026-05-01T12:30.")] = None,
    ends: Annotated[str | None, typer.Option(metavar="TIME", help="Not after.")] = None,
    name: Annotated[str | None, typer.Option(help="Replaces the schedule of that name.")] = None,
    time_zone: Annotated[str, typer.Option(help="Of the cron expression, such as Europe/Vienna.")] = "UTC",
    catch_up: Annotated[
        bool | None, typer.Option("--catch-up/--no-catch-up", help="Make up for each missed time.")
    ] = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Send a message by the clock: by a cron expression, so often with a period between, or once."""
    with connected(dsn, role) as connection:
        number = connection.schedules.add(
            queue,
            body,
            cron=cron,
            period=every,
            repeat=repeat,
            delay=delay,
            starts_at=_time(starts, "--starts"),
            ends_at=_time(ends, "--ends"),
            name=name,
            time_zone=time_zone,
            catch_up=catch_up,
        )
    output.said(f"schedule {number} added", as_json=as_json, schedule_id=number, queue=queue)


@app.command("list")
def list_(
    queue: Annotated[str | None, typer.Argument(metavar="QUEUE", help="Only this one's.", show_default=False)] = None,
    all_states: Annotated[bool, typer.Option("--all", help="Also those that ended or were cancelled.")] = False,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Show the schedules, the next one to fire first."""
    with connected(dsn, role) as connection:
        rows = connection.schedules.list(queue, all_states=all_states)
    if not as_json:
        rows = [{**row, "when": _when(row), "next": _next(row)} for row in rows]
    tables.show(rows, COLUMNS, as_json=as_json, empty="no schedules", wide=wide)


@app.command()
def cancel(schedule: Number, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Let it fire no more."""
    with connected(dsn, role) as connection:
        connection.schedules.cancel(schedule)
    output.said(f"schedule {schedule} cancelled", as_json=as_json, schedule_id=schedule)


@app.command()
def pause(schedule: Number, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Let it fire no more until it is resumed."""
    with connected(dsn, role) as connection:
        changed = connection.schedules.pause(schedule)
    text = f"schedule {schedule} {'paused' if changed else 'was not active'}"
    output.said(text, as_json=as_json, schedule_id=schedule, changed=changed)


@app.command()
def resume(schedule: Number, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Let it fire again, from its next time on."""
    with connected(dsn, role) as connection:
        changed = connection.schedules.resume(schedule)
    text = f"schedule {schedule} {'resumed' if changed else 'was not paused'}"
    output.said(text, as_json=as_json, schedule_id=schedule, changed=changed)


def scheduler(
    dsn: Dsn = None, log_json: Annotated[bool, typer.Option("--log-json", help="Log as JSON.")] = False
) -> None:
    """Fire schedules until SIGTERM, where no worker runs; workers do it too, and any number may."""
    from ..workers import logs
    from ..workers.scheduler import Scheduler

    target = resolve_dsn(dsn)
    with connected(target, None) as connection:  # a database that is not there or not migrated is said at once
        connection.schedules.due()
    logs.configure(as_json=log_json)
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    running = Scheduler(target, f"{socket.gethostname()}:scheduler:{os.getpid()}")
    running.start()
    while not stopping.wait(0.5):
        pass
    running.stop()


def _when(row: dict[str, Any]) -> str:
    if row["cron"] is not None:
        zone = "" if row["time_zone"] == "UTC" else f" {row['time_zone']}"
        return f"{row['cron']}{zone}"
    return "once" if row["period"] is None else f"every {row['period']}"


def _next(row: dict[str, Any]) -> Any:
    """When it fires next, or why it does not."""
    return row["next_at"] or "to be planned" if row["state"] == "active" else row["state"]


def _time(word: str | None, option: str) -> Any:
    from datetime import UTC, datetime

    from .times import moment

    return moment(word, lambda: datetime.now(UTC), option)
