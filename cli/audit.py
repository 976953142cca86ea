"""howdah audit: prove from one snapshot what became of every message."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import output
from .common import FAILED, OK, Dsn, Json, connected, resolve_dsn


def audit(
    keep: Annotated[
        Path | None,
        typer.Option("--output", metavar="DIR", help="A new or empty folder for Parquet. [default: none kept]"),
    ] = None,
    master: Annotated[str, typer.Option("--master", help="Spark's master.")] = "local[*]",
    jdbc_jar: Annotated[
        Path | None, typer.Option("--jdbc-jar", metavar="JAR", help="PostgreSQL's JDBC driver. [default: searched for]")
    ] = None,
    partitions: Annotated[int, typer.Option("--partitions", metavar="N", min=1, help="Connections that read.")] = 4,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Check with Spark that every message is accounted for. Exit code 1 if one is not."""
    dsn = resolve_dsn(dsn)
    # Before Spark and its Java start, which takes seconds: an answer from the database, whatever it is.
    with connected(dsn, None) as connection:
        connection.admin.list_queues()
    try:
        from .. import audit as audits
    except ModuleNotFoundError as error:
        from ..engine.errors import HowdahError

        raise HowdahError("the audit needs Spark, which is not installed", "pip install 'howdah[audit]'") from error
    try:
        result = audits.run_audit(dsn, output=keep, master=master, partitions=partitions, jdbc_jar=jdbc_jar)
    except audits.AuditError as error:
        from ..engine.errors import HowdahError

        raise HowdahError(str(error)) from error
    if as_json:
        output.write(output.to_json(result.to_dict()))
    else:
        audits.print_report(result, output.console())
    raise typer.Exit(OK if result.ok else FAILED)
