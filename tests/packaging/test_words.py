"""Pages, headers and comments are in plain English: short sentences, short lines, and one word for one thing."""

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import docsite
import pytest
from pages import FOLDERS, ROOT
from words import cells, long_lines, prose, said, sentences, stops, visible, words

from howdah.procedures import FILES, ROOMS, headers, source
from howdah.procedures.contents import FACADES, facade_files
from howdah.schema.ddl import ddl

MOST_WORDS, MOST_COLUMNS, LONGEST_PAGE = 25, 120, 2500

RENDERED = {f"rendered {name}": name for name in docsite.sources()}
"""What the headers of functions, the commands' help texts and the comments of columns make on the site."""

pages = pytest.mark.parametrize("page", [*docsite.written(ROOT), *RENDERED])

_COMMENT = re.compile(r"^COMMENT ON \w+ (\S+) IS\s+((?:'(?:[^']|'')*'\s*)+);$", re.MULTILINE)


SQL_ERRORS, PYTHON_ERRORS = 1150, 800
"""The fewest sentences of errors there are: fewer would say that some are not seen."""

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


def too_long(sentences: Iterable[str]) -> list[str]:
    return [f"{words(one)} words: {one}" for one in sentences if words(one) > MOST_WORDS]


def given_up(parts: Iterable[str]) -> Iterator[str]:
    """The words that were given up, in texts that have some."""
    better = dict(glossary("Words that were given up"))
    # Dead-letter queues are what ActiveMQ has.
    every = "|".join(word.replace(" ", "[- ]") for word in better)
    for part in parts:
        for match in re.finditer(rf"\b({every})s?\b(?! queue)", part, re.IGNORECASE):
            word = match[1].lower()
            yield f"not {word}, but {better.get(word) or better[word.replace('-', ' ')]}: {part}"


def found(page: str) -> list[str]:
    """What is wrong with a page's prose."""
    text = text_of(page)
    wrong = too_long(sentences(text))
    if page not in RENDERED:
        own = page == "docs/glossary.md"  # whose table has the words that were given up
        wrong += [*too_long(cells(text)), *given_up([] if own else cells(text))]
        wrong += [f"{len(line)} columns: {line}" for line in long_lines(text, MOST_COLUMNS)]
    # A table's cells have words, too, where they are all that a page has.
    parts = [*prose(text), *re.findall(r"^\|.*$", text, re.MULTILINE)] if page in RENDERED else prose(text)
    return [*wrong, *given_up(parts)]


def written_in(room: str) -> Iterator[tuple[str, list[str]]]:
    """The functions and views of a room, or the tables' types, columns and so on, and the sentences about each."""
    if room == "schema":
        for match in _COMMENT.finditer(ddl()):
            text = "".join(re.findall(r"'((?:[^']|'')*)'", match[2])).replace("''", "'")
            yield match[1], list(stops(text))
        return
    texts = facade_files(room) if room in FACADES else [source(name) for name in FILES if name.startswith(f"{room}/")]
    for text in texts:
        for header in headers(text):
            yield header.name, list(said(header))


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """The line and text of each docstring: of the module, of classes, functions and constants."""
    for node in ast.walk(ast.parse(path.read_text())):
        for one in getattr(node, "body", []) if isinstance(node, ast.stmt | ast.Module) else []:
            match one:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield one.lineno, text


def found_in(text: str) -> Iterator[str]:
    """What is wrong with a docstring."""
    for sentence in sentences(text):
        for one in PARAMETER.split(sentence):
            if words(one) > MOST_WORDS:
                yield f"{words(one)} words: {one}"
    yield from given_up(prose(text))


_LITERAL = r"'(?:[^']|'')*'"
_NEXT = r"\b(?:message|detail|hint)\s*="
_ERROR = re.compile(rf"(?:{_NEXT}|\bv_wrong\s*(?:constant text )?:=)((?:{_LITERAL}|(?!{_NEXT})[^';])*)")
_TEXT = re.compile(rf"{_LITERAL}(?:\s*(?:[|]{{2}}\s*)?{_LITERAL})*")


