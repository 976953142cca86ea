"""What is written from the asynchronous engine is up to date."""

from __future__ import annotations

from pathlib import Path

import make_sync

ENGINE = Path(__file__).parents[2] / "engine"


def test_the_synchronous_engine_is_what_the_asynchronous_one_says() -> None:
    assert make_sync.outdated() == [], "run make sync"


def test_nothing_asynchronous_is_left_in_it() -> None:
    for target in make_sync.PAIRS.values():
        text = (ENGINE / target).read_text(encoding="utf-8")
        assert "async " not in text
        assert "await " not in text


def test_words_in_texts_and_comments_stay() -> None:
    source = 'async def f() -> str:\n    # await it\n    return await g("await")\n'
    assert make_sync._without_keywords(source) == 'def f() -> str:\n    # await it\n    return g("await")\n'


def test_a_line_may_be_of_one_of_both_only() -> None:
    source = "a = 1  # async\n    # sync: a = 2\n"
    assert make_sync._chosen(source) == "    a = 2\n"
