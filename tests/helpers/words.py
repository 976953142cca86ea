"""The prose of a page in Markdown, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SPAN = re.compile(r"(`+)(?:(?!`).)+?\1", re.DOTALL)
_ENDED = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"')]))\s+(?=[^a-z])")


def _read(text: str) -> str:
    """A page without code, whether readers see it or not."""
    return re.sub(r"^```.*?^```|^<!--.*?-->", "", text, flags=re.MULTILINE | re.DOTALL)


def prose(text: str) -> Iterator[str]:
    """Paragraphs, items of lists and headings of a page: no code, no tables, no targets of links."""
    text = _read(text)
    text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^( *)(?:[-*]|\d+\.) |^#+ .*$", r"\n\g<0>\n", text, flags=re.MULTILINE)
    for part in re.split(r"\n\s*\n", text):
        plain = _SPAN.sub("CODE", part)
        plain = re.sub(r"CODE(?:,?\s+(?:and\s+|or\s+)?CODE)+", "CODE", plain)
        plain = re.sub(r"\[([^][]*)\]\([^)]*\)", r"\1", plain)
        plain = re.sub(r"\*\*|^ *(?:#+|[-*]|\d+\.) ", "", plain, flags=re.MULTILINE)
        if words(plain):
            yield " ".join(plain.split())


def sentences(text: str) -> Iterator[str]:
    """The sentences of a page. A span of code, or a list of such, stands in them as one word."""
    for part in prose(text):
        yield from _ENDED.split(part)


def words(sentence: str) -> int:
    """How many words a sentence has."""
    return sum(any(letter.isalnum() for letter in word) for word in sentence.split())


def long_lines(text: str, most: int) -> list[str]:
    """The lines of prose that are wider than that."""
    text = _read(text)
    return [line for line in text.splitlines() if len(line) > most and not line.startswith("|")]
