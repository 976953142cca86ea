"""Write docs/conformance.md and its pages from the catalogue in tests/conformance and the tests' marks: ``make docs``.

The catalogue says of each row what the other system does and what Howdah does. ``@pytest.mark.behaviour("WAS-10")``
says that a test runs the row's check. A row without such a test says why it does not apply (``reason``) or what is
missing (``open``).
"""

from __future__ import annotations

import ast
import os
import textwrap
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
CATALOGUE = ROOT / "tests" / "conformance"
OVERVIEW = ROOT / "docs" / "conformance.md"
PAGES = ROOT / "docs" / "conformance"

#: The pages in their order, each a file of the catalogue.
NAMES = (
    "websphere",
    "reliability",
    "openmq-broker",
    "openmq-store",
    "openmq-destinations",
    "openmq-clients",
    "service-broker",
    "activemq-use",
    "activemq-storage",
    "activemq-delivery",
)

_INTRODUCTION = """\
# Conformance

These pages list the rules of four message systems: WebSphere, Sun ONE Message Queue (Open MQ), Service Broker and
ActiveMQ. Look up the rule that you rely on. Its row says what the other system does, what Howdah does, and which tests
show it on a real PostgreSQL server.

- **Shown**: tests run the row's check. They bear the row's number: search the file for `behaviour("WAS-10")`.
- **Does not apply**: the row says why.
- **Open**: no test shows it yet. The row says what is missing.
"""

Marks = Mapping[str, list[Path]]
"""The test files that show each row."""


@dataclass(frozen=True)
class Row:
    """One rule of another system."""

    id: str
    #: What the other system does.
    does: str
    #: What Howdah does, by its names.
    howdah: str = ""
    #: Why it or a part of it does not apply.
    reason: str = ""
    #: What is missing; such a row has no tests.
    open: str = ""


@dataclass(frozen=True)
class Page:
    """The rows of one file of the catalogue, in groups."""

    name: str
    title: str
    about: str
    groups: list[tuple[str, list[Row]]]

    @property
    def rows(self) -> list[Row]:
        """All its rows in order."""
        return [row for _, rows in self.groups for row in rows]


def _text(value: str) -> str:
    """The value in one line."""
    return " ".join(value.split())


def catalogue() -> list[Page]:
    """All pages with their rows."""
    pages = []
    for name in NAMES:
        content = tomllib.loads((CATALOGUE / f"{name}.toml").read_text(encoding="utf-8"))
        groups = []
        for group in content["groups"]:
            title = _text(group.pop("title"))
            rows = [Row(id, **{key: _text(value) for key, value in fields.items()}) for id, fields in group.items()]
            groups.append((title, rows))
        pages.append(Page(name, _text(content["title"]), _text(content["about"]), groups))
    return pages


@cache
def _marked() -> dict[Path, ast.Module]:
    """The test files that have marks."""
    texts = {file: file.read_text(encoding="utf-8") for file in sorted((ROOT / "tests").rglob("test_*.py"))}
    return {file: ast.parse(text) for file, text in texts.items() if ".behaviour(" in text}


@cache
def marks() -> dict[str, list[Path]]:
    """The test files that show each row, by their marks. Nothing is imported, so slow and skipped tests count too."""
    found: defaultdict[str, list[Path]] = defaultdict(list)
    for file, tree in _marked().items():
        for id in _rows_of(tree):
            found[id].append(file)
    return dict(found)


@cache
def quick_marks() -> set[str]:
    """The rows that a test of ``make test`` shows."""
    found: set[str] = set()
    for tree in _marked().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not any(
                isinstance(mark, ast.Attribute) and mark.attr == "slow" for mark in node.decorator_list
            ):
                found |= {id for mark in node.decorator_list for id in _rows_of(mark)}
        found |= {id for node in tree.body if isinstance(node, ast.Assign) for id in _rows_of(node)}
    return found


def _rows_of(mark: ast.AST) -> set[str]:
    return {
        ast.literal_eval(node.args[0])
        for node in ast.walk(mark)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "behaviour"
    }


def _link(file: Path, page: Path) -> str:
    inside = file.relative_to(ROOT / "tests").with_suffix("")
    return f"[{inside.as_posix()}]({Path(os.path.relpath(file, page.parent)).as_posix()})"


def _line(row: Row, tests: list[Path], page: Path) -> str:
    """The row of the page's table."""
    howdah = [row.howdah, row.reason and f"**Does not apply**: {row.reason}", row.open and f"**Open**: {row.open}"]
    cells = [row.id, row.does, " ".join(filter(None, howdah)), "<br>".join(_link(file, page) for file in tests)]
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _counts(rows: list[Row], shown: Marks) -> tuple[int, int, int, int]:
    """How many rows there are, are shown, do not apply, are open."""
    tested = sum(row.id in shown for row in rows)
    opened = sum(bool(row.open) for row in rows)
    return len(rows), tested, len(rows) - tested - opened, opened


def _page(page: Page, shown: Marks) -> str:
    total, tested, foreign, opened = _counts(page.rows, shown)
    state = (
        f"Of {total} rows {tested} are shown, {foreign} do not apply, and {opened} are open."
        " [Conformance](../conformance.md) says what that means."
    )
    parts = [
        f"# {page.title}",
        textwrap.fill(page.about, 120, break_long_words=False, break_on_hyphens=False),
        state,
    ]
    for title, rows in page.groups:
        lines = [_line(row, shown.get(row.id, []), PAGES / page.name) for row in rows]
        parts += [
            f"## {title}",
            "\n".join(["| row | what it does | Howdah | tests |", "| --- | --- | --- | --- |", *lines]),
        ]
    return "\n\n".join(parts) + "\n"


def render() -> dict[Path, str]:
    """The text of each page."""
    pages, shown = catalogue(), marks()
    lines = ["| page | rows | shown | do not apply | open |", "| --- | --- | --- | --- | --- |"]
    for page in pages:
        counts = " | ".join(map(str, _counts(page.rows, shown)))
        lines.append(f"| [{page.title}](conformance/{page.name}.md) | {counts} |")
    everything = [row for page in pages for row in page.rows]
    lines.append(f"| all | {' | '.join(map(str, _counts(everything, shown)))} |")
    total, tested, foreign, opened = _counts(everything, shown)
    state = f"Of {total} rows {tested} are shown, {foreign} do not apply, and {opened} are open."
    texts = {PAGES / f"{page.name}.md": _page(page, shown) for page in pages}
    return {OVERVIEW: "\n".join([_INTRODUCTION, state, "", *lines, ""])} | texts


def main() -> None:
    """Write all pages."""
    PAGES.mkdir(exist_ok=True)
    for file, text in render().items():
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
