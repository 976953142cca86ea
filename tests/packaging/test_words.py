"""The pages are in plain English: short sentences, short lines, and one word for one thing."""

import re

import pytest
from pages import ROOT
from words import long_lines, prose, sentences, words

MOST_WORDS, MOST_COLUMNS = 25, 120

PAGES = ["README.md", "CONTRIBUTING.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]

NOT_YET = {
    "docs/archive.md",
    "docs/audit.md",
    "docs/audit-rules.md",
    "docs/audit-schedule.md",
    "docs/errors.md",
    "docs/glossary.md",
    "docs/handling-failures.md",
    "docs/locks-and-numbers.md",
    "docs/operations.md",
    "docs/performance.md",
    "docs/poison.md",
    "docs/poison-operator.md",
    "docs/python-api.md",
    "docs/security.md",
    "docs/sql-api.md",
}
"""Pages that still have longer sentences. The list only shrinks."""

GIVEN_UP = {
    r"time-outs?": "timeout",
    r"back-off": "backoff",
    r"look-ups?": "lookup",
    r"for ever": "forever",
    r"web hooks?": "webhook",
    r"dead[- ]letters?(?! queue)": "dead message",
    r"visibility timeouts?": "lease",
    r"acknowledgments?": "acknowledgement",
    r"passed by": "skipped",
    r"upkeep": "maintenance",
    r"late comers?": "latecomer",
    r"tells? [\w ]+ apart": "distinguishes",
}
"""Words that were given up, and the ones that are used for them."""

pages = pytest.mark.parametrize("page", PAGES)


def found(page: str) -> list[str]:
    """What is wrong with a page's prose."""
    wrong = [f"{words(one)} words: {one}" for one in sentences(page) if words(one) > MOST_WORDS]
    wrong += [f"{len(line)} columns: {line}" for line in long_lines(page, MOST_COLUMNS)]
    for part in prose(page):
        for word, better in GIVEN_UP.items():
            wrong += [f"{hit!r} is {better!r}: {part}" for hit in re.findall(rf"\b(?:{word})\b", part, re.IGNORECASE)]
    return wrong


@pages
def test_a_page_is_in_plain_english(page: str) -> None:
    wrong = found(page)
    if page in NOT_YET:
        assert wrong, f"{page} is in plain English now: take it off NOT_YET"
    else:
        assert not wrong, "\n".join([page, *wrong])


def test_the_pages_that_are_not_yet_in_plain_english_exist() -> None:
    assert set(PAGES) >= NOT_YET


def test_prose_is_measured_without_code_tables_and_targets() -> None:
    """What is measured of a page that has everything."""
    assert list(sentences("tests/packaging/words.md")) == [
        "Heading",
        "One sentence with CODE in it.",
        "Another, with a link.",
        "A list:",
        "the first item, bold",
        "the second item. it goes on",
        "(In brackets.)",
        "The end, at 1.5 times.",
    ]
