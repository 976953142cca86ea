"""Texts with {fields}: like str.format, but a field is a plain name and is looked up only in the event."""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Mapping
from typing import Any


class Template:
    """A text with {fields}. A field that the event lacks is left empty."""

    def __init__(self, text: str) -> None:
        """Raise ValueError for anything but plain names between braces."""
        self._parts = []
        for literal, name, format_spec, conversion in string.Formatter().parse(text):
            if name is not None and (not name.isidentifier() or format_spec or conversion):
                raise ValueError(f"{{{name}}} is not a plain field")
            self._parts.append((literal, name))

    def fill(self, event: Mapping[str, Any], escape: Callable[[str], str] = str) -> str:
        """Return the text with the event's values, each passed through ``escape``."""
        return "".join(
            literal + ("" if name is None else escape(as_text(event.get(name)))) for literal, name in self._parts
        )


def as_text(value: Any) -> str:
    """Return an event's value for a text: strings unchanged, nothing for null, everything else as JSON."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode("utf-8")


def inside_json(text: str) -> str:
    """Escape a text for a JSON string."""
    return json.dumps(text)[1:-1]


def on_one_line(text: str, most: int = 200) -> str:
    """Make a text fit for a header: no line breaks or control characters, and not too long."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
