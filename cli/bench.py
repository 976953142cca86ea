"""howdah bench: measure speed beside bare statements and peers, on its own server or the user's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .common import FAILED

if TYPE_CHECKING:
    from ..benchmarks.record import Record

SLOWER = FAILED


def bench(
    dsn: Annotated[
        str | None,
        typer.Option(metavar="DSN", help="Server to measure. [default: a temporary one]"),
    ] = None,
    pg: Annotated[int | None, typer.Option(help="Major version of the temporary server.")] = None,
    full: Annotated[
        bool, typer.Option("--full/--quick", help="Measure for two to four hours, or for a few minutes.")
    ] = False,
    tiny: Annotated[bool, typer.Option("--tiny", hidden=True)] = False,
    only: Annotated[
        list[str] | None, typer.Option(metavar="ROW", help="Measure only this row; may be repeated.")
    ] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Repetitions. [default: by size]")] = None,
    peers: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Install the peers in this folder and measure them too.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the record to this file.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with plots (howdah\\[bench]).")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="OLD.json", help="Compare with this record; exit code 1 if anything is slower."),
    ] = None,
    again: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Measure the rows of --only again and keep this record's other rows."),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Measure nothing; use this record for --page and --against."),
    ] = None,
) -> None:
    """Measure speed, alternating with the bare statements that PostgreSQL allows.

    On your own server (--dsn), Howdah must be installed.
    The bench creates and removes schema howdah_bench and queues bench_….
    """
    from dataclasses import replace

    from rich.console import Console

    from ..benchmarks.rows import KEYS
    from ..benchmarks.run import run
    from ..benchmarks.size import FULL, QUICK, TINY

    if unknown := set(only or []) - set(KEYS):
        raise typer.BadParameter(f"no row {', '.join(unknown)}; there are {', '.join(KEYS)}", param_hint="--only")
    if again is not None and not only:
        raise typer.BadParameter("name the rows with --only", param_hint="--again")
    console = Console()

    def keep(done: Record) -> None:
        if json_file is not None:
            done.write(json_file)
        if page is not None:
            from ..benchmarks.report import write

            write(done, page)

    if record is not None:
        done = _read(record, "--record")
        keep(done)
    else:
        chosen = TINY if tiny else FULL if full else QUICK
        chosen = chosen if rounds is None else replace(chosen, rounds=rounds)
        into = None if again is None else _read(again, "--again")
        done = run(console, chosen, dsn=dsn, version=pg, only=only, peers=peers, keep=keep, into=into)
    if against is not None:
        worse = _compare(_read(against, "--against"), done)
        raise typer.Exit(worse or (FAILED if set(done.absent) & set(KEYS) else 0))
    if set(done.absent) & set(KEYS):
        raise typer.Exit(FAILED)  # a row could not be measured


def _read(path: Path, option: str) -> Record:
    from ..benchmarks.record import Record

    try:
        return Record.read(path)
    except (OSError, ValueError, TypeError) as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


def _compare(old: Record, new: Record) -> int:
    from rich.console import Console
    from rich.table import Table

    from ..benchmarks.compare import compare
    from ..benchmarks.show import figure

    if old.about.get("size") != new.about.get("size"):
        raise typer.BadParameter(
            f"its run was {old.about.get('size')}, the other one {new.about.get('size')}", param_hint="--against"
        )
    changes = compare(old, new)
    if not changes:
        raise typer.BadParameter("the two records have no row in common", param_hint="--against")
    table = Table(
        "row", "case", "before", "now", "factor", "", title=f"Against {old.about['date']}", title_justify="left"
    )
    for change in changes:
        said = "slower" if change.slower else ""
        before, now = figure(change.old, change.unit), figure(change.new, change.unit)
        table.add_row(change.row, change.case, before, now, f"{change.factor:.2f}", said)
    Console().print(table)
    return SLOWER if any(change.slower for change in changes) else 0
