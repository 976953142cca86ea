"""The `howdah` command: one noun a file, put together here."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import typer

from . import (
    access,
    alias,
    archive,
    audit,
    bench,
    board,
    changes,
    check,
    cluster,
    console,
    engine,
    facade,
    health,
    hooks,
    instance,
    kept,
    link,
    listener,
    log,
    metrics,
    migrate,
    objects,
    output,
    receive,
    redaction,
    result,
    schedule,
    send,
    server,
    service,
    subscription,
    target,
    top,
    topic,
    transactions,
    transformation,
    user,
    worker,
    workers,
)
from .common import EXIT_CODES, INTERRUPTED, OK, describe
from .demo.command import demo
from .importing import command as importing
from .poison import command as poison
from .queue import command as queue

HELP_OPTIONS = ["-h", "--help"]

app = typer.Typer(
    name="howdah",
    help="A message queue that lives in PostgreSQL.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # The commands below inherit it.
    context_settings={"help_option_names": HELP_OPTIONS},
)
app.add_typer(server.app, name="server")
app.command("migrate")(migrate.migrate)
app.add_typer(queue.app, name="queue")
app.add_typer(alias.app, name="alias")
app.add_typer(redaction.app, name="redaction")
app.add_typer(topic.app, name="topic")
app.add_typer(subscription.app, name="subscription")
app.add_typer(listener.app, name="listener")
app.add_typer(access.app, name="access")
app.add_typer(user.app, name="user")
app.command("send")(send.send)
app.command("receive")(receive.receive)
app.command("browse")(receive.browse)
app.command("result")(result.result)
app.add_typer(schedule.app, name="schedule")
app.add_typer(link.app, name="link")
app.add_typer(transformation.app, name="transformation")
app.add_typer(importing.app, name="import")
app.add_typer(objects.app, name="object")
app.command("scheduler")(schedule.scheduler)
app.add_typer(poison.app, name="poison")
app.add_typer(kept.app, name="kept")
app.command("worker")(worker.worker)
app.add_typer(transactions.app, name="transactions")
app.add_typer(hooks.app, name="hooks")
app.command("workers")(workers.workers)
app.add_typer(instance.app, name="instance")
app.add_typer(cluster.app, name="cluster")
app.add_typer(changes.app, name="changes")
app.add_typer(engine.app, name="engine")
app.add_typer(facade.app, name="facade")
app.add_typer(log.app, name="log")
app.add_typer(service.app, name="service")
app.command("check")(check.check)
app.command("health")(health.health)
app.command("top")(top.top)
app.command("metrics")(metrics.metrics)
app.command("board")(board.board)
app.command("console")(console.console)
app.command("audit")(audit.audit)
app.add_typer(archive.app, name="archive")
app.command("bench")(bench.bench)
app.command("demo")(demo)


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        output.write(f"howdah {version('howdah')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    service: Annotated[
        str | None,
        typer.Option(
            "--service",
            envvar="HOWDAH_SERVICE",
            show_envvar=True,
            metavar="SERVICE",
            help="Service to connect with, such as admin. [default: none]",
            show_default=False,
        ),
    ] = None,
) -> None:
    """A message queue that lives in PostgreSQL."""
    target.connect_with(service)


@cache
def _command() -> Callable[..., Any]:
    """Build the command from ``app`` once: that takes Typer as long as most commands run."""
    command = typer.main.get_command(app)
    _mend_help(command)
    return command


def _mend_help(command: Any) -> None:
    """Join the lines of each paragraph, and escape what the help would drop as markup, such as [default: all].

    A flag takes no value, but Typer would show it as <bool>.
    """
    if command.help:
        # Typer joins those of the first paragraph only: at 80 columns, the others would be broken twice.
        command.help = re.sub(r"(?<!\n)\n[ \t]*(?!\n)", " ", inspect.cleandoc(command.help))
    command.get_help_option(typer.Context(command, help_option_names=HELP_OPTIONS)).metavar = ""
    for parameter in command.params:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        if getattr(parameter, "help", None):
            parameter.help = re.sub(r"(?<!\\)\[default:", r"\\[default:", parameter.help)
    for below in getattr(command, "commands", {}).values():
        _mend_help(below)


def main(arguments: list[str] | None = None) -> None:
    """Run the command; None means the arguments of the process. Prints known errors as one line on stderr."""
    target.begin()
    try:
        # Not standalone: Typer would draw a box of several lines around arguments that it does not understand.
        code = _command()(arguments, prog_name="howdah", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(INTERRUPTED)
    except Exception as error:
        known = describe(error)
        if known is None:
            raise
        text, code = known
        if text:
            output.complain(text)
    sys.exit(code or OK)


if __name__ == "__main__":
    main()
