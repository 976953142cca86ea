"""The lines of a row's table: ours beside the others, and how far a ratio can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median, quantiles

from .record import OURS, Record, Result
from .row import Row


@dataclass(frozen=True)
class Line:
    """One line of the table: ours, another, and how many times better ours is; 0 for what is not there."""

    case: str
    ours: float
    unit: str
    other: str
    theirs: float
    ratio: float
    spread: tuple[float, float]
    repetitions: int
    #: Microseconds of CPU a message, of the server and of the client; None where they are not known.
    cpu: tuple[float | None, float] | None = None
    others_cpu: tuple[float | None, float] | None = None
    #: Why the ratio says little, if so.
    doubt: str = ""
    #: How many transactions of a connection were measured, if they were few.
    few: str = ""


def lines(record: Record, row: Row) -> list[Line]:
    """A line for each comparison; a case of one side alone has lines without ratio."""
    out = []
    for case, results in record.cases(row.key):
        first, others = results[0], results[1:]
        others.sort(key=lambda result: (result.who != row.against, -result.median))
        spread = (min(first.values), max(first.values))
        rest = (spread, len(first.values), _cpu(first))
        few = f"{first.transactions:,} transactions a connection: {first.few}" if first.few else ""
        if first.who != OURS:
            out += [Line(case, 0, other.unit, other.who, other.median, 0, (0, 0), 0) for other in results]
            continue
        if not others:
            out.append(Line(case, first.median, first.unit, "", 0, 0, *rest, few=few))
        for other in others:
            ratio, doubt = first.advantage(other), doubted(first.advantages(other))
            found = (other.who, other.median, ratio, *rest, _cpu(other), doubt, few)
            out.append(Line(case, first.median, first.unit, *found))
    return out


def _cpu(result: Result) -> tuple[float | None, float] | None:
    if not result.client_cpu:
        return None
    return (median(result.server_cpu) if result.server_cpu else None), median(result.client_cpu)


UNSTEADY = 0.25
"""Distance of the quartiles of a ratio, as a part of its median, from which the ratio is called unsteady."""


def doubted(pairs: list[float]) -> str:
    """Why the median of these ratios says little: once measured, as good as equal, or unsteady. Else nothing."""
    if len(pairs) < 2:
        return "one pair"
    low, middle, high = quantiles(pairs, n=4, method="inclusive")
    if low <= 1 <= high:
        return "within noise"
    return "unsteady" if high - low > UNSTEADY * middle else ""
