"""A row on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from .record import OURS, Record
from .rows import Line, Row, lines


def figure(value: float, unit: str) -> str:
    """A value as people read it."""
    if unit == "/s":
        return f"{value:,.0f}/s" if value >= 10 else f"{value:.1f}/s"
    if unit == "ms":
        return f"{value:.2f} ms" if value < 100 else f"{value:,.0f} ms"
    return f"{value:,.0f} B" if unit == "bytes" else f"{value:.2f}"


def verdict(row: Row, line: Line) -> str:
    """Whether the line holds what the row is to reach, where one figure decides."""
    if row.at_least is None or line.other != row.against:
        return ""
    if row.key == "latency" and line.case != "p50":
        return ""
    return "✓" if line.ratio >= row.at_least else "✗"


def show(console: Console, record: Record, row: Row, seconds: float) -> None:
    """Print its table, ratios first."""
    found = lines(record, row)
    if not found:
        return
    reach = f" (to reach: {row.reach})" if row.reach else ""
    title = f"{row.title}{reach}, {seconds:.0f} s"
    table = Table(
        "case", "against", "ratio", "", OURS, "lowest, highest", "the other", title=title, title_justify="left"
    )
    for line in found:
        low, high = (figure(value, line.unit) for value in line.spread)
        table.add_row(
            line.case,
            line.other,
            f"{line.ratio:.2f}" if line.ratio else "",
            verdict(row, line),
            figure(line.ours, line.unit),
            f"{low}, {high}" if line.repetitions > 1 else "",
            figure(line.theirs, line.unit) if line.theirs else "",
        )
    console.print(table)
