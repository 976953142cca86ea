"""Reads the headers that stand above functions and views."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

_HEADER = re.compile(
    r"(?P<header>(?:^--[^\n]*\n)+)\s*"
    r"(?P<ddl>create or replace (?P<kind>function|view) (?:howdah|pgmq_public|pgmq)\.(?P<name>\w+))",
    re.MULTILINE,
)
_ROLE = re.compile(r"^-- Role +(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Header:
    """What stands above a function or view: its name, its first paragraph and who may use it.

    ``title`` is the first paragraph: the name, the arguments and, after a colon, the summary.
    """

    kind: str
    name: str
    title: str
    summary: str
    roles: tuple[str, ...]
    text: str


def first_paragraph(header: str) -> str:
    """The first paragraph of a header, as one line."""
    lines = itertools.takewhile(lambda line: line != "--", header.splitlines())
    return " ".join(line.removeprefix("--").strip() for line in lines)


def headers(text: str) -> list[Header]:
    """The headers of a file, one for each function or view that has one of its own."""
    found = []
    for match in _HEADER.finditer(text):
        header = match["header"]
        first = first_paragraph(header)
        summary = first.split(": ", 1)[1] if ": " in first else first
        role = _ROLE.search(header)
        roles = tuple(role[1].split()) if role else ()
        found.append(Header(match["kind"], match["name"], first, summary, roles, header))
    return found
