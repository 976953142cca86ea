"""How values are shown: nothing that a message holds can change the page around it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

#: Stands for a missing value.
NONE = "\u2013"
#: Characters of a body that a page shows.
MOST_SHOWN = 65_536

_UNUSUAL = re.compile("[^\n\t -~]")


def visible(value: object, most: int = MOST_SHOWN) -> str:
    """Text with control characters and direction marks written out, cut with a word about how much there is."""
    text = str(value)
    rest = len(text) - most
    shown = _UNUSUAL.sub(lambda found: _written(found[0]), text[:most])
    return f"{shown}… (and {rest:,} characters more)" if rest > 0 else shown


def _written(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"):
        return character
    return f"\\u{ord(character):04x}"


def span(value: timedelta | float | None) -> str:
    """A duration in its two greatest units."""
    if value is None:
        return NONE
    seconds = int(value.total_seconds() if isinstance(value, timedelta) else value)
    if seconds < 0:
        return "-" + span(-seconds)
    for size, name, lower, small in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size:
            return f"{seconds // size} {name} {seconds % size // lower} {small}"
    return f"{seconds} s"


def brief(value: timedelta | None) -> str:
    """A duration that may be short: below ten seconds with its fraction."""
    seconds = None if value is None else value.total_seconds()
    if seconds is None or seconds >= 10:
        return span(value)
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


#: Columns whose numbers are names: no commas between their digits.
NAMES = ("id", "message", "pid", "consumer", "lease", "transaction", "value", "default")


def plain(value: Any, column: str = "") -> str:
    """A cell's value as text. Times are the template's work."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if counts(column) else str(value)
    if isinstance(value, timedelta):
        return span(value)
    if isinstance(value, Mapping | list):
        return visible(json.dumps(value, ensure_ascii=False, default=str), 2000)
    return visible(value, 2000)


def counts(column: str) -> bool:
    """Whether numbers of a column are amounts, not names."""
    return column.rpartition("_")[2] not in NAMES


#: Columns of our own texts, whose points in time are shown as such. Texts of messages and errors stay unchanged.
TIMED = ("detail", "advice", "before", "after", "value", "default", "matching")
WRITTEN = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d(?::?\d\d)?)")


def moments(text: str, column: str = "") -> list[str | datetime]:
    """The text in pieces: points in time with their zone, and the text between them."""
    pieces: list[str | datetime] = []
    begin = 0
    for found in WRITTEN.finditer(text) if column in TIMED else ():
        with suppress(ValueError):
            at = datetime.fromisoformat(found[0])
            pieces += [text[begin : found.start()], at]
            begin = found.end()
    return [*pieces, text[begin:]]


def is_moment(value: object) -> bool:
    """Whether a value is a point in time."""
    return isinstance(value, datetime)
