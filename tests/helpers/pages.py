"""The code blocks of a page of the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).parents[2]

WRITTEN = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))]
"""The pages that readers read."""

_LINKS = [link for link in (ROOT / "src/howdah").iterdir() if link.is_symlink()]

FOLDERS = (*sorted(link.name for link in _LINKS if link.is_dir()), "tools")
"""The folders of our Python and SQL, but for tests and examples."""

_PART = re.compile(
    r"^```(?P<language>\w*)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$"
    r"|^<!-- run: (?P<hidden>\w+)\n(?P<run>.*?)^-->$"
    r"|^<!-- until: (?P<until>.*?) -->$"
    r"|^<!-- (?P<session>python: one session) -->$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Part:
    """What a page has to be done.

    A block, a block that readers do not see, what to wait for (`until`), or to keep one Python (`session`).
    """

    page: str
    line: int
    language: str
    title: str
    text: str
    shown: str | None
    """The block of text that comes next: what the page says that this block prints."""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.language} {self.title}\n{self.text}"


def parts(page: str) -> list[Part]:
    """All that is to be done on a page, in order."""
    text = (ROOT / page).read_text()
    found = list(_PART.finditer(text))
    fences = re.findall(r"^\s*```", text, re.MULTILINE)
    assert len(fences) == 2 * sum(part["text"] is not None for part in found), f"{page} has blocks that nobody runs"
    made = []
    for part, after in zip_longest(found, found[1:]):
        shown = after["text"] if after is not None and after["language"] == "text" else None
        line = text.count("\n", 0, part.start()) + 1
        given = part.groupdict()
        body = next(given[name] for name in ("text", "run", "until", "session") if given[name] is not None)
        language = (
            part["language"] or part["hidden"] or next((name for name in ("until", "session") if given[name]), "")
        )
        made.append(Part(page, line, language, part["title"] or "", body, shown))
    return made


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    return [part.text for part in parts(page) if part.language == language]


def commands(block: str) -> Iterator[tuple[str, str]]:
    """The commands of a console, each with the output that the page shows of it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.replace("\\\n", "\0").partition("\n")
        yield command.replace("\0", "\\\n"), shown.replace("\0", "\\\n")
