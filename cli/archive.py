"""howdah archive: keep journal, incidents and dead messages as Parquet, and restore messages from it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..text.extras import how_to_install
from . import output, progress, tables
from .common import FAILED, OK, Dsn, Jar, Json, Master, Partitions, Role, Wide, connected, resolve_dsn
from .verdict import no_verdict

app = typer.Typer(no_args_is_help=True, help="Archive journal, incidents and dead messages as Parquet.")

Dir = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the archive.", show_default=False)]

RUN_COLUMNS = tables.Columns(
    {
        "run": "run",
        "finished_at": "finished",
        "journal_rows": "journal",
        "incident_rows": "incidents",
        "message_rows": "dead messages",
        "verified_at": "verified",
        "damage": "damage",
    },
    {"current": "current", "path": "folder"},
    cut=frozenset({"damage"}),
)
FINDING_COLUMNS = tables.Columns(
    {
        "run": "run",
        "journal": "journal",
        "incidents": "incidents",
        "messages": "dead messages",
        "files": "files",
        "damage": "damage",
    },
    fold=frozenset({"damage"}),
)


#: What begins when a stage of a run is over.
AFTER = {
    "locked": "looking at the archive",
    "named": "looking at the archive",
    "prepared": "starting Spark",
    "opened": "reading what is new",
    "read": "writing what is new",
    "written": "reading it back",
    "verified": "sealing the run",
    "sealed": "putting it in its place",
    "published": "entering it in the database",
    "finished": "marking it as finished",
    "marked": "done",
}


@app.command()
def run(
    folder: Dir,
    new: Annotated[bool, typer.Option("--new", help="Start a new archive in an empty folder.")] = False,
    master: Master = "local[*]",
    jdbc_jar: Jar = None,
    partitions: Partitions = 4,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Archive what is new since the last run, then read it back and compare.

    An unfinished run does not count: run the command again.
    """
    dsn = resolve_dsn(dsn)
    with _archiving(dsn):
        from ..audit.archive import run_archive

        with progress.working("taking the archive's lock") as stage:
            done = run_archive(
                dsn,
                folder,
                anew=new,
                master=master,
                jdbc_jar=jdbc_jar,
                partitions=partitions,
                on_stage=lambda over: stage(AFTER.get(over, over)),
            )
    if not (done.journal or done.incidents or done.messages):
        output.said(f"nothing is new since run {done.run}", as_json=as_json, **done.to_dict())
        return
    output.said(
        f"run {done.run}: {done.journal:,} rows of the journal, {done.incidents:,} incidents,"
        f" {done.messages:,} dead messages, read back and verified, in {done.seconds:.1f} s",
        as_json=as_json,
        **done.to_dict(),
    )


@app.command("list")
def list_(wide: Wide = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """List the finished runs."""
    with connected(dsn, role) as connection:
        rows = [asdict(found) for found in connection.archives.runs()]
    tables.show(rows, RUN_COLUMNS, as_json=as_json, empty="no archive", wide=wide)


@app.command()
def verify(
    folder: Dir,
    master: Master = "local[*]",
    jdbc_jar: Jar = None,
    partitions: Partitions = 4,
    wide: Wide = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Verify the counts and sums of every finished run.

    Exit code 1 if a run is damaged: retention then drops nothing. 3 if nothing could be verified.
    """
    with no_verdict():
        dsn = resolve_dsn(dsn)
        with _archiving(dsn):
            from ..audit.archive import verify_archive

            with progress.working("looking for the archive's runs") as stage:
                found = verify_archive(
                    dsn, folder, master=master, jdbc_jar=jdbc_jar, partitions=partitions, on_stage=stage
                )
    rows = [asdict(one) | {"damage": "\n".join(one.damage) or None} for one in found]
    tables.show(rows, FINDING_COLUMNS, as_json=as_json, empty="no runs", wide=wide)
    raise typer.Exit(FAILED if any(one.damage for one in found) else OK)


@app.command()
def restore(
    folder: Dir,
    message: Annotated[int, typer.Option("--message", metavar="ID", help="Message id of the dead message.")],
    queue: Annotated[str, typer.Option("--to", metavar="QUEUE", help="Destination queue.")],
    again: Annotated[bool, typer.Option("--again", help="Restore it even if it was restored before.")] = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Send an archived message again, with its body, headers and properties."""
    with connected(dsn, role) as connection, _archiving(None):
        from ..audit.archive import restore_message

        number = restore_message(connection.archives, folder, message, queue, again=again)
    output.said(f"message {message} restored as {number}", as_json=as_json, message_id=number, restored_from=message)


@contextmanager
def _archiving(dsn: str | None) -> Iterator[None]:
    """Report an archive's errors like any other. Asks the database first, because Spark takes seconds to start."""
    from ..engine.errors import HowdahError

    if dsn is not None:
        with connected(dsn, None) as connection:
            connection.archives.identity()
    try:
        from ..audit.errors import AuditError
    except ModuleNotFoundError as error:
        raise HowdahError("the archive needs Spark, which is not installed", how_to_install("audit")) from error
    try:
        yield
    except AuditError as error:
        raise HowdahError(str(error)) from error
