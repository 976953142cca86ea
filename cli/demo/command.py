"""``howdah demo``: run all of Howdah on real input and check the result against that input.

Exit codes: 0 all holds, 1 a mismatch, 4 everything holds but the audit could not run (no Java runtime or driver).
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...text.extras import how_to_install
from ..common import Dsn, resolve_dsn

if TYPE_CHECKING:
    from rich.console import Console

EXIT_MISMATCH = 1
EXIT_NO_AUDIT = 4
VERDICTS = {
    0: "All holds.",
    EXIT_MISMATCH: "Not all holds.",
    EXIT_NO_AUDIT: "All holds so far, but nothing was audited.",
}


def demo(
    dsn: Dsn = None,
    processes: Annotated[int, typer.Option(min=1, max=16, help="Number of worker processes.")] = 2,
    sessions: Annotated[int, typer.Option(min=1, max=32, help="Number of sessions in each process.")] = 2,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Send only this many flights, the first of the file.")
    ] = None,
    audit: Annotated[bool, typer.Option(help="Audit with Spark afterwards.")] = True,
    jdbc_jar: Annotated[
        Path | None, typer.Option(envvar="HOWDAH_JDBC_JAR", help="PostgreSQL JDBC driver for Spark.")
    ] = None,
) -> None:
    """Send 336,776 flights through a queue, kill a worker on the way, and prove that every one is accounted for."""
    from rich.console import Console

    from ...engine.embedded import EmbeddedServer
    from .stage import DATABASE

    console = Console()
    started = time.monotonic()
    server: EmbeddedServer | None = None
    look = f"database {DATABASE} on your server"
    if dsn is None and not os.environ.get("HOWDAH_DSN"):
        embedded = EmbeddedServer()
        server = embedded if embedded.status() is None else None
        info = embedded.start()
        dsn = info.dsn
        look = f"howdah server {'psql' if server is None else 'start; howdah server psql'} {DATABASE}"
        console.print(f"[bold]PostgreSQL {info.version}[/], embedded, on port {info.port}, data in {info.data}")
    try:
        code = course(console, resolve_dsn(dsn), processes, sessions, limit, audit, jdbc_jar)
        console.print(f"[bold]{VERDICTS[code]}[/] {time.monotonic() - started:.0f} s in all. Look around: {look}")
        raise typer.Exit(code)
    finally:
        if server is not None:
            server.stop()


def course(
    console: Console,
    dsn: str,
    processes: int,
    sessions: int,
    limit: int | None,
    audit: bool,
    jdbc_jar: Path | None,
) -> int:
    """Run the demo and return the exit code."""
    from ...workers import logs
    from . import report, run, stage
    from .flights import TOPIC

    demo_dsn = stage.prepare(dsn)
    handle, log = tempfile.mkstemp(prefix="howdah-demo-", suffix=".log")
    os.close(handle)
    logs.configure(as_json=False, level="WARNING", path=Path(log))
    console.print(
        f"Each flight of 2013 out of New York is a message to queue [bold]flights[/]; {processes} worker processes of"
        f" {sessions} sessions add its delays in the transaction that receives it, and publish late ones to topic"
        f" [bold]{TOPIC}[/], which two subscriptions read. Workers' log: {log}"
    )
    done = run.handle_all(demo_dsn, console, processes=processes, sessions=sessions, limit=limit, log=Path(log))
    statements = report.checks(done)
    report.show(console, done, statements)
    code = 0 if all(check.holds for check in statements) else EXIT_MISMATCH
    rate = done.expected.flights / done.timings.handle
    console.print(
        f"  {done.timings.handle:.0f} s from the first send to the last commit: {rate:,.0f} flights a second,"
        f" with {sum(done.outcome.incidents.values()):,} failed deliveries among them."
    )
    audited = prove(console, demo_dsn, jdbc_jar) if audit else 0
    return code or audited


def prove(console: Console, dsn: str, jdbc_jar: Path | None) -> int:
    """Audit with Spark, print the report and return the exit code."""
    try:
        from ... import audit as audits
    except ImportError as error:
        from rich.markup import escape

        console.print(f"[yellow]No audit: {error}. {escape(how_to_install('audit'))}[/]")
        return EXIT_NO_AUDIT
    output = Path(tempfile.mkdtemp(prefix="howdah-audit-"))
    with console.status("Spark reads the tables over JDBC, all in one snapshot …"):
        try:
            result = audits.run_audit(dsn, output=output, jdbc_jar=jdbc_jar)
        except audits.AuditError as error:
            console.print(f"[yellow]No audit: {error}[/]")
            return EXIT_NO_AUDIT
    audits.print_report(result, console)
    console.print(f"  Parquet in {output}")
    return 0 if result.ok else EXIT_MISMATCH
