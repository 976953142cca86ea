"""Each file of SQL is listed once, holds one function and keeps to the form of the others."""

import re
from pathlib import Path

from howdah import procedures
from howdah.procedures import FILES, ROOMS, source
from howdah.procedures.rendering import MODES, SLOTS

ROOT = Path(procedures.__file__).parent


def test_every_file_is_listed_once_and_every_listed_file_exists() -> None:
    assert len(set(FILES)) == len(FILES)
    assert {str(path.relative_to(ROOT).with_suffix("")) for path in _usual()} == set(FILES)


def test_every_room_is_listed_once_and_every_listed_room_exists() -> None:
    assert len(set(ROOMS)) == len(ROOMS)
    assert {path.parent.name for path in _usual()} == set(ROOMS)


def _usual() -> set[Path]:
    """The files of the usual install, so not those of facades: tests/facades has their tests."""
    return {path for path in ROOT.rglob("*.sql") if "facades" not in path.parts}


def test_a_file_holds_one_function_and_bears_its_name() -> None:
    """An overload stands beside its namesake, and the views for one kind of reader stand together."""
    together = {"views/activemq", "views/archive", "views/audit"}
    for name in set(FILES) - together:
        own = Path(name).name
        modes = {own.replace("MODE", mode["MODE"]) for mode in MODES}
        named = {f"{one[:-1]}{slot}" for one in modes for slot in SLOTS} if own.endswith("_N") else {own}
        found = set(re.findall(r"^create or replace \w+ howdah\.(\w+)", source(name), re.MULTILINE))
        assert found == named


def test_no_line_of_sql_is_longer_than_120_columns() -> None:
    """Ruff holds Python to the same width; it does not read SQL."""
    assert [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted(ROOT.rglob("*.sql"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 120
    ] == []


def test_every_loop_is_unrolled_and_every_list_of_columns_written_out() -> None:
    left = r"-- (for \w+ in|end for)|MODE_|_MODE\b|CONTENT_OF|ORIGIN_OF|BODY_(TYPE|VALUE|BYTES)|IS_TEXT|MEDIA_TYPE"
    assert [name for name in FILES if re.search(left, source(name))] == []
    # In a header, N stands for each of them.
    assert [name for name in FILES if re.search(r"_N\b", re.sub("--.*", "", source(name)))] == []
    assert {slot for slot in SLOTS if f"topic_msgs_{slot}" in source("publish/_unpublish")} == set(SLOTS)
