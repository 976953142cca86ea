"""Show what steers a terminal as an escape: control characters, line ends of Unicode, marks of direction."""

from __future__ import annotations

import re

# C0 without tab and line feed, DEL, C1; zero-width marks and joiners; line separators; bidirectional controls; BOM.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def printable(text: str) -> str:
    """Text without characters that would steer a terminal; tabs and line feeds stay."""
    return _STEERING.sub(_escape, text)


def json_printable(text: str) -> str:
    """JSON text, on one line, that says the same without such characters: they stand only in its strings."""
    return _STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", re.sub("[\r\n]", " ", text))


def _escape(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
