"""``howdah demo``: run all of Howdah on real input and check the result against that input.

Exit codes: 0 all holds, 1 a mismatch, 4 everything holds but the audit could not run (no Java runtime or driver).
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...text.extras import how_to_install
from ..common import resolve_dsn

if TYPE_CHECKING:
    from rich.console import Console

    from .spark import Spark

EXIT_MISMATCH = 1
EXIT_NO_AUDIT = 4
VERDICTS = {
    0: "Every statement holds.",
    EXIT_MISMATCH: "Not every statement holds.",
    EXIT_NO_AUDIT: "Every statement holds, but nothing was audited.",
}
INTRODUCTION = """\
[bold]Howdah demo[/]: each flight out of New York in 2013 is a message in a queue. Worker processes take the messages,
and write down how late each flight was. Real work goes wrong, and so does this:
 • a worker process is killed in the middle of its work;
 • some flights are unusable: they were cancelled, or have no time of arrival. Handling them fails.
In the end the demo proves that nothing was lost, nothing was done twice, and no failure was forgotten.
"""


def demo(
    dsn: Annotated[
        # Not from HOWDAH_DSN: the demo drops a database, and the user's own server must not be meant by accident.
        str | None,
        typer.Option(
            "--dsn",
            metavar="DSN",
            help="DSN of a server on which to make the database howdah_demo anew. [default: the embedded server]",
        ),
    ] = None,
    processes: Annotated[int, typer.Option(min=1, max=16, help="Number of worker processes.")] = 2,
    sessions: Annotated[int, typer.Option(min=1, max=32, help="Number of sessions in each process.")] = 2,
    year: Annotated[
        bool, typer.Option("--all", help="Send the 336,776 flights of the year, not the 80,789 of January to March.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Send only this many of them, the first of the file.")
    ] = None,
    audit: Annotated[bool, typer.Option(help="Audit with Spark afterwards.")] = True,
    jdbc_jar: Annotated[
        Path | None, typer.Option(envvar="HOWDAH_JDBC_JAR", help="PostgreSQL JDBC driver for Spark.")
    ] = None,
) -> None:
    """Send 80,789 real flights through a queue, kill a worker, and prove that every one is accounted for."""
    from rich.console import Console

    from .flights import QUARTER, YEAR

    console = Console()
    flights = min(limit or YEAR, YEAR if year else QUARTER)
    started = time.monotonic()
    given = resolve_dsn(dsn) if dsn else None
    console.print(INTRODUCTION, highlight=False)
    _step(console, 1, "Start PostgreSQL, and install Howdah's tables and functions in a new database")

    from ...engine.embedded import EmbeddedServer
    from .stage import DATABASE

    server: EmbeddedServer | None = None
    called = f"{sys.executable} -m howdah" if sys.argv[0].endswith("__main__.py") else sys.argv[0]
    program = "howdah" if shutil.which("howdah") else called
    look = f"{program} console --dsn DSN --database {DATABASE}"
    if given is None:
        embedded = EmbeddedServer()
        server = embedded if embedded.status() is None else None
        info = embedded.start()
        given = info.dsn
        begin = "unset HOWDAH_DSN; " if os.environ.get("HOWDAH_DSN") else ""
        begin += "" if server is None else f"{program} server start; "
        look = f"{begin}{program} console --database {DATABASE}"
        console.print(f"   PostgreSQL {info.version}, embedded, on port {info.port}, data in {info.data}")
    try:
        code = course(console, given, processes, sessions, flights, year, audit, jdbc_jar)
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
    flights: int,
    year: bool,
    audit: bool,
    jdbc_jar: Path | None,
) -> int:
    """Run the demo and return the exit code."""
    from ...workers.log import writer
    from . import report, run, stage
    from .flights import LATE_MINUTES, TOPIC
    from .spark import Spark

    demo_dsn = stage.prepare(dsn)
    handle, log = tempfile.mkstemp(prefix="howdah-demo-", suffix=".log")
    os.close(handle)
    writer.configure(as_json=False, level="WARNING", path=Path(log))
    _step(console, 2, f"Send {flights:,} flights, and handle them in {processes} worker processes")
    console.print(
        "   Taking a message and writing its delay is one transaction: both happen, or neither. A flight that is"
        f" {LATE_MINUTES} minutes late or more also goes to the topic {TOPIC}, which has two subscribers.\n"
        f"   Workers' log: {log}",
        highlight=False,
    )
    with Spark(jdbc_jar) as spark:
        done = run.handle_all(
            demo_dsn,
            console,
            processes=processes,
            sessions=sessions,
            flights=flights,
            year=year,
            log=Path(log),
            nearly_done=spark.start if audit else lambda: None,
        )
        rate = done.expected.flights / done.seconds
        _step(console, 3, "Compare the database with the file")
        console.print(
            f"   It took {done.seconds:.0f} s from the first send to the last commit: {rate:,.0f} flights a second."
        )
        statements = report.checks(done)
        report.show(console, done, statements)
        code = 0 if all(check.holds for check in statements) else EXIT_MISMATCH
        audited = prove(console, demo_dsn, spark) if audit else 0
    if code == 0:
        for headline, sentence in report.proved(done):
            console.print(f"[bold green]{headline}[/] {sentence}", highlight=False)
    return code or audited


def prove(console: Console, dsn: str, spark: Spark) -> int:
    """Audit with Spark, print the report and return the exit code."""
    _step(console, 4, "Audit: Spark reads all tables as of one moment, and follows every message from start to end")
    try:
        from ... import audit as audits
    except ImportError as error:
        from rich.markup import escape

        console.print(f"[yellow]No audit: {error}. {escape(how_to_install('audit'))}[/]")
        return EXIT_NO_AUDIT
    output = Path(tempfile.mkdtemp(prefix="howdah-audit-"))
    with console.status("starting Spark …") as status:

        def say(stage: str) -> None:
            status.update(f"{stage} …")
            if not console.is_terminal:
                console.print(f"   {stage} …", highlight=False)

        try:
            result = audits.run_audit(dsn, output=output, spark=spark.session(), on_stage=say)
        except audits.AuditError as error:
            console.print(f"[yellow]No audit: {error}[/]")
            return EXIT_NO_AUDIT
    audits.print_report(result, console)
    console.print(f"  Parquet in {output}")
    return 0 if result.ok else EXIT_MISMATCH


def _step(console: Console, number: int, text: str) -> None:
    console.print(f"[bold]{number}. {text}[/]", highlight=False)
