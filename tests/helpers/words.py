"""The prose of a page in Markdown, of a header or of a comment, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from howdah.procedures.parser import Header
from howdah.procedures.reference import parts

_SPAN = re.compile(r"(`+)(?:(?!`).)+?\1", re.DOTALL)
_ENDED = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"')]))\s+(?=[^a-z])")
_STOP = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"')]))\s+")
_CODES = re.compile(r"(?:[0-9A-Z]{2}\d{3}(?:, (?=[0-9A-Z]{2}\d{3})|:? |$))+")


def visible(text: str) -> str:
    """A page as readers see it."""
    return re.sub(r"^<!--.*?-->", "", text, flags=re.MULTILINE | re.DOTALL)


def _read(text: str) -> str:
    """A page without code, whether readers see it or not."""
    return re.sub(r"^```.*?^```", "", visible(text), flags=re.MULTILINE | re.DOTALL)


def prose(text: str) -> Iterator[str]:
    """Paragraphs, items of lists and headings of a page: no code, no tables, no targets of links."""
    text = _read(text)
    text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^( *)(?:[-*]|\d+\.) |^#+ .*$", r"\n\g<0>\n", text, flags=re.MULTILINE)
    for part in re.split(r"\n\s*\n", text):
        plain = re.sub(r"^ *(?:#+|[-*]|\d+\.) ", "", _plain(part), flags=re.MULTILINE)
        if words(plain):
            yield " ".join(plain.split())


def cells(text: str) -> Iterator[str]:
    """The sentences in the tables of a page. What stands between semicolons or colons counts as one, too."""
    for row in re.findall(r"^\|(.*)\|$", _read(text), re.MULTILINE):
        for cell in row.split(" | "):
            for sentence in stops(_plain(cell)):
                yield from re.split(r"[;:] ", sentence)


def _plain(text: str) -> str:
    """The text without emphasis and targets of links. A span of code, or a list of such, is the word CODE."""
    text = re.sub(r"CODE(?:,?\s+(?:and\s+|or\s+)?CODE)+", "CODE", _SPAN.sub("CODE", text))
    return re.sub(r"\*\*", "", re.sub(r"\[([^][]*)\]\([^)]*\)", r"\1", text))


def sentences(text: str) -> Iterator[str]:
    """The sentences of a page. A span of code, or a list of such, stands in them as one word."""
    for part in prose(text):
        yield from _ENDED.split(part)


def stops(text: str) -> Iterator[str]:
    """The sentences of a header or a comment. Many begin with a name, and so with a small letter."""
    yield from _STOP.split(" ".join(text.split()))


def said(header: Header) -> Iterator[str]:
    """The sentences above a function or view. What stands between semicolons of its errors counts as one, too."""
    facts, remarks = parts(header.text)
    for text in (header.summary, facts.pop("Returns", ""), *remarks):
        yield from stops(text)
    for error in facts.pop("Raises", "").split("; "):
        yield from stops(_CODES.sub("", error, count=1))


def words(sentence: str) -> int:
    """How many words a sentence has."""
    return sum(any(letter.isalnum() for letter in word) for word in sentence.split())


def long_lines(text: str, most: int) -> list[str]:
    """The lines of prose that are wider than that."""
    text = _read(text)
    return [line for line in text.splitlines() if len(line) > most and not line.startswith("|")]
