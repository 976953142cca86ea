"""Writes the reference of the SQL API from the headers of the procedures, a page for each group: ``make docs``.

``python -m howdah.procedures.reference FOLDER`` writes the pages into a folder. docs/sql-api.md comes before them: it
is written by hand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from .contents import FILES, source
from .parser import first_paragraph

TITLES = {
    "destinations": "Destinations",
    "aliases": "Aliases and levels of reliability",
    "access": "Access rules",
    "temporary": "Temporary queues",
    "selectors": "Selectors",
    "topics": "Topics and subscriptions",
    "send": "Sending",
    "schedules": "Schedules and delayed messages",
    "receive": "Receiving",
    "results": "Results",
    "consumers": "Consumers",
    "permits": "Limits of concurrency and rates",
    "leases": "Leases",
    "failure": "Failures",
    "log": "The log",
    "listeners": "Listeners",
    "links": "Links",
    "imports": "Imports",
    "transformations": "Transformations",
    "operator": "The operator",
    "engine": "The engine as a whole",
    "services": "Services",
    "inspect": "Looking",
    "kept": "Kept bodies",
    "metrics": "Metrics",
    "search": "Searching",
    "views": "Views",
    "archive": "Archive",
    "journal": "The journal as a stream",
    "audit": "Audits",
    "changes": "The record of changes",
    "runtime": "Locks and workers",
    "objects": "Administered objects",
    "instances": "Instances",
    "cluster": "The cluster of instances",
    "maintenance": "Maintenance",
}
"""The pages, in their order: the folders that hold public functions."""
PAGES = {
    "destinations": ("poison", "limits"),
    "aliases": ("reliability",),
    "access": ("access",),
    "temporary": ("request-reply",),
    "selectors": ("selectors", "consumers"),
    "topics": ("topics", "running-topics"),
    "send": ("producers", "request-reply", "limits"),
    "results": ("results",),
    "receive": ("consumers", "request-reply", "hardened-queues"),
    "consumers": ("consumers",),
    "permits": ("handler-limits",),
    "leases": ("leases", "sessions"),
    "schedules": ("scheduling",),
    "failure": ("handling-failures", "poison"),
    "log": ("logging",),
    "listeners": ("listeners",),
    "links": ("links",),
    "transformations": ("transformations",),
    "operator": ("poison-operator",),
    "engine": ("stopping",),
    "changes": ("instances",),
    "instances": ("instances",),
    "cluster": ("instances",),
    "services": ("services",),
    "inspect": ("request-reply", "limits"),
    "kept": ("kept-bodies",),
    "metrics": ("metrics",),
    "runtime": ("health",),
    "search": ("search",),
    "archive": ("archive",),
    "journal": ("streaming",),
    "audit": ("audit-schedule",),
    "objects": ("objects",),
}
"""Where a group's functions are explained."""

_BLOCK = re.compile(
    r"(?P<header>(?:^--[^\n]*\n)+)\s*create or replace (?P<kind>function|view) howdah\.(?P<name>\w+)", re.MULTILINE
)
_SIGNATURE = re.compile(
    r"create or replace function howdah\.(\w+)\s*(\(.*?\))\s*\breturns\b(.*?)\nlanguage", re.DOTALL | re.IGNORECASE
)


def signatures(text: str, name: str) -> list[str]:
    """The declarations of a function's overloads."""
    found = []
    for match in _SIGNATURE.finditer(text):
        if match[1] == name:
            found.append(f"howdah.{name}{match[2]} returns {match[3].strip()}")
    return found


_FACT = re.compile(r"(Returns|Raises|Role) +(.*)")
_NAMES = re.compile(
    r"""(?<![\w`./"'-])(?:
        docs/(?P<page>[\w/-]+)\.md
      | howdah\.\w+(?:\.\w+)?(?:\((?:[^()]|\([^()]*\))*\))?  # a call, or a column of a table
      | \{[^{}]*\}                                           # JSON
      | [A-Z]+\.[*>](?=[\s,.;])|[*>](?=\ (?:stands|at\ ))      # a wildcard, or a part of one
      | \w+\ =>\ \w+                                          # a named argument
      | (?:\w+\.)*\w+(?:_[a-z0-9]+)+(?:\.\w+)?(?:\[i\])?      # a name that has an underscore
      | (?:[a-z]\w*\.){1,3}[a-z]\w*_\w+                       # an option of the engine
      | _?[A-Z]+(?:[._][A-Z]\w*)+                             # a system queue, an event
    )(?![\w`"'/-])""",
    re.VERBOSE,
)
_LEADING = re.compile(r"(?:^|(?<=[.;] )|(?<=[.;]\n))([a-z]+)(?=: )")
_FIRST = re.compile(r"(?:^|(?<=[.;:] )|(?<=[.;:]\n))([a-z]\w*)(?=[ ,])")
_COLUMNS = re.compile(r"[(,]\s*(?:variadic )?(\w+) ")
_ERROR = re.compile(r"; (?=HD\d{3}|\d{5})")
_CODES = re.compile(r"((?:HD\d{3}|\d{5})(?:, (?:HD\d{3}|\d{5}))*):? *(.*)")


