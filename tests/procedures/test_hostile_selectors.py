"""No text of a selector does harm: it is only ever data, and too much of it is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import chance
import pytest
from selectors_support import TRY, answers
from support import Connect, Db, one, refused

STRANGE = [
    "'; drop table howdah.msgs; --", "' or true --", "\\'; select 1 --", "\\", "$$", "$1", "%s", "%1$s", "%L", "{}",
    '{"a"}', "a,b", "NULL", "/*", "*/", "--", "\n", "E'", "U&'\\0027'", "'' ''", '"', "''", "'", "\u02bc", "\uff07",
    "😀", "x'::text or true", "#>>",
]  # fmt: skip


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def pattern(text: str) -> str:
    return literal(re.sub(r"([%_^])", r"^\1", text))


@pytest.mark.parametrize("conforming", ["on", "off"])
def test_strings_are_only_ever_data(db: Db, conforming: str) -> None:
    db.execute(f"set escape_string_warning = off; set standard_conforming_strings = {conforming}".encode())
    db.execute(TRY.encode())
    asked = [
        (selector, json.dumps({"headers": {"a": text}}))
        for text in STRANGE
        for selector in (
            f"a = {literal(text)}",
            f"a IN ('x', {literal(text)})",
            f"a LIKE {pattern(text)} ESCAPE '^'",
            f"a <> {literal(text + 'x')}",
            f"NOT a = {literal('x' + text)}",
        )
    ]
    assert answers(db, asked) == ["T"] * len(asked)
    # The same texts outside of quotes are refused, or are names, or whole strings.
    bare = answers(db, [(f"{text} = 1", '{"headers": {}}') for text in STRANGE])
    assert {said[0] for said in bare} <= {"E", "U", "F"}
    assert one(db, "select count(*) from howdah.msgs") == 0


def test_names_are_only_ever_data(db: Db) -> None:
    db.execute(TRY.encode())
    names = ["$1", "$$", "a$b$", "m", "headers", "select", "current_user", "pg_sleep", "Ünï", "_", "rank", "message_id"]
    asked = [
        (f"{name} = 1 AND {name} + 0 = 1 AND {name} IS NOT NULL", json.dumps({"headers": {name: 1}})) for name in names
    ]
    assert answers(db, asked) == ["T"] * len(asked)
    for name in names:
        sql = one(db, "select howdah._compile_selector(%s)", (f"{name} = 1",))
        assert re.sub(r"'(?:[^']|'')*'", "''", sql) == re.sub(
            r"'(?:[^']|'')*'", "''", one(db, "select howdah._compile_selector('a = 1')")
        )


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "(" * n + "a" + ")" * n,
        lambda n: "NOT " * n + "a",
        lambda n: "- " * n + "a = 1",
        lambda n: "a" + " + 1" * n + " = 1",
        lambda n: "a = " + "(1 + " * n + "1" + ")" * n,
        lambda n: "a AND (" * n + "a" + ")" * n,
        lambda n: "a LIKE '" + "%a" * (5 * n) + "'",
    ],
)
def test_a_selector_too_deep_is_refused_and_the_deepest_one_runs(db: Db, make: Callable[[int], str]) -> None:
    assert one(db, "select howdah.selector_matches(%s, '{\"a\": 1}') is not null", (make(99),)) is True
    db.execute("set max_stack_depth = '100kB'")
    refused(db, "HD023", "select howdah.check_selector(%s)", (make(201),))


def test_a_long_selector_runs_and_a_longer_one_is_refused(db: Db) -> None:
    strings = ", ".join(f"'{n}'" for n in range(3500))
    assert one(db, 'select howdah.selector_matches(%s, \'{"a": "3499"}\')', (f"a IN ({strings})",)) is True
    terms = " OR ".join(f"a = {n}" for n in range(2000))
    assert one(db, "select howdah.selector_matches(%s, '{\"a\": 1999}')", (terms,)) is True
    said = refused(db, "HD023", "select howdah.check_selector(%s)", ("a = 1" + " " * 32764,))
    assert said.message_primary == "invalid selector: it has more than 32768 characters at position 32769"


def test_objects_of_the_caller_are_not_used(connect: Connect, db: Db) -> None:
    user = connect("howdah_consumer")
    user.execute(
        "create temp table m as select 1 as headers;"
        " create function pg_temp.jsonb_typeof(jsonb) returns text language plpgsql as 'begin return 1 / 0; end';"
        " create function pg_temp.more(numeric, integer) returns boolean language plpgsql as 'begin return 1 / 0; end';"
        " create operator pg_temp.> (leftarg = numeric, rightarg = integer, function = pg_temp.more);"
        " set search_path = pg_temp, pg_catalog"
    )
    assert one(user, "select howdah.selector_matches('a > 1', '{\"a\": 2}')") is True


WORDS = [
    "a", "b", "a", "1", "2.5", "0", "'x'", "'%'", "TRUE", "FALSE", "NULL", "NOT", "AND", "OR", "BETWEEN", "LIKE",
    "IN", "IS", "ESCAPE", "=", "<>", "<", ">=", "+", "-", "*", "/", "(", ")", "(", ")", ",", "JMSType", "JMSPriority",
    "JMSReplyTo", "'", "?", "1e999",
]  # fmt: skip

STARTS = ["", "a = 1 AND ", "NOT ", "(a ", "a BETWEEN 1 ", "a IN ('x' ", "a LIKE 'x' ", "a IS ", "a + 1 "]


@pytest.mark.slow
def test_any_sequence_of_words_compiles_to_sql_or_is_refused(db: Db) -> None:
    db.execute(TRY.encode())
    dice = chance.dice()
    asked = [
        (
            dice.choice(STARTS) + " ".join(dice.choices(WORDS, k=dice.randint(1, 6))),
            '{"headers": {"a": 1, "b": "x"}}',
        )
        for _ in range(3000)
    ]
    said = answers(db, asked)
    assert None not in said
    for (selector, _), answer in zip(asked, said, strict=True):
        assert answer[0] in "TFU" or 1 <= int(answer[1:]) <= len(selector) + 1, f"{answer}: {selector}"
    assert sum(answer[0] != "E" for answer in said) > 10
