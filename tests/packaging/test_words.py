"""The pages are in plain English: short sentences, short lines, and one word for one thing."""

import re

import pytest
from pages import ROOT
from words import long_lines, prose, sentences, words

MOST_WORDS, MOST_COLUMNS = 25, 120

WRITTEN = (page for pattern in ("*.md", "start/*.md", "guides/*.md") for page in (ROOT / "docs").glob(pattern))
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(str(page.relative_to(ROOT)) for page in WRITTEN)]

NOT_YET = {
    "docs/archive.md",
    "docs/audit.md",
    "docs/audit-rules.md",
    "docs/audit-schedule.md",
    "docs/handling-failures.md",
    "docs/hardened-queues.md",
    "docs/locks-and-numbers.md",
    "docs/measurements.md",
    "docs/operations.md",
    "docs/poison.md",
    "docs/poison-operator.md",
    "docs/poison-procedures.md",
    "docs/sql-api.md",
}
"""Pages that still have a longer sentence, or a word that was given up. The list only shrinks."""

pages = pytest.mark.parametrize("page", PAGES)


def glossary(heading: str) -> list[list[str]]:
    """The cells of the glossary's table under a heading, without its head."""
    _, section = (ROOT / "docs/glossary.md").read_text().split(f"# {heading}\n")
    table = re.findall(r"^\| (.*) \|$", section.partition("\n## ")[0], re.MULTILINE)
    return [row.split(" | ") for row in table[2:]]


def found(page: str) -> list[str]:
    """What is wrong with a page's prose."""
    wrong = [f"{words(one)} words: {one}" for one in sentences(page) if words(one) > MOST_WORDS]
    wrong += [f"{len(line)} columns: {line}" for line in long_lines(page, MOST_COLUMNS)]
    for part in prose(page):
        for word, better in glossary("Words that were given up"):
            # Dead-letter queues are what ActiveMQ has.
            if re.search(rf"\b{word.replace(' ', '[- ]')}s?\b(?! queue)", part, re.IGNORECASE):
                wrong.append(f"not {word}, but {better}: {part}")
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


def test_a_word_stands_for_one_thing_and_none_is_given_up_that_the_glossary_has() -> None:
    terms = [re.sub(r"\*\*", "", term) for term, _ in glossary("Glossary")]
    more = [term for _, meaning in glossary("Glossary") for term in re.findall(r"\*\*(\w[\w ]*)\*\*", meaning)]
    named = [term.lower() for term in terms + more]
    assert sorted(set(named)) == sorted(named)
    assert terms == sorted(terms, key=str.lower)
    given_up = {word for word, _ in glossary("Words that were given up")}
    assert len(given_up) > 5
    assert not given_up & set(named)


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
        "The names are CODE.",
        "The end, at 1.5 times.",
    ]
