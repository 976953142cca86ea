"""A contract: the JSON Schema that bodies sent to a queue or topic must keep to."""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb
from support import Connect, Db, column, one, refused

ORDER = {
    "type": "object",
    "required": ["item"],
    "properties": {"item": {"type": "string", "minLength": 1}, "cups": {"type": "integer", "minimum": 1}},
    "additionalProperties": False,
}


@pytest.fixture
def orders(db: Db) -> str:
    """A queue "orders" with a contract."""
    one(db, "select howdah.create_queue('orders', %s)", (Jsonb({"contract": ORDER}),))
    return "orders"


def violated(db: Db, query: str, params: Any = None) -> str:
    """What the refusal says after the name of the queue."""
    return (refused(db, "HD050", query, params).message_primary or "").partition(": ")[2]


def test_what_keeps_to_it_is_stored_and_what_does_not_is_refused_with_its_path(db: Db, orders: str) -> None:
    one(db, 'select howdah.send(\'orders\', \'{"item": "tea", "cups": 2}\'::jsonb)')
    one(db, 'select howdah.send(\'orders\', \'{"item": "tea", "cups": 2.0}\'::text)')
    for body, says in (
        ('{"cups": 1}', '# lacks the member "item" (required)'),
        ('{"item": 1}', "#/item is number, not string (type)"),
        ('{"item": "tea", "cups": 0}', "#/cups is less than 1 (minimum)"),
        ('{"item": "tea", "cups": 1.5}', "#/cups is number, not integer (type)"),
        ('{"item": "tea", "a/b~c": 1}', "#/a~1b~0c is no member that the contract has (additionalProperties)"),
        ("[]", "# is array, not object (type)"),
        ("tea", "it is no JSON"),
        ('{"item": "\\u0000"}', "it is no JSON that PostgreSQL can hold: unsupported Unicode escape sequence"),
        ('{"item": "\\ud800"}', "it is no JSON"),
        ('{"cups": 1e400000}', "it is no JSON that PostgreSQL can hold: value overflows numeric format"),
        ('{"item": 1, "item": "the last counts", "cups": 1e-400}', "#/cups is number, not integer (type)"),
        ("", "it is no JSON"),
        ("null", "# is null, not object (type)"),
    ):
        assert violated(db, "select howdah.send('orders', %s::text)", (body,)) == says
    assert violated(db, "select howdah.send('orders', 'x'::bytea)") == "it is bytes, and the contract is about JSON"
    assert one(db, "select live from howdah.queue_stats('orders')") == 2


def test_a_batch_is_refused_whole_with_the_number_of_the_body(db: Db, orders: str) -> None:
    said = refused(
        db, "HD050", "select howdah.send_batch('orders', array['{\"item\": \"tea\"}', '{}', '1']::jsonb[])"
    ).message_primary
    assert said == """body 2 does not keep to the contract of 'orders': # lacks the member "item" (required)"""
    assert one(db, "select live from howdah.queue_stats('orders')") == 0


SENDS = [
    "select howdah.send('orders', '{}'::jsonb)",
    "select howdah.send('orders', '{}'::jsonb, headers => '{\"a\": 1}', priority => 7)",
    "select howdah.send('orders', '{}'::jsonb, delay => '1 hour')",
    "select howdah.send('orders', '{}'::jsonb, deduplication_key => 'k')",
    "select howdah.send('orders', '{}'::jsonb, delivery_mode => 'non-persistent')",
    "select howdah.send('orders', '{}'::jsonb, reliability => 'BEST_EFFORT_NONPERSISTENT')",
    "select howdah.send('orders', '{}'::jsonb, reliability => 'RELIABLE_PERSISTENT')",
    "select howdah.send('orders', to_jsonb(repeat('x', 100000)))",
    "select howdah.send('plain,orders', '{}'::jsonb)",
    "select howdah.send('other', '{}'::jsonb)",
    "select howdah.send('topic', '{}'::jsonb)",
    "select howdah.send('bridged', '{}'::jsonb)",
    "select howdah.send_batch('orders', array['{}']::jsonb[], priorities => array[1])",
    "select howdah.send_batch('topic', array['{}']::jsonb[])",
    "select howdah.send_batch('orders', array['{}']::jsonb[], reliability => 'BEST_EFFORT_NONPERSISTENT')",
    "select howdah.respond('orders', '{}'::jsonb)",
    "select howdah.send_by_hand('orders', '{}', reason => 'why')",
]


