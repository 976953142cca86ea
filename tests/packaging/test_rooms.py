"""Rooms are small: how long a file may be, and a function in SQL."""

from __future__ import annotations

import re
import tomllib
from statistics import median

import pytest
from pages import FOLDERS, ROOT

PYTHON, SQL, FUNCTION, MEDIAN = 300, 200, 120, 60

ROOMS = (*(folder for folder in FOLDERS if folder != "schema"), "tests")

RENDERED = {"migrations/versions/r1001_baseline.sql", "tests/schema.sql"}
"""What is written from the tables' declarations. Those, in schema/, are as long as the tables are wide."""

OF_OTHERS = {"django", "kombu"}
"""Folders of ours whose names others' packages have, too."""


@pytest.mark.parametrize(("kind", "most"), [("py", PYTHON), ("sql", SQL)])
def test_no_file_is_longer_than_a_room_may_be(kind: str, most: int) -> None:
    files = {file.relative_to(ROOT).as_posix(): file for room in ROOMS for file in (ROOT / room).rglob(f"*.{kind}")}
    long = {name: lines for name, file in files.items() if (lines := len(file.read_text().splitlines())) > most}
    assert set(long) == {name for name in RENDERED if name.endswith(kind)}, long


def test_most_files_of_functions_are_short() -> None:
    files = (ROOT / "procedures").rglob("*.sql")
    assert median(len(file.read_text().splitlines()) for file in files) <= MEDIAN


def test_no_function_in_sql_has_more_than_120_lines() -> None:
    begins = r"^create or replace function ([\w.]+)\("
    whole = re.compile(begins + r".*?(?=^--|^create |\Z)", re.DOTALL | re.MULTILINE)
    texts = [file.read_text() for file in (ROOT / "procedures").rglob("*.sql")]
    found = [match for text in texts for match in whole.finditer(text)]
    assert len(found) == sum(len(re.findall(begins, text, re.MULTILINE)) for text in texts) > 1000
    assert {match[1]: lines for match in found if (lines := match[0].strip().count("\n") + 1) > FUNCTION} == {}


def test_each_folder_of_code_is_looked_at() -> None:
    folders = {file.parent.name for file in ROOT.glob("*/*.py")} | {file.parent.name for file in ROOT.glob("*/*.sql")}
    assert folders - {"build", "dist", "docs", "examples", "schema"} <= set(ROOMS)


def test_the_tools_look_at_each_folder_of_code() -> None:
    """Pyright checks all, and ruff refuses an import of a folder that would not be one of the package."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    assert set(tools["pyright"]["include"]) == {*FOLDERS, "tests"}
    banned = tools["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"]
    assert set(banned) == set(FOLDERS) - OF_OTHERS - {"tools"}
