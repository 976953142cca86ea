"""``howdah worker``: run an application's handlers."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from .common import Dsn, connected, resolve_dsn


def worker(
    target: Annotated[str, typer.Argument(metavar="MODULE:APP", help="Where the App is, such as myproject.tasks:app.")],
    dsn: Dsn = None,
    sessions: Annotated[int, typer.Option(min=1, max=200, help="Sessions (threads) in each process.")] = 4,
    processes: Annotated[int, typer.Option(min=1, max=64, help="Processes.")] = 1,
    log_json: Annotated[bool, typer.Option("--log-json", help="Write the log as JSON lines.")] = False,
    log_level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"], typer.Option(case_sensitive=False, help="What is logged.")
    ] = "INFO",
) -> None:
    """Run an application's handlers until SIGTERM, which finishes what is in hand; a second one rolls back at once."""
    from ..workers import Supervisor, events

    target_dsn = resolve_dsn(dsn)
    supervisor = Supervisor(
        target, target_dsn, processes=processes, sessions=sessions, log_json=log_json, log_level=log_level
    )
    with connected(target_dsn, None) as connection:  # a database that is not there or not migrated is said at once
        connection.admin.list_workers()
    events.configure(as_json=log_json, level=log_level)
    raise typer.Exit(supervisor.run())
