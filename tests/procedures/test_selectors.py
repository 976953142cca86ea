"""JMS message selectors: each rule with its vectors, random ones against a model, and that none can do harm."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import chance
import pytest
from selector_model import NAMES, Headers, Maker, truth
from support import Connect, Db, one, refused

VECTORS = Path(__file__).with_name("selector_vectors.txt").read_text(encoding="utf-8")

# Answers T, F, U, or E and the position of the error; one call for many selectors.
TRY = """
create function pg_temp.try(selector text, options jsonb) returns text language plpgsql as $$
declare
    said boolean;
    message text;
begin
    said := howdah.selector_matches(selector, options -> 'headers', coalesce((options ->> 'priority')::integer, 4),
        options ->> 'correlation_id', options ->> 'message_type', (options ->> 'message_id')::bigint,
        (options ->> 'sent_at')::timestamptz, coalesce(options ->> 'delivery_mode', 'persistent'));
    return case said when true then 'T' when false then 'F' else 'U' end;
exception when sqlstate 'HD023' then
    get stacked diagnostics message = message_text;
    return 'E' || substring(message from ' at position ([0-9]+)$');
end
$$
"""


def vectors() -> list[tuple[str, str, str]]:
    """Expected value, selector and the message's options of each line."""
    found = []
    options = ""
    for line in VECTORS.splitlines():
        if line.startswith("message "):
            headers, _, more = line.removeprefix("message ").rpartition("}")
            pairs = ", ".join(f'"{name}": "{value}"' for name, value in re.findall(r"(\w+)=(\S+)", more))
            options = f'{{"headers": {headers}}}' + (f", {pairs}" if pairs else "") + "}"
        elif line and not line.startswith("#"):
            expected, selector = line[: line.index(" ")], line[line.index(" ") + 1 :]
            found.append((expected.rstrip("⇥"), selector.replace("⏎", "\n").replace("⇥", "\t"), options))
    return found


def answers(db: Db, asked: list[tuple[str, str]]) -> list[str]:
    rows = db.execute(
        "select pg_temp.try(a.selector, a.options::jsonb) from unnest(%s::text[], %s::text[]) with ordinality"
        " a(selector, options, n) order by a.n",
        ([selector for selector, _ in asked], [options for _, options in asked]),
    ).fetchall()
    return [row[0] for row in rows]


def test_every_vector_has_its_value(db: Db) -> None:
    table = vectors()
    assert len(table) > 400
    db.execute(TRY.encode())
    said = answers(db, [(selector, options) for _, selector, options in table])
    wrong = [
        f"{expected}, not {got}: {selector}   {options}"
        for (expected, selector, options), got in zip(table, said, strict=True)
        if expected != got
    ]
    assert wrong == [], "\n" + "\n".join(wrong)


# Evaluates one selector on many headers as a queue would: the compiled text in a statement over rows.
EVALUATE = """
create function pg_temp.evaluate(selector text, headers jsonb[]) returns boolean[] language plpgsql as $$
declare
    said boolean[];
begin
    execute 'select array_agg(' || howdah._compile_selector(selector) || ' order by m.n) from'
        ' (select h.headers, h.n, 5::smallint as rank, h.n as message_id, howdah.now() as sent_at,'
        ' null::text as correlation_id,'
        ' null::text as message_type, false as nonpersistent from unnest($1) with ordinality h(headers, n)) m'
    into said using headers;
    return said;
exception when others then
    raise exception using errcode = sqlstate, message = format('%s: %s', sqlerrm, selector);
end
$$
"""


def random_headers(maker: Maker) -> tuple[str, Headers]:
    """JSON of some headers, and what they are for the model."""
    values: Headers = {}
    parts = []
    for name in NAMES:
        if maker.chance.random() < 0.75:
            text, values[name] = maker.header()
            parts.append(f"{json.dumps(name)}: {text or json.dumps(values[name])}")
    return "{" + ", ".join(parts) + "}", values


