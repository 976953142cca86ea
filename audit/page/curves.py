"""Curves over time, one for each queue, from the rows of a report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from ...plots import Curve, draw
from ..reports.shown import Shown
from .parts import Drawing, keys_of


def per_second(name: str, shown: Shown) -> Callable[[dict[str, Any]], float]:
    """A count by the seconds of its bucket that belong to the record; of its two ends a tenth of a bucket at least."""

    def rated(row: dict[str, Any]) -> float:
        begins, ends = row["bucket_at"], row["bucket_at"] + timedelta(seconds=shown.seconds)
        inside = (min(ends, shown.taken_at) - max(begins, shown.first)).total_seconds()
        return float(row[name] / max(inside, shown.seconds / 10))

    return rated


def value(name: str, times: float = 1, least: float = 0.0) -> Callable[[dict[str, Any]], float]:
    """The value to draw for a row: a column, multiplied. It is 0 if unknown, and never below ``least``."""
    return lambda row: max((row[name] or 0.0) * times, least)


def over_time(
    shown: Shown,
    rows: Sequence[dict[str, Any]],
    height: Callable[[dict[str, Any]], float],
    title: str,
    unit: str,
    *,
    at: str = "bucket_at",
    gaps: float | None = None,
    logarithmic: str = "",
) -> Drawing:
    """A curve for each queue. gaps: what is drawn in buckets without a row; None: nothing."""
    curves: dict[tuple[int, str], dict[datetime, float]] = defaultdict(dict)
    for row in rows:
        curves[row["destination_id"] or 1 << 31, row["queue"]][row[at]] = height(row)
    times = sorted({row[at] for row in rows})
    if gaps is not None and times:
        step = timedelta(seconds=shown.seconds)
        times = [times[0] + step * place for place in range(round((times[-1] - times[0]) / step) + 1)]
    order = sorted(
        curves,
        key=lambda key: (
            key[0] not in shown.busiest,
            list(shown.busiest).index(key[0]) if key[0] in shown.busiest else key[0],
        ),
    )
    drawn = [Curve("", times, [curves[key].get(time, gaps) for time in times]) for key in order]
    marker = "o" if len(times) < 3 or (gaps is None and len(times) < 40) else ""
    svg = draw(drawn, x="time (UTC)", y=unit, themed=True, marker=marker, logarithmic=logarithmic)
    return Drawing(svg, title, keys_of(name for _, name in order))