def errors_in_sql(text: str) -> Iterator[str]:
    """The messages, details and hints that functions raise, and what they are chosen from."""
    for raised in _ERROR.finditer(text):
        for literals in _TEXT.findall(raised[1]):
            yield from _ends("".join(re.findall(r"'((?:[^']|'')*)'", literals)).replace("''", "'"))


def errors_in_python(path: Path) -> Iterator[str]:
    """The texts that errors are made with; X stands for each value."""
    nodes = [*ast.walk(ast.parse(path.read_text()))]
    raised = {node.exc for node in nodes if isinstance(node, ast.Raise)}
    for node in nodes:
        for text in node.args if isinstance(node, ast.Call) and (node in raised or _makes_error(node)) else []:
            match text:
                case ast.Constant(value=str(said)):
                    yield from _ends(said)
                case ast.JoinedStr(values=parts):
                    yield from _ends("".join(str(one.value) if isinstance(one, ast.Constant) else "X" for one in parts))


def _makes_error(call: ast.Call) -> bool:
    """Whether a class is called whose name is that of an error."""
    name = getattr(call.func, "attr", "") or getattr(call.func, "id", "")
    return name.endswith(("Error", "Parameter"))


def _ends(text: str) -> list[str]:
    """The sentences of an error. What a colon or a semicolon ends counts as one, too."""
    return re.split(r"(?<=[.:;?])\s+", text)


@pages
def test_a_page_is_in_plain_english(page: str) -> None:
    wrong = found(page)
    assert not wrong, "\n".join([page, *wrong])


@pytest.mark.parametrize("room", [*ROOMS, *FACADES, "schema"])
def test_headers_and_comments_are_in_plain_english(room: str) -> None:
    about = list(written_in(room))
    assert len(about) > (1000 if room == "schema" else 0)
    wrong = [f"{name}: {what}" for name, texts in about for what in (*too_long(texts), *given_up(texts))]
    assert not wrong, "\n".join([room, *wrong])


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_are_in_plain_english(folder: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {one}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, text in docstrings(path)
        for one in found_in(text)
    ]
    assert not wrong, "\n".join(wrong)


def test_errors_in_sql_are_in_plain_english() -> None:
    sources = [*map(source, FILES), *(text for facade in FACADES for text in facade_files(facade))]
    texts = [text for one in sources for text in errors_in_sql(one)]
    assert len(texts) > SQL_ERRORS
    assert [*too_long(texts), *given_up(texts)] == []


def test_errors_in_python_are_in_plain_english() -> None:
    texts = [text for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") for text in errors_in_python(path)]
    assert len(texts) > PYTHON_ERRORS
    assert [*too_long(texts), *given_up(texts)] == []


def test_an_error_is_measured_sentence_by_sentence(tmp_path: Path) -> None:
    raised = """raise exception using message = format('One: two' || ' %s.', v), hint =
        case when v then 'It''s three' else howdah._f('four') end, errcode = v;"""
    assert [*errors_in_sql(raised)] == ["One:", "two %s.", "It's three", "four"]
    (tmp_path / "raises.py").write_text("raise errors.AuditError(f'One {two}: three') from BadParameter('four')")
    assert sorted(errors_in_python(tmp_path / "raises.py")) == ["One X:", "four", "three"]


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


def test_a_header_is_measured_sentence_by_sentence_and_error_by_error() -> None:
    """What is measured of a header that has everything."""
    [header] = headers(
        """\
-- howdah.one(queue, …): do something in a queue,
-- at once.
--
-- Returns  one row. name: what it is. number: how
--          many; NULL: none.
-- Raises   HD001 no such queue; HD005, HD006 the number
--          is wrong; HD010 as howdah.send; 40001.
-- Role     howdah_admin
--
-- number is positive. (In brackets.) The
-- end.
create or replace function howdah.one(
"""
    )
    assert list(said(header)) == [
        "do something in a queue, at once.",
        "one row.",
        "name: what it is.",
        "number: how many; NULL: none.",
        "number is positive.",
        "(In brackets.)",
        "The end.",
        "no such queue",
        "the number is wrong",
        "as howdah.send",
        "40001.",
    ]
