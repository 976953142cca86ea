"""A compiled selector has the model's value on random headers, and none makes it raise."""

from __future__ import annotations

import json

import chance
import pytest
from selector_model import NAMES, Headers, Maker, truth
from support import Db, one

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
