"""JMS message selectors: each rule with its vectors, random ones against a model, and that none can do harm."""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path

from selector_model import NAMES, Headers, Maker, truth
from support import Db, one, refused

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
    execute 'select array_agg(' || howdah._selector_sql(selector) || ' order by m.n) from'
        ' (select h.headers, h.n, 5::smallint as rank, h.n as message_id, howdah.now() as sent_at, null::text as correlation_id,'
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


def test_two_thousand_random_selectors_have_the_models_values(db: Db) -> None:
    seed = int(os.environ.get("HOWDAH_TEST_SEED", random.SystemRandom().randrange(2**32)))
    maker = Maker(seed)
    db.execute(EVALUATE.encode())
    for _ in range(10):
        messages = [random_headers(maker) for _ in range(8)]
        selectors = [maker.condition(3) for _ in range(200)]
        rows = db.execute(
            "select pg_temp.evaluate(s.text, %s::jsonb[]) from unnest(%s::text[]) with ordinality s(text, n) order by s.n",
            ([text for text, _ in messages], [selector.text for selector in selectors]),
        ).fetchall()
        for selector, (said,) in zip(selectors, rows, strict=True):
            for (text, headers), got in zip(messages, said, strict=True):
                expected = truth(selector.value(headers))
                assert got is expected, f"seed {seed}: {selector.text} on {text}: {got}, not {expected}"
