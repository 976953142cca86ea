"""Figures of queues on a page: counted now where there are few queues, else as maintenance last counted them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ...engine.calls import Rows
from ..database import Work
from ..showing import span
from .page import Columns

#: Up to this many queues, a page counts them.
FEW = 100
#: Figures that are older mean that no maintenance runs.
LATE = timedelta(minutes=2)
FIGURES: Columns = (
    ("live", "Waiting"),
    ("in_hand", "In hand"),
    ("parked", "Parked"),
    ("dead", "Dead"),
    ("enqueued", "In"),
    ("dequeued", "Out"),
    ("failed", "Failed"),
    ("consumers", "Consumers"),
    ("oldest_age", "Oldest"),
)
TOTALS = ("live", "in_hand", "parked", "dead", "enqueued", "dequeued", "failed")
#: Figures that are not counted anew: maintenance has added them up.
KEPT = "failed"


@dataclass(frozen=True)
class Figures:
    """What a page shows, and since when it has held."""

    rows: Rows
    totals: dict[str, int | None]
    oldest: timedelta | None
    #: How many queues the person may browse.
    number: int
    #: When the figures were counted. None: never.
    counted_at: datetime | None
    age: timedelta | None

    @property
    def said(self) -> str:
        """How old they are, and what to do if they are too old."""
        if self.age is None:
            return "Nobody has counted messages yet: start a worker, or run howdah.maintain_backlog()."
        if self.age > LATE:
            return f"Figures are {span(self.age)} old: start a worker, which does the maintenance."
        return f"Figures are {span(self.age)} old." if self.age else "Figures are of this page's loading."


def busiest(work: Work, most: int) -> Figures:
    """All queues together, and those with most to do."""
    return _figures(work, (), most)


def of(work: Work, names: Sequence[str]) -> Figures:
    """These queues, in this order."""
    found = _figures(work, names, 0)
    by_name = {row["queue_name"]: row for row in found.rows}
    rows = [by_name[name] for name in names if name in by_name]
    return Figures(rows, found.totals, found.oldest, found.number, found.counted_at, found.age)


def _figures(work: Work, names: Sequence[str], most: int) -> Figures:
    first, *rows = work.admin.queue_figures(names, most)
    number: int = first["queue_count"]
    if number > FEW:
        return _kept(first, rows)
    counted = work.admin.queue_stats()
    kept = {row["queue_name"]: row[KEPT] for row in work.admin.queue_figures((), FEW)}
    for row in counted:
        row[KEPT] = kept.get(row["queue_name"], 0)
    totals = {name: sum(row[name] or 0 for row in counted) for name in TOTALS}
    totals["live"], oldest = _waiting(counted, work.admin.exception_figures())
    if not names:
        counted.sort(key=lambda row: (-(row["live"] or 0) - (row["dead"] or 0), row["queue_name"]))
    shown = [row for row in counted if row["queue_name"] in names] if names else counted[:most]
    return Figures(shown, totals, oldest, number, first["asked_at"], timedelta(0))


def _waiting(counted: Rows, exceptions: Rows) -> tuple[int, timedelta | None]:
    """How many messages wait, and for how long. Dead messages in exception destinations are live but do not wait."""
    others = {row["queue_name"]: row for row in exceptions}
    number, ages = 0, []
    for row in counted:
        other = others.get(row["queue_name"])
        number += row["live"] if other is None else other["waiting"]
        ages.append((row if other is None else other)["oldest_age"])
    return number, max((age for age in ages if age is not None), default=None)


def _kept(first: dict[str, Any], rows: Rows) -> Figures:
    totals = {name: first[name] for name in TOTALS}
    counted, asked = first["counted_at"], first["asked_at"]
    age = None if counted is None else max(asked - counted, timedelta(0))
    return Figures(rows, totals, first["oldest_age"], first["queue_count"], counted, age)
