"""Rooms are small: how long a file may be, and a function in SQL."""

from __future__ import annotations

import re

import pytest
from pages import ROOT

PYTHON, SQL, FUNCTION = 300, 200, 120

ROOMS = (
    *("audit", "benchmarks", "cli", "console", "django", "engine", "kombu", "migrations", "plots", "procedures"),
    *("telemetry", "testing", "text", "tools", "workers"),
)

RENDERED = {"migrations/versions/r1001_baseline.sql"}
"""What is written from the tables' declarations. Those, in schema/, are as long as the tables are wide."""


@pytest.mark.parametrize(("kind", "most"), [("py", PYTHON), ("sql", SQL)])
def test_no_file_is_longer_than_a_room_may_be(kind: str, most: int) -> None:
    files = {file.relative_to(ROOT).as_posix(): file for room in ROOMS for file in (ROOT / room).rglob(f"*.{kind}")}
    long = {name: lines for name, file in files.items() if (lines := len(file.read_text().splitlines())) > most}
    assert set(long) == {name for name in RENDERED if name.endswith(kind)}, long


def test_no_function_in_sql_has_more_than_120_lines() -> None:
    begins = r"^create or replace function ([\w.]+)\("
    whole = re.compile(begins + r".*?(?=^--|^create |\Z)", re.DOTALL | re.MULTILINE)
    texts = [file.read_text() for file in (ROOT / "procedures").rglob("*.sql")]
    found = [match for text in texts for match in whole.finditer(text)]
    assert len(found) == sum(len(re.findall(begins, text, re.MULTILINE)) for text in texts) > 1000
    assert {match[1]: lines for match in found if (lines := match[0].strip().count("\n") + 1) > FUNCTION} == {}


def test_each_folder_of_code_is_looked_at() -> None:
    folders = {file.parent.name for file in ROOT.glob("*/*.py")} | {file.parent.name for file in ROOT.glob("*/*.sql")}
    assert folders - {"build", "dist", "docs", "examples", "schema", "tests"} <= set(ROOMS)