@pytest.mark.parametrize("send", SENDS)
def test_every_way_in_is_checked(db: Db, orders: str, send: str) -> None:
    one(db, "select howdah.create_queue('plain'), howdah.create_alias('other', 'orders')")
    one(db, "select howdah.create_topic('topic', %s), howdah.create_topic('bridged')", (Jsonb({"contract": ORDER}),))
    one(db, "select howdah.subscribe('topic', 's'), howdah.bridge('bridged', 'orders')")
    assert violated(db, send).startswith("#")
    assert column(db, "select howdah.browse(name) from (values ('orders'), ('plain'), ('topic::s')) q(name)") == []


def test_a_contract_holds_for_the_first_send_after_it_and_ends_with_null(db: Db, connect: Connect) -> None:
    producer = connect("howdah_producer")
    one(db, "select howdah.create_queue('q')")
    one(producer, "select howdah.send('q', 'any'::text)")
    one(db, 'select howdah.alter_queue(\'q\', \'{"contract": {"type": "object"}}\')')
    violated(producer, "select howdah.send('q', 'any'::text)")
    assert one(db, "select howdah.queue_options('q') -> 'contract'") == {"type": "object"}
    one(db, "select howdah.alter_queue('q', '{\"contract\": null}')")
    one(producer, "select howdah.send('q', 'any'::text)")
    one(db, "select howdah.undo_change((select max(change_id) from howdah.list_changes()))")
    violated(producer, "select howdah.send('q', 'any'::text)")


def test_what_is_in_the_queue_already_stays_and_is_received(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send('q', 'any'::text)")
    one(db, "select howdah.alter_queue('q', '{\"contract\": false}')")
    assert column(db, "select body from howdah.receive('q')") == ["any"]


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"pattern": "a"}, "#/pattern is a keyword that contracts do not have"),
        ({"properties": {"a": {"format": "date"}}}, "#/properties/a/format is a keyword that contracts do not have"),
        ({"type": []}, "#/type cannot be []"),
        ({"type": "text"}, '#/type cannot be "text"'),
        ({"minLength": -1}, "#/minLength cannot be -1"),
        ({"multipleOf": 0}, "#/multipleOf cannot be 0"),
        ({"required": [1]}, "#/required cannot be [1]"),
        ({"allOf": []}, "#/allOf cannot be []"),
        ({"items": 1}, "#/items is no schema: an object, true or false"),
        ({"$ref": "#/$defs/a"}, '#/$ref cannot be "#/$defs/a"'),
        ({"$ref": "https://example.org"}, '#/$ref cannot be "https://example.org"'),
        ({"$ref": "#/$defs/a/b", "$defs": {"a/b": True}}, '#/$ref cannot be "#/$defs/a/b"'),
        ({"$ref": "#/$defs/a~b", "$defs": {"a~b": True}}, '#/$ref cannot be "#/$defs/a~b"'),
        ({"$ref": "#"}, "# refers to itself without a step into the value"),
        (
            {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}},
            "refers to itself without a step into the value",
        ),
        ({"title": "x" * 70000}, "it has more than 65,536 characters"),
    ],
)
def test_a_schema_that_cannot_be_one_is_refused(db: Db, schema: dict[str, Any], says: str) -> None:
    said = refused(db, "HD004", "select howdah.create_queue('q', %s)", (Jsonb({"contract": schema}),)).message_primary
    assert says in (said or "")


def test_a_schema_of_forty_levels_is_refused(db: Db) -> None:
    schema: dict[str, Any] = {}
    for _ in range(40):
        schema = {"items": schema}
    said = refused(db, "HD004", "select howdah.create_queue('q', %s)", (Jsonb({"contract": schema}),)).message_primary
    assert "more than 30 schemas deep" in (said or "")


def test_a_recursive_schema_follows_the_value_until_it_is_too_deep(db: Db) -> None:
    tree = {"type": "object", "properties": {"below": {"$ref": "#"}}, "required": ["name"]}
    one(db, "select howdah.create_queue('q', %s)", (Jsonb({"contract": tree}),))
    one(db, 'select howdah.send(\'q\', \'{"name": 1, "below": {"name": 2}}\'::jsonb)')
    assert violated(db, "select howdah.send('q', '{\"name\": 1, \"below\": {}}'::jsonb)") == (
        '#/below lacks the member "name" (required)'
    )
    deep: dict[str, Any] = {"name": 0}
    for _ in range(150):
        deep = {"name": 0, "below": deep}
    assert violated(db, "select howdah.send('q', %s::jsonb)", (json.dumps(deep),)).endswith("is nested too deeply")


