"""howdah audit: prove from one snapshot what became of every message, now or on a schedule."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Unpack

import typer

from ..text.extras import how_to_install
from . import output, progress, times
from .common import BUSY, FAILED, NOT_READY, OK, Dsn, Jar, Json, Master, Partitions, connected, one_line, resolve_dsn
from .link_audit import audit_links
from .verdict import no_verdict

if TYPE_CHECKING:
    from ..audit import AuditResult
    from ..audit.job import AuditOptions

WARNED = 6
"""There are warnings, no errors, and --fail-on is warning."""

Every = Annotated[
    float | None,
    times.length("--every", help="Audit at this interval until SIGTERM: 90s, 30m, 1h, 1d."),
]
Cron = Annotated[
    str | None, typer.Option("--cron", help='Audit by this cron expression until SIGTERM, such as "0 3 * * *".')
]


def audit(
    keep: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="DIR",
            help="New or empty folder for Parquet. Scheduled audits make a subfolder each. [default: keep none]",
        ),
    ] = None,
    master: Master = "local[*]",
    jdbc_jar: Jar = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page", metavar="FILE", help="HTML file for the page. [default: index.html in the folder of --output]"
        ),
    ] = None,
    bucket: Annotated[
        float | None,
        times.length(
            "--bucket", help="Time step of the reports: 60 (seconds), 1h, … [default: by the record's length]"
        ),
    ] = None,
    fail_on: Annotated[
        Literal["error", "warning", "never"],
        typer.Option("--fail-on", help="Lowest severity that fails: exit code 1 for errors, 6 for warnings only."),
    ] = "warning",
    partitions: Partitions = 4,
    archive: Annotated[
        Path | None, typer.Option("--archive", metavar="DIR", help="Archive to read archived records from.")
    ] = None,
    rows: Annotated[
        bool, typer.Option("--rows", help="Prove everything by row. [default: digests where they prove enough]")
    ] = False,
    record: Annotated[
        bool, typer.Option("--record/--no-record", help="Record the result in audit_runs; one audit at a time.")
    ] = True,
    last: Annotated[bool, typer.Option("--last", help="Show the last recorded audit and run none.")] = False,
    links: Annotated[
        list[str] | None,
        typer.Option(
            "--link",
            metavar="NAME=SERVICE",
            help="Audit only this link, with the target that the service of pg_service.conf leads to. Repeatable.",
        ),
    ] = None,
    every: Every = None,
    cron: Cron = None,
    time_zone: Annotated[str, typer.Option(help="Time zone of --cron, such as Europe/Vienna.")] = "UTC",
    holder: Annotated[str | None, typer.Option("--holder", hidden=True)] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Check with Spark that every message is accounted for.

    Exit code 1 if a message is not, 6 for warnings only (see --fail-on), 3 if no audit was possible.
    """
    if bucket is not None and round(bucket) < 1:
        raise typer.BadParameter("it is less than a second", param_hint="--bucket")
    options: AuditOptions = {
        "master": master,
        "partitions": partitions,
        "jdbc_jar": jdbc_jar,
        "page": page,
        "bucket_seconds": None if bucket is None else round(bucket),
        "archive": archive,
        "rows": rows,
    }
    with no_verdict():
        dsn = resolve_dsn(dsn)
        if last:
            _show_last(dsn, as_json)
            return
        # Ask the database first: Spark and its Java take seconds to start.
        with connected(dsn, None) as connection:
            connection.admin.list_queues()
        if links:
            raise typer.Exit(audit_links(dsn, links, as_json=as_json))
        if every is not None or cron is not None:
            if not record:
                raise typer.BadParameter("audits by the clock are recorded", param_hint="--no-record")
            from .audit_schedule import audit_by_the_clock

            words = _words(options, fail_on, as_json)
            audit_by_the_clock(dsn, words, every=every, cron=cron, time_zone=time_zone, keep=keep)
            return
        options["output"] = keep
        result = _audited(dsn, holder, record, fail_on, **options)
        if as_json:
            output.write(output.to_json(result.to_dict()))
        else:
            from ..audit import print_report

            print_report(result, output.console())
        raise typer.Exit(code_of(result, fail_on))


def code_of(result: AuditResult, fail_on: str) -> int:
    """Return the exit code of the gravest finding that ``fail_on`` counts."""
    if fail_on == "never":
        return OK
    if not result.ok:
        return FAILED
    warned = any(rule.count for rule in result.rules if rule.severity == "warning")
    return WARNED if warned and fail_on == "warning" else OK


def _words(options: AuditOptions, fail_on: str, as_json: bool) -> list[str]:
    """Return the words by which each audit of a schedule is called."""
    words = ["--fail-on", fail_on, *(["--json"] if as_json else [])]
    for name, value in options.items():
        option = "--" + name.removesuffix("_seconds").replace("_", "-")
        if value is not None and value is not False:
            words += [option] if value is True else [option, str(value)]
    return words


def _audited(dsn: str, holder: str | None, record: bool, fail_on: str, **options: Unpack[AuditOptions]) -> AuditResult:
    """Return the result of run_audit, or exit if there is none."""
    try:
        from .. import audit as audits
    except ModuleNotFoundError as error:
        from ..engine.errors import HowdahError

        raise HowdahError("the audit needs Spark, which is not installed", how_to_install("audit")) from error
    try:
        with progress.working("beginning the audit") as stage:
            options["on_stage"] = stage
            if not record:
                return audits.run_audit(dsn, **options)
            with _ending_in_order():
                holder = holder or f"{socket.gethostname()}:{os.getpid()}"
                code = partial(code_of, fail_on=fail_on)
                return audits.run_recorded(dsn, holder, code_of=code, **options)
    except audits.AnotherAudit as error:
        output.complain(str(error))
        raise typer.Exit(BUSY) from error
    except audits.AuditError as error:
        print(f"howdah: {one_line(str(error))}", file=sys.stderr)
        raise typer.Exit(NOT_READY) from error


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """End the audit in order on SIGTERM: release the right to audit and record that it was ended."""

    def end(number: int, frame: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _show_last(dsn: str, as_json: bool) -> None:
    with connected(dsn, None) as connection:
        run = connection.audits.last()
    if as_json:
        output.write(output.to_json(run))
        return
    if run is None:
        output.write("no audit is on record")
        return
    verdicts: dict[str, int] = {}
    for queue in run["queues"]:
        verdicts[queue["verdict"]] = verdicts.get(queue["verdict"], 0) + 1
    broken = [f"{rule['name']} ({rule['count']} in {', '.join(rule['queues'])})" for rule in run["rules"]]
    shown = {name: value for name, value in run.items() if name not in ("queues", "rules", "snapshot")}
    shown["queues"] = [f"{count} {verdict}" for verdict, count in sorted(verdicts.items())]
    output.facts({**shown, "rules broken": broken}, as_json=False)
