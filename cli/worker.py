"""``howdah worker``: run an application's handlers."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Annotated, Literal

import typer

from . import times
from .common import Define, Dsn, Factory, connected, found_factory, resolve_dsn
from .log_options import LogConfig, LogFile, LogJson, LogLevel, LogSet, configure, log_settings

WAIT_SECONDS = 0.5, 15.0
"""The first pause and the longest one between looks for a database that is down."""


def worker(
    target: Annotated[
        str, typer.Argument(metavar="MODULE:APP", help="Module and name of the App, such as myproject.tasks:app.")
    ],
    dsn: Dsn = None,
    factory: Factory = None,
    define: Define = None,
    queues: Annotated[
        list[str] | None,
        typer.Option("--queue", "-Q", metavar="QUEUE", help="Serve only this queue of the app; may be repeated."),
    ] = None,
    sessions: Annotated[int, typer.Option(min=1, max=200, help="Number of sessions (threads) in each process.")] = 4,
    processes: Annotated[int, typer.Option(min=1, max=64, help="Number of processes.")] = 1,
    isolate: Annotated[
        bool,
        typer.Option(
            "--isolate",
            help="Give each session its own process. A killed process then fails only the message in its own handler,"
            " and not those of sibling sessions. Takes more memory and connections.",
        ),
    ] = False,
    until_empty: Annotated[
        bool,
        typer.Option(
            "--until-empty", help="Exit once nothing is ready or in hand. Messages whose time has not come stay."
        ),
    ] = False,
    time_limit: Annotated[
        float | None,
        times.length("--time-limit", positive=True, help="Time limit of handlers that set none: 90 (seconds), 5m, …"),
    ] = None,
    commit_by_reliability: Annotated[
        bool,
        typer.Option(
            "--commit-by-reliability",
            help="Let a commit wait only as long as its most reliable message needs. What handlers write beside"
            " reliable persistent messages can then be lost with them in a crash.",
        ),
    ] = False,
    instance: Annotated[
        str | None,
        typer.Option("--instance", metavar="NAME", help="Name of the instance. [default: host and process id]"),
    ] = None,
    cluster_mode: Annotated[
        Literal["none", "master"] | None,
        typer.Option("--cluster-mode", help="Refuse to start if the cluster has another mode.", show_default=False),
    ] = None,
    cluster_master: Annotated[
        str | None,
        typer.Option("--cluster-master", metavar="NAME", help="Refuse to start if the cluster has another master."),
    ] = None,
    exclusive: Annotated[
        bool | None,
        typer.Option(
            "--exclusive/--shared",
            help="Refuse to start if the engine is in the other mode. [default: either mode]",
            show_default=False,
        ),
    ] = None,
    wait: Annotated[
        bool,
        typer.Option("--wait/--no-wait", help="Wait for a database that is down at the start, or exit with code 3."),
    ] = True,
    reload: Annotated[
        bool, typer.Option("--reload", help="Restart when Python files below this folder change; for development.")
    ] = False,
    log_json: LogJson = False,
    log_level: LogLevel = None,
    log_file: LogFile = None,
    log_set: LogSet = None,
    metrics: Annotated[
        float | None,
        times.length(
            "--metrics", positive=True, help="Interval at which figures of queues are logged: 60 (seconds), 5m, …"
        ),
    ] = None,
    log_config: LogConfig = None,
) -> None:
    """Run an application's handlers until SIGTERM. Messages in hand are finished; a second SIGTERM rolls them back.

    If a process is killed, the message in the handler of each of its sessions counts as failed.
    It does not matter which of them was the cause: see --isolate.
    """
    from ..workers import Supervisor
    from ..workers.instance import Instance
    from ..workers.selection import UnknownQueue

    settings = log_settings(log_set, log_file, metrics)
    metrics_seconds = configure(log_json, log_level, log_config, settings)
    dsn = resolve_dsn(dsn)
    if (found := found_factory(dsn, factory, define)) is not None:
        dsn = found.conninfo()
        commit_by_reliability = commit_by_reliability or found.attributes.get("commit_by_reliability", False)
    if reload:
        raise typer.Exit(_reloading(dsn, until_empty))
    of_cluster = {"cluster_mode": cluster_mode, "cluster_master": cluster_master, "exclusive": exclusive}
    try:
        supervisor = Supervisor(
            target,
            dsn,
            processes=processes,
            sessions=sessions,
            isolate=isolate,
            log_json=log_json,
            log_level=log_level,
            log_config=log_config,
            log_settings=[f"{name}={value}" for name, value in settings.items()],
            metrics_seconds=metrics_seconds,
            queues=queues or (),
            until_empty=until_empty,
            time_limit=time_limit,
            commit_by_reliability=commit_by_reliability,
            instance=Instance(dsn, instance, {key: value for key, value in of_cluster.items() if value is not None}),
        )
    except UnknownQueue as error:
        raise typer.BadParameter(str(error), param_hint="--queue") from error
    with closing(supervisor):
        _await_database(dsn, wait)
        code = supervisor.run()
    raise typer.Exit(code)


def _reloading(dsn: str, until_empty: bool) -> int:
    """Run this command without --reload, anew whenever a file changes. Returns its exit code."""
    from ..workers import reload

    if until_empty:
        raise typer.BadParameter("it does not go with --reload", param_hint="--until-empty")
    words = [word for word in sys.argv[sys.argv.index("worker") + 1 :] if word != "--reload"]
    return reload.run(words, dsn, Path.cwd())


def _await_database(dsn: str, wait: bool) -> None:
    """Return once the database answers and is migrated. What waiting cannot cure is raised at once."""
    from psycopg.pq import PGconn, Ping

    from ..engine.errors import CannotConnect
    from ..workers import events
    from ..workers.backoff import Backoff

    retry = Backoff(*WAIT_SECONDS)
    while True:
        try:
            with connected(dsn, None) as connection:
                connection.admin.list_workers()
            return
        except CannotConnect as error:
            if not wait or PGconn.ping(dsn.encode()) not in (Ping.NO_RESPONSE, Ping.REJECT):
                raise  # it answers, and refuses: a wrong password, say
            pause = retry.pause()
            events.database_awaited(error, pause)
            time.sleep(pause)
