"""howdah log: what happened in the engine, read from its database."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal

import typer

from . import output, tables, times
from .common import Dsn, Json, Role, Wide, connected, pairs

app = typer.Typer(no_args_is_help=True, help="Read the log of the engine, and write to it.")

LEVELS = ("ERROR", "WARNING", "INFO")
LOOK_SECONDS = 0.5
COLUMNS = tables.Columns(
    {"logged_at": "at", "logged_level": "level", "destination": "queue", "text": "what"},
    {"logged_event": "event", "actor": "by", "details": "details"},
    cut=frozenset({"text"}),
)

Level = Literal["ERROR", "WARNING", "INFO"]
Lowest = Annotated[
    Level, typer.Option("--level", "-l", case_sensitive=False, help="Show this level and what is more severe.")
]
OfQueue = Annotated[
    str | None, typer.Option("--queue", "-q", metavar="QUEUE", help="Show only events of this queue, topic or so on.")
]
OfEvent = Annotated[
    str | None, typer.Option("--event", metavar="EVENT", help="Show only such events: QUEUE_DISABLED, MESSAGE_DEAD, …")
]


@app.command()
def show(
    level: Lowest = "INFO",
    queue: OfQueue = None,
    event: OfEvent = None,
    since: Annotated[float | None, times.length("--since", help="Show only the last 30m, 12h, 7d, …")] = None,
    number: Annotated[int, typer.Option("--number", "-n", min=1, max=10000, help="Most events.")] = 50,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Show what was logged, oldest first."""
    with connected(dsn, role) as connection:
        begin = None if since is None else connection.admin.now() - timedelta(seconds=since)
        rows = connection.logs.list(level, queue=queue, event=event, since=begin, max_rows=number)
    tables.show(rows[::-1], COLUMNS, as_json=as_json, empty="nothing was logged", wide=wide)


@app.command()
def follow(
    level: Lowest = "INFO",
    queue: OfQueue = None,
    event: OfEvent = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Show what is logged from now on, until Ctrl-C."""
    wanted = LEVELS[: LEVELS.index(level) + 1]
    with connected(dsn, role) as connection:
        position = connection.logs.since()["next_position"]
        output.complain("following the log")
        while True:
            found = connection.logs.since(position)
            position = found["next_position"]
            for entry in found["entries"]:
                if (
                    entry["level"] in wanted
                    and (queue is None or entry["destination"] == queue)
                    and (event is None or entry["event"] == event.upper())
                ):
                    output.write(output.to_json(entry) if as_json else _line(entry))
            if not found["more"]:
                time.sleep(LOOK_SECONDS)


@app.command("level")
def set_level(
    level: Annotated[
        Level | None,
        typer.Argument(case_sensitive=False, metavar="[LEVEL]", help="ERROR, WARNING or INFO.", show_default=False),
    ] = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Show or set which events the engine logs: those of a level and what is more severe."""
    with connected(dsn, role) as connection:
        if level is not None:
            connection.admin.alter_engine(log_level=level)
        now = connection.admin.engine_options()["log_level"]
    more = "" if now == "ERROR" else " and what is more severe"
    output.said(f"the engine logs {now}{more}", as_json=as_json, level=now)


@app.command()
def write(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The line, of up to 2,000 characters.")],
    level: Annotated[Level, typer.Option("--level", "-l", case_sensitive=False, help="Level of the line.")] = "INFO",
    detail: Annotated[
        list[str] | None, typer.Option("--detail", "-d", metavar="KEY=VALUE", help="Detail to record; may be repeated.")
    ] = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Write a line to the log of the engine's workers."""
    details = pairs(detail, "--detail")
    with connected(dsn, role) as connection:
        connection.logs.write(level, text, details)
    output.said("logged", as_json=as_json, logged={"level": level, "text": text, "details": details})


def _line(entry: Mapping[str, Any]) -> str:
    """Return an event as a worker writes it."""
    facts = {"queue": entry["destination"], "by": entry["actor"], **entry["details"]}
    words = [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in facts.items()
        if value is not None
    ]
    return output.one_line(" ".join([entry["at"], f"{entry['level'].lower():7}", entry["text"], *words]))
