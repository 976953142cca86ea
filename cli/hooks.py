"""``howdah hooks``: tell administrators of events by webhook and e-mail."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from . import worker
from .common import Dsn, connected, resolve_dsn
from .log_options import LogJson, LogLevel

app = typer.Typer(help="Tell administrators of events by webhook and e-mail.", no_args_is_help=True)

File = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="TOML file of the hooks; see docs/handling-failures.md.", show_default=False),
]


@app.command("check")
def check(file: File) -> None:
    """Check the file and the environment variables that it names. Calls no hook."""
    from ..workers.hooks.config import load_hooks

    configuration = load_hooks(file, os.environ)
    for hook in configuration.hooks:
        events = ", ".join(hook.events) or "all events"
        queues = ", ".join(hook.queues) or "all queues"
        typer.echo(f"{hook.name}: {events} of {queues}")


@app.command("run")
def run(
    file: File,
    dsn: Dsn = None,
    sessions: Annotated[int, typer.Option(min=1, max=200, help="Number of events handled at the same time.")] = 1,
    log_json: LogJson = False,
    log_level: LogLevel = None,
) -> None:
    """Call the hooks of each event until SIGTERM. Calls in progress are finished."""
    from ..engine.errors import NoSuchQueue
    from ..workers.hooks.config import load_hooks
    from ..workers.hooks.handler import TARGET, VARIABLE

    configuration = load_hooks(file, os.environ)
    dsn = resolve_dsn(dsn)
    with connected(dsn, None) as connection:  # a queue that is not there is said at once
        try:
            connection.admin.queue_stats(configuration.queue)
        except NoSuchQueue as error:
            raise NoSuchQueue(
                error.message,
                "Events have a queue as soon as a queue tells of any: howdah queue alter NAME -o notify_admin=true.",
            ) from error
    os.environ[VARIABLE] = str(file.absolute())
    worker.worker(TARGET, dsn, sessions=sessions, processes=1, log_json=log_json, log_level=log_level)
