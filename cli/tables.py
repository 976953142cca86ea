"""Print tables for people. Names and numbers are never wrapped or cut; the short form fits in 80 columns."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from . import output

GAP = "  "
#: A text column narrower than this says nothing: the columns behind it give way.
TEXT_MIN = 16

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Columns:
    """The columns of a table: keys of the rows, and titles."""

    #: Shown always, the most important first.
    short: Mapping[str, str]
    #: Shown with --wide only.
    more: Mapping[str, str] = field(default_factory=dict)
    #: Columns that are cut to the terminal's width: texts of people and programs, never names or numbers.
    cut: frozenset[str] = frozenset()
    #: Columns that are folded at words to the terminal's width: advice that is read as a whole.
    fold: frozenset[str] = frozenset()


def show(rows: Sequence[Row], columns: Columns, *, as_json: bool, empty: str, wide: bool = False) -> None:
    """Print rows as one JSON array with every key, or as a table. Prints ``empty`` if there are none.

    ``wide`` shows every column. With it, or if stdout is no terminal, nothing is cut or folded.
    """
    if as_json:
        output.write(output.to_json(rows))
        return
    if not rows:
        output.write(empty)
        return
    # With --wide, or where no terminal says how wide it is, nothing is cut.
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() and not wide else None
    text, left_out = picture(rows, columns, width, wide=wide)
    if left_out:
        output.complain(f"note: the terminal is too narrow for: {', '.join(left_out)}; --wide shows all")
    output.write(text)


def picture(rows: Sequence[Row], columns: Columns, width: int | None, *, wide: bool = False) -> tuple[str, list[str]]:
    """Return a table, and the titles of the columns that are not in it because it was to fit in ``width``.

    ``width`` None: nothing is cut or folded.
    """
    titles = {**columns.short, **(columns.more if wide else {})}
    form = output.cell if width is None else _short
    cells = {key: [form(row[key]) for row in rows] for key in titles}
    left_out = [] if width is None else _fit(titles, cells, columns, width)
    return "\n".join(_lines(titles, cells, _right(rows, titles), columns, width)), left_out


def _short(value: Any) -> str:
    """Format a value for a terminal: local times, to the minute."""
    if isinstance(value, datetime) and datetime.min.year < value.year < datetime.max.year:
        return value.astimezone().strftime("%Y-%m-%d %H:%M")
    return output.cell(value)


def _right(rows: Sequence[Row], titles: Mapping[str, str]) -> set[str]:
    """Return the columns of numbers, which are aligned to the right."""
    return {
        key
        for key in titles
        if all(isinstance(row[key], int | float | None) and not isinstance(row[key], bool) for row in rows)
    }


def _fit(titles: dict[str, str], cells: dict[str, list[str]], columns: Columns, width: int) -> list[str]:
    """Drop columns from the right until the rest fits, cut columns included. Returns the dropped titles."""
    left_out: list[str] = []
    while len(titles) > 1:
        needed = sum(_least(titles, cells, columns, key) for key in titles)
        if needed + len(GAP) * (len(titles) - 1) <= width:
            break
        key = list(titles)[-1]
        left_out.insert(0, titles.pop(key))
        del cells[key]
    return left_out


def _least(titles: Mapping[str, str], cells: Mapping[str, list[str]], columns: Columns, key: str) -> int:
    """Return the smallest width of a column."""
    whole = _width(titles, cells, key)
    if key in columns.cut:
        return min(whole, TEXT_MIN)
    if key in columns.fold:
        return max((cell_len(word) for text in (titles[key], *cells[key]) for word in text.split()), default=1)
    return whole


def _width(titles: Mapping[str, str], cells: Mapping[str, list[str]], key: str) -> int:
    return max(cell_len(text) for text in (titles[key], *cells[key]))


def _widths(
    titles: Mapping[str, str], cells: Mapping[str, list[str]], columns: Columns, width: int | None
) -> dict[str, int]:
    """Return the width of each column: its longest cell, or its smallest width plus a share of what is left."""
    widths = {key: _width(titles, cells, key) for key in titles}
    if width is None:
        return widths
    least = {key: _least(titles, cells, columns, key) for key in titles}
    free = max(width - len(GAP) * (len(titles) - 1) - sum(least.values()), 0)
    wanting = sorted((key for key in titles if least[key] < widths[key]), key=lambda key: widths[key] - least[key])
    # The column that wants least gets it; the others share the rest.
    for number, key in enumerate(wanting):
        more = min(widths[key] - least[key], free // (len(wanting) - number))
        widths[key] = least[key] + more
        free -= more
    return widths


def _lines(
    titles: Mapping[str, str],
    cells: Mapping[str, list[str]],
    right: set[str],
    columns: Columns,
    width: int | None,
) -> list[str]:
    widths = _widths(titles, cells, columns, width)
    lines = [_line([_pad(title, widths[key], right=key in right) for key, title in titles.items()])]
    lines.append(_line(["─" * widths[key] for key in titles]))
    for number in range(len(next(iter(cells.values())))):
        parts = {}
        for key in titles:
            text = cells[key][number]
            if width is not None and key in columns.fold:
                parts[key] = textwrap.wrap(text, widths[key], break_long_words=False, break_on_hyphens=False) or [""]
            else:
                parts[key] = [_cut(text, widths[key]) if key in columns.cut else text]
        for row in range(max(map(len, parts.values()))):
            there = [(key, found[row] if row < len(found) else "") for key, found in parts.items()]
            lines.append(_line([_pad(text, widths[key], right=key in right) for key, text in there]))
    return lines


def _line(cells: Sequence[str]) -> str:
    return GAP.join(cells).rstrip()


def _pad(text: str, width: int, *, right: bool) -> str:
    space = " " * (width - cell_len(text))
    return space + text if right else text + space


def _cut(text: str, width: int) -> str:
    """Return the text, or its beginning with an ellipsis."""
    if cell_len(text) <= width:
        return text
    kept = ""
    for letter in text:
        if cell_len(kept) + cell_len(letter) > width - 1:
            break
        kept += letter
    return kept.rstrip() + "…"


def cell_len(text: str) -> int:
    """Return how many terminal columns a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len as measured

    return measured(text)
