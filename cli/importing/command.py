"""howdah import: copy messages from the stores of other systems."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from .. import output, tables
from ..common import FAILED, Dsn, Json, Role, Wide, connected, words
from ..progress import counting

if TYPE_CHECKING:
    from .outcome import Outcome

app = typer.Typer(no_args_is_help=True, help="Copy messages from the stores of other systems, each exactly once.")


@app.command()
def activemq(
    source: Annotated[
        str,
        typer.Option("--from", metavar="DSN", help="DSN of the database of ActiveMQ's JDBC store.", show_default=False),
    ],
    final: Annotated[
        bool,
        typer.Option(
            "--final", help="The last pass, after the broker's stop: what the copy had paused is received from again."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what can be copied and what cannot. Nothing is changed.")
    ] = False,
    mapped: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="OLD=NEW",
            help="Name here of a queue, of topic://OLD or subscription://CLIENT:NAME; may be repeated. [default: OLD]",
        ),
    ] = None,
    prefix: Annotated[
        str, typer.Option("--prefix", metavar="TEXT", help="ActiveMQ's tablePrefix.", show_default=False)
    ] = "",
    batch: Annotated[
        int, typer.Option("--batch", metavar="N", min=1, max=10000, help="Number of messages per transaction.")
    ] = 500,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Copy pending messages and durable subscriptions from ActiveMQ's JDBC store in PostgreSQL.

    The broker may run. Then nobody receives from the copies. Each further pass copies what is new, and takes back what
    was consumed in ActiveMQ. Stop the broker and use --final for the last pass.

    Messages that cannot come over are listed, and the others do. Exit code 1 says that there are such messages.
    """
    from ...text.dsn import BadDsnError
    from ...text.passfile import accessible
    from .converting import Names
    from .outcome import COLUMNS, DRY_COLUMNS, Outcome
    from .passing import Pass
    from .source import Store

    if not re.fullmatch(r"(?a:[A-Za-z_]\w*)?", prefix):
        raise typer.BadParameter("it has letters, digits and _", param_hint="--prefix")
    try:
        source = accessible(source)
    except BadDsnError as error:
        raise BadDsnError(f"--from: {error}") from None
    names = Names(words(mapped, "--map"))
    outcome = Outcome(output.complain)
    with connected(dsn, role) as connection:
        store = Store(source, prefix)
        try:
            if not dry_run:
                store.keep_others_out()
            if final and not dry_run:
                store.keep_brokers_out()
            with counting("messages") as (total, done):
                work = Pass(store, connection, names, outcome, batch=batch, final=final, done=done)
                total(store.count())
                resumed: list[str] = []
                if dry_run:
                    work.survey()
                else:
                    resumed = work.copy()
        except BaseException:
            if not dry_run and outcome.rows():
                output.complain(_came(outcome))
            raise
        finally:
            store.close()
    tables.show(
        outcome.rows(),
        DRY_COLUMNS if dry_run else COLUMNS,
        as_json=as_json,
        empty="the store is empty",
        wide=wide,
    )
    if not as_json and not dry_run:
        output.write(_next(resumed, final=final))
    if outcome.refused:
        raise typer.Exit(FAILED)


@app.command("list")
def list_(wide: Wide = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """List the stores that messages were copied from."""
    columns = tables.Columns(
        {"source": "source", "stored": "stored", "withdrawn": "taken back", "finished_at": "finished"},
        {"created_at": "begun", "created_by": "by", "held": "held", "queues": "queues"},
    )
    with connected(dsn, role) as connection:
        rows = connection.imports.list()
    tables.show(rows, columns, as_json=as_json, empty="nothing was imported", wide=wide)


@app.command()
def forget(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Source, as import list names it.")],
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Forget what came over from a store. A further pass would copy it anew."""
    with connected(dsn, role) as connection:
        count = connection.imports.forget(source)
    output.said(
        f"{output.counted(count, 'message')} of {source} forgotten", as_json=as_json, source=source, forgotten=count
    )


def _came(outcome: Outcome) -> str:
    """What a pass that broke off has done. Each of its batches was committed."""
    rows = outcome.rows()
    stored, withdrawn = (sum(row[key] for row in rows) for key in ("stored", "withdrawn"))
    return (
        f"stopped: {output.counted(stored, 'message')} came over and {withdrawn} were taken back before;"
        " a further pass goes on from there"
    )


def _next(resumed: list[str], *, final: bool) -> str:
    if not final:
        return (
            "Nobody receives from the copies yet. Repeat this as often as you like; stop the broker, then use --final."
        )
    return (
        f"The import is finished. Received from again: {', '.join(resumed)}." if resumed else "The import is finished."
    )
