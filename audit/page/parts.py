"""What a page is put together from: sections of drawings and tables, and figures as people read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ...plots import look
from ...text.controls import printable

ROWS_MAX = 25
"""The most rows of a table. One row sums up the rest."""
NOTHING = "\N{EM DASH}"
"""A figure that is not known."""
TEXT_MAX = 300
"""Characters shown of a text that somebody else wrote."""


@dataclass(frozen=True)
class Cell:
    """One field of a table. kind: a class of the page's style, such as t for text, n for figures, bad, good, warn."""

    text: str
    kind: str = ""


@dataclass(frozen=True)
class Table:
    """A table with what its columns mean."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""

    @property
    def titles(self) -> list[Cell]:
        """The heads. Those of figures are on the side of the figures."""
        kinds = [cell.kind.split(" ")[0] for cell in self.rows[0]] if self.rows else []
        return [Cell(head, "n" if kinds[place : place + 1] == ["n"] else "") for place, head in enumerate(self.heads)]


@dataclass(frozen=True)
class Key:
    """A curve's name, and how it looks."""

    name: str
    colour: str
    dashes: str


@dataclass(frozen=True)
class Drawing:
    """An SVG of ours, what it shows in words, and the key of each curve."""

    svg: str
    title: str
    keys: Sequence[Key] = ()


@dataclass(frozen=True)
class Section:
    """A part of the page under a heading. empty: what is said where there is nothing to show."""

    title: str
    lead: str
    drawings: Sequence[Drawing] = ()
    tables: Sequence[Table] = ()
    empty: str = ""
    anchor: str = field(default="")


def keys_of(names: Iterable[str]) -> list[Key]:
    """The legend of curves drawn in this order."""
    found = []
    for place, name in enumerate(names):
        colour, dashes = look(place)
        found.append(Key(clean(name), colour, " ".join(str(part) for part in dashes)))
    return found


def clean(text: object, limit: int = TEXT_MAX) -> str:
    """Return a foreign text on one line, without control characters and not too long. The page escapes it."""
    said = printable(" ".join(str(text).split()))
    return said if len(said) <= limit else said[: limit - 1] + "…"


def text(value: object) -> Cell:
    """A text, which may be somebody else's and one long word."""
    return Cell("" if value is None else clean(value), "t")


def count(value: float | None) -> Cell:
    """A whole number."""
    return Cell(NOTHING if value is None else f"{round(value):,}", "n")


def rate(value: float | None) -> Cell:
    """So many a second."""
    if value is None:
        return Cell(NOTHING, "n")
    return Cell(f"{value:,.0f}/s" if value >= 100 else f"{value:.3g}/s", "n")


def share(value: float | None) -> Cell:
    """A part of a whole."""
    return Cell(NOTHING if value is None else f"{value:.1%}", "n")


def lasting(seconds: float | None) -> Cell:
    """A length of time."""
    return Cell(NOTHING if seconds is None else duration(seconds), "n")


def milliseconds(value: float | None) -> Cell:
    """A length of time given in milliseconds."""
    return lasting(None if value is None else value / 1000)


def duration(seconds: float) -> str:
    """A length of time in two units at most."""
    if seconds < 0.001:
        return f"{seconds * 1_000_000:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    if seconds < 60:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    for unit, name, part, small in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= unit:
            big, rest = divmod(whole, unit)
            return f"{big:,} {name}" + (f" {rest // part} {small}" if rest // part and big < 100 else "")
    return f"{whole} s"


def moment(value: datetime | None) -> Cell:
    """A point in time, UTC."""
    return Cell("" if value is None else at(value), "when")


def at(value: datetime) -> str:
    """A point in time, UTC, to the second."""
    return value.strftime("%Y-%m-%d %H:%M:%S")


def table(
    caption: str,
    rows: Sequence[Mapping[str, Any]],
    columns: Mapping[str, tuple[str, Callable[[Any], Cell]]],
    *,
    sums: Sequence[str] = (),
    note: str = "",
) -> Table:
    """The first ROWS_MAX rows. One more row has the number of the others, and their sums where columns can be summed.

    columns: by name in the rows, the heading and how a value is shown. The first one says whose row it is.
    """
    body = [[show(row[name]) for name, (_, show) in columns.items()] for row in rows[:ROWS_MAX]]
    rest = rows[ROWS_MAX:]
    if rest:
        last = [Cell(f"{len(rest):,} others", "rest")]
        for name, (_, show) in list(columns.items())[1:]:
            last.append(show(sum(row[name] or 0 for row in rest)) if name in sums else Cell(""))
        body.append(last)
    return Table(caption, [head for head, _ in columns.values()], body, note)


def identifier(value: object) -> Cell:
    """A number or word to look something up by, which is not broken over lines."""
    return Cell("" if value is None else clean(value), "id")
