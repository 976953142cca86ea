"""The table of conformance: each row has its tests, its reason, or says what is missing; and it is written as it is."""

import re
from collections import Counter

import conformance
import pytest

from howdah import procedures
from howdah.engine import AckConsumer, AckSession, Connection, Consumer, Delivery, Message, Producer, Session
from howdah.engine.sending.windowed import WindowedProducer
from howdah.schema import metadata

ROWS = [row for page in conformance.catalogue() for row in page.rows]

SOURCES = {"WAS": 48, "IMQ": 139, "SIB": 40, "SSB": 30, "AMQ": 120}
"""The rows of each source."""


def test_every_row_of_every_source_is_in_the_catalogue_once() -> None:
    numbers = Counter(row.id for row in ROWS)
    assert numbers == Counter(
        f"{source}-{number:02}" for source, last in SOURCES.items() for number in range(1, last + 1)
    )


def test_the_readme_says_how_many_rows_there_are() -> None:
    [said] = re.findall(r"has (\d+) rules of these", (conformance.ROOT / "README.md").read_text())
    assert int(said) == len(ROWS)


def test_every_file_of_the_catalogue_is_a_page() -> None:
    assert {file.stem for file in conformance.CATALOGUE.iterdir()} == set(conformance.NAMES)
    assert {file.stem for file in conformance.PAGES.iterdir()} == set(conformance.NAMES)


def test_the_pages_are_what_the_catalogue_and_the_marks_say() -> None:
    for file, text in conformance.render().items():
        assert file.read_text(encoding="utf-8") == text, f"{file.name} is stale: make docs"


@pytest.mark.slow
def test_a_page_is_not_too_long_to_read() -> None:
    for file, text in conformance.render().items():
        assert len(text.split()) <= 2500, file.name


def test_every_mark_names_a_row() -> None:
    assert conformance.marks().keys() <= {row.id for row in ROWS}


CALLED: dict[str, list[type]] = {
    "connection": [Connection],
    "session": [Session, AckSession],
    "message": [Delivery, Message],
    "consumer": [AckConsumer, Consumer],
    "producer": [Producer, WindowedProducer],
}
"""Whose names the catalogue uses."""


def wrong(row: conformance.Row) -> str:
    """What is wrong with a row's state."""
    if row.open and row.id in conformance.marks():
        return "is open, and a test shows it: take `open` out of the catalogue"
    if row.open and row.reason:
        return "is open, and does not apply"
    if row.id in conformance.marks() and not row.howdah:
        return "is shown, and the catalogue does not say what Howdah does"
    if row.id not in conformance.marks() and not row.reason and not row.open:
        return "has no test: say why it does not apply (`reason`) or what is missing (`open`)"
    return ""


def test_each_row_is_shown_or_says_why_it_does_not_apply_or_what_is_missing() -> None:
    """So no row that was shown loses its tests without a word in the catalogue."""
    assert {row.id: wrong(row) for row in ROWS if wrong(row)} == {}


SLOW = {"AMQ-55", "AMQ-57", "IMQ-71", "SIB-30"}
"""Rows whose check takes from four seconds to over a minute."""


def test_make_test_shows_every_row_but_the_few_that_take_long() -> None:
    assert conformance.marks().keys() - conformance.quick_marks() == SLOW


def test_what_the_catalogue_names_exists() -> None:
    sources = "".join(procedures.source(name) for name in procedures.FILES)
    functions = set(re.findall(r"create or replace function howdah\.([a-z]\w*)", sources))
    for row in ROWS:
        text = f"{row.howdah} {row.reason} {row.open}"
        assert set(re.findall(r"\bhowdah\.([a-z]\w*)", text)) <= functions, row.id
    options = set(re.findall(r"^ +\('(?:queue|topic|listener|engine)', '(\w+)'", sources, re.MULTILINE))
    assert len(options) > 60
    for row in ROWS:
        assert set(re.findall(r'\{"(\w+)":', row.howdah)) <= options, row.id
        named = re.findall(r"option `(\w+)`", row.howdah)
        assert set(named) <= options | {column.name for column in metadata.tables["howdah.engine"].columns}, row.id


def test_what_the_catalogue_calls_in_python_exists() -> None:
    for row in ROWS:
        for owner, name in re.findall(r"\b(connection|session|message|consumer|producer)\.(\w+)\(", row.howdah):
            assert any(hasattr(cls, name) for cls in CALLED[owner]), (row.id, name)
