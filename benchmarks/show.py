"""A row on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from .lines import Line, lines
from .record import OURS, Record
from .row import ALONE, Row


def figure(value: float, unit: str) -> str:
    """A value as people read it."""
    if unit == "/s":
        return f"{value:,.0f}/s" if value >= 10 else f"{value:.1f}/s"
    if unit == "ms":
        return f"{value:.2f} ms" if value < 100 else f"{value:,.0f} ms"
    return f"{value:,.0f} B" if unit == "bytes" else f"{value:.2f}"


def verdict(row: Row, line: Line) -> str:
    """Whether ours is as many times better as the row asks for, where it does."""
    return _mark([goal.met(line.case, line.other, line.ratio) for goal in row.goals]) if line.ratio else ""


def reached(row: Row, line: Line) -> str:
    """Whether our own figure is what the row asks for, where it does."""
    if not line.ours:
        return ""
    return _mark([goal.met(line.case, ALONE, line.ours, line.unit in ("/s", "ratio")) for goal in row.goals])


def _mark(answers: list[bool | None]) -> str:
    said = [answer for answer in answers if answer is not None]
    return ("✓" if all(said) else "✗") if said else ""


def cpu(found: tuple[float | None, float] | None) -> str:
    """Microseconds of CPU a message, of the server and of the client, as people read them."""
    if found is None:
        return ""
    server, client = (None if value is None else f"{value:,.1f}" if value < 10 else f"{value:,.0f}" for value in found)
    return f"{server or ''} + {client}"


NO_SERVER = "The server is not on this machine, or cannot be looked into: its CPU is not known."


def remarks(found: list[Line]) -> list[str]:
    """What is to be said below a row's table: cases with few transactions, and a server whose CPU is not known."""
    said = dict.fromkeys(f"{line.case}: {line.few}" for line in found if line.few)
    if any(line.cpu is not None and line.cpu[0] is None for line in found):
        said[NO_SERVER] = None
    return list(said)


def show(console: Console, record: Record, row: Row, seconds: float) -> None:
    """Print its table, ratios first."""
    found = lines(record, row)
    if not found:
        return
    reach = f" (to reach: {row.reach})" if row.reach else ""
    title = f"{row.title}{reach}, {seconds:.0f} s"
    heads = ("case", "against", "ratio", "", OURS, "lowest, highest", "CPU us", "the other", "CPU us")
    table = Table(*heads, title=title, title_justify="left")
    for line in found:
        low, high = (figure(value, line.unit) for value in line.spread)
        table.add_row(
            line.case,
            line.other,
            f"{line.ratio:.2f}" if line.ratio else "",
            " ".join(filter(None, (verdict(row, line), line.doubt))),
            f"{figure(line.ours, line.unit)} {reached(row, line)}".strip() if line.ours else "",
            f"{low}, {high}" if line.repetitions > 1 else "",
            cpu(line.cpu),
            figure(line.theirs, line.unit) if line.theirs else "",
            cpu(line.others_cpu),
        )
    console.print(table)
    for remark in remarks(found):
        console.print(f"  {remark}", highlight=False, markup=False)