@pytest.mark.slow
def test_two_thousand_random_selectors_have_the_models_values(db: Db) -> None:
    seed = chance.seed()
    maker = Maker(seed)
    db.execute(EVALUATE.encode())
    for _ in range(10):
        messages = [random_headers(maker) for _ in range(8)]
        selectors = [maker.condition(3) for _ in range(200)]
        rows = db.execute(
            "select pg_temp.evaluate(s.text, %s::jsonb[]) from unnest(%s::text[]) with ordinality s(text, n)"
            " order by s.n",
            ([text for text, _ in messages], [selector.text for selector in selectors]),
        ).fetchall()
        for selector, (said,) in zip(selectors, rows, strict=True):
            for (text, headers), got in zip(messages, said, strict=True):
                expected = truth(selector.value(headers))
                assert got is expected, f"seed {seed}: {selector.text} on {text}: {got}, not {expected}"


# What no JMS message has and JSON may hold: each must leave every selector without an error.
HOSTILE = [
    '"10"', '""', '"NaN"', '"Infinity"', '"1e400"', '"\\u0001"', '"\\\\"', '"%_\\\\"', "true", "false", "null", "[]",
    "[1]", '["a"]', "{}", '{"a": {"b": [1, {"c": null}]}}', "0", "-0", "0.0", "-0.0", "1e400", "-1e400", "1e-400",
    "1e5000", "1e131000", "1e-5000", "9" * 3000, "0." + "0" * 3000 + "1", "1." + "3" * 3000, "9223372036854775807",
    "-9223372036854775808", "9223372036854775808", "1.7976931348623157e308", "-1.7976931348623157e308", "4.9e-324",
    "2.3e-308", "1e308", "1e-308", '"' + "%" * 3000 + '"', '"' + "a" * 100000 + '"', '"\\ud83d\\ude00"',
]  # fmt: skip
CALCULATED = [
    "a + b = 0", "a - b > 0", "a * b <> 1", "a / b <= 1", "-a >= b", "+a = -b", "a * a * a * a > b",
    "a / b / a / b = 1", "a / (b - b) > 0", "(a + 1) / (b * 0.0) = 1", "a * 1E308 * 1E308 > 1",
    "a / 1E-300 / 1E-300 > 1", "a * 1E-300 * 1E-300 = 0", "a + 1.7976931348623E308 > 1",
    "-1.7976931348623E308 - a < b", "a + 9223372036854775807 > b", "9223372036854775807 * a > b",
    "-9223372036854775808 - a < b", "a / -1 = -9223372036854775808", "a = b", "a <> b", "a < b", "a BETWEEN b AND a",
    "a NOT BETWEEN b + 1 AND b - 1", "a LIKE '%a%'", "a LIKE '\\'", "a LIKE '!' ESCAPE '!'",
    "a IN ('10', 'NULL', '{', '\\')", "a AND b", "NOT a OR b", "a = TRUE", "(a) = (b)", "a = 'x' OR a = 1 OR a = 1.5",
    "a IS NULL", "a = JMSPriority", "a > JMSTimestamp", "a = JMSMessageID", "a = JMSType",
    "a * JMSTimestamp > JMSPriority / b",
]  # fmt: skip


@pytest.mark.slow
def test_no_header_makes_a_selector_raise(db: Db) -> None:
    db.execute(EVALUATE.encode())
    every = [f'{{"a": {a}, "b": {b}}}' for a in HOSTILE for b in HOSTILE]
    rows = db.execute(
        "select cardinality(pg_temp.evaluate(s, %s::jsonb[])) from unnest(%s::text[]) s", (every, CALCULATED)
    ).fetchall()
    assert rows == [(len(every),)] * len(CALCULATED)


def test_what_is_no_object_or_absent_is_unknown(db: Db) -> None:
    assert one(db, "select howdah.selector_matches('a = 1', null)") is None
    assert one(db, "select howdah.selector_matches('a IS NULL', null)") is True
    db.execute(EVALUATE.encode())
    assert one(db, "select pg_temp.evaluate('a = 1', array['[1]', '\"a\"', '5', 'null', null]::jsonb[])") == [None] * 5


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