def marked(text: str, names: frozenset[str] = frozenset()) -> str:
    """A text with the names in it as code, and links in place of the names of pages.

    Names that could be any word are marked where a sentence begins with them.
    """

    def mark(match: re.Match[str]) -> str:
        if match["page"]:
            words = match["page"].rpartition("/")[2].replace("-", " ")
            return f"[{words}](../{match['page']}.md)"
        return f"`{match[0]}`"

    text = _LEADING.sub(r"`\1`", _NAMES.sub(mark, text))
    return _FIRST.sub(lambda match: f"`{match[0]}`" if match[0] in names else match[0], text)


def errors(raises: str) -> str:
    """The errors of a header's line, as a table."""
    rows = ["| SQLSTATE | when |", "| --- | --- |"]
    for part in _ERROR.split(raises.rstrip(".")):
        found = _CODES.match(part)
        codes = ", ".join(f"`{code}`" for code in found[1].split(", ")) if found else ""
        when = marked(found[2] if found else part).replace("|", "\\|")
        rows.append(f"| {codes} | {when} |")
    return "\n".join(rows)


def parts(header: str) -> tuple[dict[str, str], list[str]]:
    """What stands below a header's summary: the facts by their names, and the paragraphs of remarks."""
    lines = [line.removeprefix("--").removeprefix(" ").rstrip() for line in header.strip().split("\n")]
    facts: dict[str, str] = {}
    remarks: list[str] = []
    last = ""
    for line in lines[lines.index("") + 1 :] if "" in lines else []:
        fact = _FACT.match(line)
        if fact:
            last = fact[1]
            facts[last] = fact[2]
        elif line.startswith("         ") and last:
            facts[last] += f" {line.strip()}"
        elif line:
            last = ""
            remarks.append(line)
        else:
            last = ""
            remarks.append("")
    return facts, "\n".join(remarks).strip().split("\n\n")


def entry(header: str, signature: str = "") -> Iterator[str]:
    """The paragraphs of a function or view: the summary, the remarks, the facts."""
    names = frozenset(_COLUMNS.findall(signature))
    summary = first_paragraph(header).split(": ", 1)[1]
    facts, remarks = parts(header)
    yield marked(summary[0].upper() + summary[1:])
    if "Returns" in facts:
        yield f"**Returns** {marked(facts['Returns'], names)}"
    yield from (marked(remark, names) for remark in remarks if remark)
    if "Role" in facts:
        yield "**Roles**: " + ", ".join(f"`{role}`" for role in facts["Role"].split())
    if "Raises" in facts:
        yield errors(facts["Raises"])


def page(group: str) -> str:
    """The page of a group."""
    paragraphs = [f"# {TITLES[group]}", "This page is made from the headers of the functions."]
    if group in PAGES:
        links = ", ".join(f"[{page.replace('-', ' ')}](../{page}.md)" for page in PAGES[group])
        paragraphs.append(f"Explained with examples: {links}.")
    for name in (name for name in FILES if name.split("/")[0] == group):
        text = source(name)
        for match in _BLOCK.finditer(text):
            if match["name"].startswith("_"):
                continue
            code = "\n".join(signatures(text, match["name"]))
            if match["kind"] == "view":
                views = first_paragraph(match["header"]).split(":", 1)[0]
                paragraphs.append("## " + ", ".join(views.replace("howdah.", "").split(", ")))
            else:
                paragraphs.append(f"## {match['name']}\n\n```sql\n{code}\n```")
            paragraphs += entry(match["header"], code)
    return "\n\n".join(paragraphs) + "\n"


def render() -> dict[str, str]:
    """Each group's page."""
    return {group: page(group) for group in TITLES}


def write(folder: Path) -> None:
    """Write the pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for group, text in render().items():
        (folder / f"{group}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
