"""The pages are in plain English: short sentences, short lines, and one word for one thing."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import docsite
import pytest
from pages import ROOT
from words import long_lines, prose, sentences, visible, words

MOST_WORDS, MOST_COLUMNS, LONGEST_PAGE = 25, 120, 2500

RENDERED = {f"rendered {name}": name for name in docsite.sources()}
"""What the headers of functions, the commands' help texts and the comments of columns make on the site."""

pages = pytest.mark.parametrize("page", [*docsite.written(ROOT), *RENDERED])


PYTHON = (
    *("audit", "benchmarks", "cli", "console", "django", "engine", "kombu"),
    *("plots", "schema", "telemetry", "testing", "text", "tools", "workers"),
)

PARAMETER = re.compile(r"(?<=\.)\s+(?=[a-z_]+(?:, [a-z_]+)*(?: [(][^)]*[)])?: )")
"""What is between two parameters of a docstring that says ``name: what.`` of each."""


def text_of(page: str) -> str:
    return docsite.rendered()[RENDERED[page]][1] if page in RENDERED else (ROOT / page).read_text()


@functools.cache
def glossary(heading: str) -> list[list[str]]:
    """The cells of the glossary's table under a heading, without its head."""
    _, section = (ROOT / "docs/glossary.md").read_text().split(f"# {heading}\n")
    table = re.findall(r"^\| (.*) \|$", section.partition("\n## ")[0], re.MULTILINE)
    return [row.split(" | ") for row in table[2:]]


def found(page: str) -> list[str]:
    """What is wrong with a page's prose."""
    text = text_of(page)
    wrong = [f"{words(one)} words: {one}" for one in sentences(text) if words(one) > MOST_WORDS]
    if page not in RENDERED:
        wrong += [f"{len(line)} columns: {line}" for line in long_lines(text, MOST_COLUMNS)]
    # A table's cells have words, too, where they are all that a page has.
    parts = [*prose(text), *re.findall(r"^\|.*$", text, re.MULTILINE)] if page in RENDERED else prose(text)
    return wrong + [one for part in parts for one in given_up(part)]


def given_up(part: str) -> Iterator[str]:
    """The words of a paragraph that were given up."""
    for word, better in glossary("Words that were given up"):
        # ActiveMQ has dead-letter queues.
        if re.search(rf"\b{word.replace(' ', '[- ]')}s?\b(?! queue)", part, re.IGNORECASE):
            yield f"not {word}, but {better}: {part}"


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """The line and text of each docstring: of the module, of classes, functions and constants."""
    for node in ast.walk(ast.parse(path.read_text())):
        for one in getattr(node, "body", []) if isinstance(node, ast.stmt | ast.Module) else []:
            match one:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield one.lineno, text


def found_in(text: str) -> Iterator[str]:
    """What is wrong with a docstring."""
    for said in sentences(text):
        for one in PARAMETER.split(said):
            if words(one) > MOST_WORDS:
                yield f"{words(one)} words: {one}"
    for part in prose(text):
        yield from given_up(part)


@pages
def test_a_page_is_in_plain_english(page: str) -> None:
    wrong = found(page)
    assert not wrong, "\n".join([page, *wrong])


@pytest.mark.parametrize("folder", PYTHON)
def test_docstrings_are_in_plain_english(folder: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {one}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, text in docstrings(path)
        for one in found_in(text)
    ]
    assert not wrong, "\n".join(wrong)


def test_a_docstring_is_measured_by_sentence_and_by_parameter() -> None:
    """What is found in a docstring, and that its parameters count apart."""
    assert not [*found_in(f"first: {'word ' * 20}end. second, third: {'word ' * 20}end.")]
    assert len([*found_in(f"One {'word ' * 25}end. Another ``with code in it``, {'word ' * 20}end.")]) == 1
    assert [*found_in("The upkeep of it.")] == ["not upkeep, but maintenance: The upkeep of it."]


@pages
def test_a_page_is_not_too_long_to_read(page: str) -> None:
    assert len(visible(text_of(page)).split()) <= LONGEST_PAGE


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
    assert list(sentences((ROOT / "tests/packaging/words.md").read_text())) == [
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
