"""Curves of what went in and out, drawn by the server: they work without a script, and say in words what they show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import pairwise
from typing import Any

from starlette.requests import Request

from ..engine.calls import Rows
from .database import Work
from .showing import NONE, span

SPANS = ("hour", "day", "week")
#: Seconds between two points of each span.
STEPS = {"hour": 60, "day": 900, "week": 7200}
#: The size of a drawing, in its own unit.
WIDTH, HEIGHT = 300, 60
#: Rows of the table that repeats the curves.
MOST_LINES = 24

Value = Callable[[dict[str, Any]], float | None]


def _rate(name: str) -> Value:
    return lambda row: row[name] / max(row["seconds"], 0.001)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:,.2g}"


PARTS: tuple[tuple[str, Value, Callable[[float], str]], ...] = (
    ("In, a second", _rate("enqueued"), _number),
    ("Out, a second", _rate("dequeued"), _number),
    ("Failed, a second", _rate("failed"), _number),
    ("Waiting", lambda row: row["live"], _number),
    ("Oldest", lambda row: row["oldest_age"].total_seconds() if row["oldest_age"] else 0, span),
)
COLUMNS = (("at", "At"), *((title, title) for title, _, _ in PARTS))


def chosen(request: Request) -> str:
    """The span that the URL asks for."""
    given = request.query_params.get("span", "")
    return given if given in SPANS else SPANS[0]


def curves(request: Request, work: Work, queue: str | None = None) -> dict[str, Any]:
    """The curves of a queue, or of all of them: none where the person may not see them."""
    name = chosen(request)
    return drawn(work.part(lambda: work.admin.flow_history(queue, name)), name)


def drawn(rows: Rows, name: str) -> dict[str, Any]:
    """What a template needs to draw these points of one span."""
    enough = len(rows) > 1
    return {
        "span": name,
        "spans": SPANS,
        "since": rows[0]["at"] if enough else None,
        "until": rows[-1]["at"] if enough else None,
        "lines": [_curve(rows, STEPS[name], *part) for part in PARTS] if enough else [],
        "rows": [_line(row) for row in rows[:: -(-len(rows) // MOST_LINES)]] if enough else [],
        "columns": COLUMNS,
    }


def _curve(rows: Rows, step: int, title: str, value: Value, shown: Callable[[float], str]) -> dict[str, Any]:
    values = [value(row) or 0 for row in rows]
    most = max(values)
    said = {"title": title, "last": shown(values[-1]), "most": shown(most), "least": shown(min(values))}
    return said | {"pieces": list(_pieces(rows, step, values, most))}


def _pieces(rows: Rows, step: int, values: list[float], most: float) -> Iterator[str]:
    """The points of each line. A new line begins after a pause of maintenance."""
    start: datetime = rows[0]["at"]
    whole = max((rows[-1]["at"] - start).total_seconds(), 0.001)
    points = [
        f"{(row['at'] - start).total_seconds() / whole * WIDTH:.0f},{HEIGHT - 2 - at / (most or 1) * (HEIGHT - 4):.1f}"
        for row, at in zip(rows, values, strict=True)
    ]
    piece = points[:1]
    for (_, row), point in zip(pairwise(rows), points[1:], strict=True):
        if row["seconds"] > 3 * step:
            yield " ".join(piece)
            piece = []
        piece.append(point)
    yield " ".join(piece)


def _line(row: dict[str, Any]) -> dict[str, Any]:
    values = {title: value(row) for title, value, _ in PARTS}
    return {"at": row["at"]} | {
        title: NONE if values[title] is None else shown(values[title] or 0) for title, _, shown in PARTS
    }
