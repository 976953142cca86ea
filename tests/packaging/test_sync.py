"""What is written from the asynchronous engine is up to date."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "make_sync.py"


@pytest.fixture(scope="module")
def make_sync() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_sync", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_synchronous_engine_is_what_the_asynchronous_one_says(make_sync: ModuleType) -> None:
    assert make_sync.outdated() == [], "run make sync"


def test_nothing_asynchronous_is_left_in_it(make_sync: ModuleType) -> None:
    for target in make_sync.PAIRS.values():
        text = (TOOL.parents[1] / "engine" / target).read_text(encoding="utf-8")
        assert "async " not in text
        assert "await " not in text


def test_words_in_texts_and_comments_stay(make_sync: ModuleType) -> None:
    source = 'async def f() -> str:\n    # await it\n    return await g("await")\n'
    assert make_sync._without_keywords(source) == 'def f() -> str:\n    # await it\n    return g("await")\n'


def test_a_line_may_be_of_one_of_both_only(make_sync: ModuleType) -> None:
    source = "a = 1  # async\n    # sync: a = 2\n"
    assert make_sync._chosen(source) == "    a = 2\n"