def test_no_selector_selects_everything(db: Db) -> None:
    for blank in (None, "", " ", " \t\r\n\f "):
        assert one(db, "select howdah._compile_selector(%s)", (blank,)) is None
        assert one(db, "select howdah.check_selector(%s)", (blank,)) is None
        assert one(db, "select howdah.selector_matches(%s, '{}')", (blank,)) is True


def test_an_error_says_what_where_and_what_to_do(db: Db) -> None:
    for selector, message, hint in (
        ("price > ", "the end where a value is expected at position 9", "such as: price > 100"),
        ('region = "EU"', "the character '\"' at position 10", "single quotes"),
        ("code IN (1, 2)", "the number 1 where a string is expected at position 10", "code = 1 OR code = 2"),
        ("name > 'A'", "a string compared by > at position 8", "only = and <>"),
        ("JMSReplyTo = 'q'", "the name JMSReplyTo, which cannot be selected by at position 1", "JMSCorrelationID"),
        ("a = 'Tom's'", "the name s where an operator is expected at position 10", None),
    ):
        said = refused(db, "HD023", "select howdah.check_selector(%s)", (selector,))
        assert said.message_primary == f"invalid selector: {message}"
        assert (hint or "such as") in (said.message_hint or "")


@pytest.mark.slow
def test_the_normal_form_is_the_same_selector(db: Db) -> None:
    assert one(db, "select howdah.check_selector('price>100\tand region in(''EU'',''O''''N'')\n')") == (
        "price > 100 AND region IN ('EU', 'O''N')"
    )
    valid = [selector for expected, selector, _ in vectors() if expected[0] != "E"]
    rows = db.execute(
        "select howdah.check_selector(n.form) = n.form,"
        " howdah._compile_selector(n.form) = howdah._compile_selector(n.selector), n.selector"
        " from (select s as selector, howdah.check_selector(s) as form from unnest(%s::text[]) s) n",
        (valid,),
    ).fetchall()
    assert [row for row in rows if row[:2] != (True, True)] == []


def test_a_stored_selector_selects_stored_messages(db: Db) -> None:
    db.execute("select howdah.create_queue('q')")
    for n in range(10):
        db.execute("select howdah.send('q', 'x', headers => %s::jsonb, priority => %s)", (f'{{"n": {n}}}', n))
    sql = one(
        db,
        (
            "select howdah._compile_selector('n * 2 > 10 AND JMSPriority < 8 AND JMSMessageID LIKE"
            " ''ID:%'' AND JMSTimestamp > 0')"
        ),
    )
    found = db.execute(
        f"select m.headers ->> 'n' from (select q.*, false as nonpersistent from howdah.msgs q) m where {sql}"
        " order by 1".encode()
    ).fetchall()
    assert found == [("6",), ("7",)]


def test_wrong_arguments_of_a_try_are_refused(db: Db) -> None:
    refused(db, "HD005", "select howdah.selector_matches('a = 1', '[]')")
    refused(db, "HD006", "select howdah.selector_matches('a = 1', '{}', priority => 10)")
    refused(db, "HD006", "select howdah.selector_matches('a = 1', '{}', priority => null)")
    refused(db, "HD005", "select howdah.selector_matches('a = 1', '{}', delivery_mode => 'express')")


def test_every_role_may_check_and_try_and_none_may_compile(connect: Connect) -> None:
    for kind in ("producer", "consumer", "browser", "auditor", "admin"):
        user = connect(f"howdah_{kind}")
        assert one(user, "select howdah.check_selector('a=1')") == "a = 1"
        assert one(user, "select howdah.selector_matches('a + 1 = 2', '{\"a\": 1}')") is True
        refused(user, "42501", "select howdah._compile_selector('a = 1')")


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
