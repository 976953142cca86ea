"""Curves over a number, a name or a time."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

COLOURS = ("#2f7fc1", "#d9781f", "#2a9d72", "#c8504b", "#8c6bc4", "#8f6b58", "#d264a8", "#a39a1e", "#7d8590")
"""The colours of curves in their order. Each stands out on white and on black."""

DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1.5, 1.5), (5, 1.5, 1.5, 1.5))
"""The dashes of curves in their order, for people who cannot tell the colours: on, off, on, off. Empty: not broken."""


def look(place: int) -> tuple[str, tuple[float, ...]]:
    """Colour and dashes of the curve at a place."""
    return COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)]


_IDS = re.compile(
    r' id="(?:figure|axes|patch|line2d|text|matplotlib\.axis|xtick|ytick|legend|FillBetween\w*|\w+Collection)_\d+"'
)


@dataclass(frozen=True)
class Curve:
    """One curve: its points, and how wide it is drawn."""

    name: str
    x: Sequence[Any]
    y: Sequence[float | None]
    width: float = 1.4


def draw(
    curves: Sequence[Curve],
    *,
    x: str,
    y: str,
    marker: str = "",
    logarithmic: str = "",
    themed: bool = False,
    size: tuple[float, float] = (7.5, 3.4),
) -> str:
    """The curves as an <svg> element. Needs matplotlib.

    logarithmic: the axes that are so: "x", "y" or "xy".
    themed: without a legend, in colours that suit any page (lines and letters in the text's colour). COLOURS and DASHES
    tell the curves apart.

    Where a y is None, the curve has a gap.
    """
    import matplotlib

    matplotlib.use("svg")
    # The same record gives the same file, and text stays text.
    matplotlib.rcParams.update({"svg.hashsalt": "howdah", "svg.fonttype": "none", "font.size": 9})
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.figure import Figure

    drawn = Figure(figsize=size, layout="constrained")
    axes = drawn.subplots()
    for place, curve in enumerate(curves):
        looks: dict[str, Any] = {"linewidth": curve.width, "marker": marker}
        if themed:
            colour, dashes = look(place)
            looks |= {"color": colour, "markersize": 3}
            if dashes:
                looks["dashes"] = dashes
        else:
            looks["label"] = curve.name
        heights = [float("nan") if value is None else value for value in curve.y]
        axes.plot(list(curve.x), heights, **looks)
    axes.set(xlabel=x, ylabel=y)
    if "x" in logarithmic:
        axes.set_xscale("log")
    if "y" in logarithmic:
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, None)
    if any(isinstance(at, datetime) for curve in curves for at in curve.x[:1]):
        axes.xaxis.set_major_locator(locator := AutoDateLocator(tz=UTC))  # type: ignore[no-untyped-call]
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=UTC))  # type: ignore[no-untyped-call]
    axes.grid(alpha=0.3)
    if not themed:
        axes.legend(frameon=False)
    file = io.StringIO()
    nobody = {"Date": None, "Creator": None, "Format": None, "Type": None} if themed else {"Date": None}
    drawn.savefig(file, format="svg", metadata=nobody, transparent=themed)
    text = file.getvalue()
    text = text[text.index("<svg") :]
    return _in_theme(text) if themed else text


def _in_theme(text: str) -> str:
    """The drawing with the text's colour for black, and without names that another drawing of the page has too."""
    return _IDS.sub("", text).replace("#000000", "currentColor")