@pytest.mark.parametrize("key", ["not", "if", "oneOf", "contains"])
def test_what_is_nested_too_deeply_is_refused_whatever_turns_a_fault_round(db: Db, key: str) -> None:
    lists = {"type": "array", "items": {"$ref": "#/$defs/l"}}
    inner = {"$ref": "#/$defs/l"}
    schema = {"$defs": {"l": lists}, key: [inner, True] if key == "oneOf" else inner}
    one(db, "select howdah.create_queue('q', %s)", (Jsonb({"contract": schema}),))
    assert violated(db, "select howdah.send('q', %s::text)", ("[" * 150 + "]" * 150,)).endswith("nested too deeply")


def test_a_long_chain_of_references_is_followed_once(db: Db) -> None:
    chain = {"allOf": [{"type": "object", "properties": {"a": {"$ref": "#"}}}]}
    one(db, "select howdah.create_queue('q', %s)", (Jsonb({"contract": chain}),))
    db.execute("set statement_timeout = '4s'")
    assert violated(db, "select howdah.send('q', %s::text)", ('{"a":' * 40 + "1" + "}" * 40,)).endswith("(type)")


@pytest.mark.slow
def test_a_check_that_takes_too_long_is_refused(db: Db) -> None:
    schema: dict[str, Any] = {"$ref": "#/$defs/a0", "$defs": {}}
    for n in range(25):
        schema["$defs"][f"a{n}"] = {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} if n < 24 else True
    one(db, "select howdah.create_queue('q', %s)", (Jsonb({"contract": schema}),))
    assert violated(db, "select howdah.send('q', '1'::text)") == "its check takes more than five seconds"


def test_a_reference_names_keys_with_a_slash(db: Db) -> None:
    schema = {"$ref": "#/$defs/a~1b~0c", "$defs": {"a/b~c": {"type": "null"}}}
    one(db, "select howdah.create_queue('q', %s)", (Jsonb({"contract": schema}),))
    assert violated(db, "select howdah.send('q', '1'::text)") == "# is number, not null (type)"


def test_a_subscription_has_none(db: Db) -> None:
    one(db, "select howdah.create_topic('t')")
    refused(db, "HD004", "select howdah.subscribe('t', 's', options => '{\"contract\": true}')")


SUITE = sorted((Path(__file__).parents[2] / "build").glob("jsonschema-*.tar.gz"))
"""The library jsonschema as source, which brings the official JSON Schema Test Suite along."""


@pytest.mark.skipif(
    not SUITE, reason="no JSON Schema Test Suite: pip download --no-deps --no-binary :all: -d build jsonschema"
)
def test_the_official_test_suite_agrees_about_all_keywords_that_contracts_have(db: Db) -> None:
    refused_groups, refusals, checked, wrong = [], set(), 0, []
    with tarfile.open(SUITE[-1]) as archive:
        for member in archive.getmembers():
            name = re.fullmatch(r".*/json/tests/draft2020-12/(\w[^/]*)\.json", member.name)
            file = archive.extractfile(member) if name else None
            if name is None or file is None:
                continue
            for group in json.load(file):
                if "\\u0000" in json.dumps(group):  # PostgreSQL's JSON cannot hold it
                    continue
                try:
                    one(db, "select howdah._check_schema(%s)", (Jsonb(group["schema"]),))
                except psycopg.Error as error:
                    refusals.add(error.sqlstate)
                    refused_groups.append(name[1])
                    continue
                for case in group["tests"]:
                    fault = one(
                        db,
                        "select howdah._contract_fault(s, v, s, '#', 0, 'infinity')"
                        " from (values (%s::jsonb, %s::jsonb)) t(s, v)",
                        (Jsonb(group["schema"]), Jsonb(case["data"])),
                    )
                    checked += 1
                    if (fault is None) != case["valid"]:
                        wrong.append((name[1], group["description"], case["description"], fault))
    assert refusals == {"HD004"}
    assert wrong == []
    assert checked > 700
    whole = {"additionalProperties", "allOf", "anyOf", "const", "contains", "enum", "items", "maximum", "minLength"}
    print(f"{checked} cases agree; groups refused: {sorted(set(refused_groups))}")
    assert whole - set(refused_groups) >= {"const", "enum", "maximum", "minLength"}
