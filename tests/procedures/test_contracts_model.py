"""Random schemas and documents: contracts and the library jsonschema must agree."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import jsonschema
import psycopg
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb
from support import Db

EXAMPLES = int(os.environ.get("HOWDAH_TEST_SCHEMAS", "60"))

NAMES = st.sampled_from(["a", "b", "", "a/b", "~0", "ä"])
# Fractions are binary, for jsonschema computes multipleOf in floating point.
NUMBERS = st.integers(-3, 4) | st.sampled_from([1.0, 2.0, -0.5, 0.25, 1e30, 10**25, 2**70 + 1])
TEXTS = st.sampled_from(["", "a", "ab", "ä\U0001f600", "e\u0301"])
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
COUNTS = st.sampled_from([0, 1, 2, 3, 2.0])
TYPES = st.sampled_from(["null", "boolean", "object", "array", "number", "integer", "string"])
NAME_LISTS = st.lists(NAMES, max_size=2, unique=True)


def keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """An object of some of the keywords."""
    many = st.lists(inner, min_size=1, max_size=3)
    members = st.dictionaries(NAMES, inner, max_size=3)
    usual: dict[str, st.SearchStrategy[Any]] = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(DOCUMENTS, min_size=1, max_size=4),
        "const": DOCUMENTS,
        "multipleOf": st.sampled_from([1, 2, 0.5, 0.25, 3]),
        "items": inner,
        "contains": inner,
        "prefixItems": many,
        "uniqueItems": st.booleans(),
        "properties": members,
        "dependentSchemas": members,
        "additionalProperties": inner,
        "propertyNames": inner,
        "required": NAME_LISTS,
        "dependentRequired": st.dictionaries(NAMES, NAME_LISTS, max_size=2),
        "$ref": st.sampled_from(["#", "#/$defs/a", "#/$defs/a~1b"]),
        "title": st.just("for readers"),
    }
    usual |= dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), NUMBERS)
    usual |= dict.fromkeys(("allOf", "anyOf", "oneOf"), many)
    usual |= dict.fromkeys(("not", "if", "then", "else"), inner)
    counted = ("Length", "Items", "Properties", "Contains")
    usual |= dict.fromkeys([end + what for end in ("min", "max") for what in counted], COUNTS)
    return st.lists(st.sampled_from(sorted(usual)), min_size=1, max_size=4, unique=True).flatmap(
        lambda chosen: st.fixed_dictionaries({name: usual[name] for name in chosen})
    )


SCHEMAS = st.recursive(st.booleans() | keywords(st.booleans()), keywords, max_leaves=6)
CONTRACTS = st.builds(lambda schema, a, b: schema | {"$defs": {"a": a, "a/b": b}}, keywords(SCHEMAS), SCHEMAS, SCHEMAS)


def found(document: Any, pointer: str) -> Any:
    """What a JSON Pointer leads to; an error if it leads nowhere."""
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        document = document[int(key) if isinstance(document, list) else key]
    return document


def test_contracts_agree_with_the_library_jsonschema(db: Db) -> None:
    """Both about which documents keep to a schema, and the pointer of a fault leads to a value of the document."""

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
    @given(CONTRACTS, st.lists(DOCUMENTS, min_size=6, max_size=6))
    def agree(contract: dict[str, Any], documents: list[Any]) -> None:
        try:
            db.execute("select howdah._check_schema(%s)", (Jsonb(contract),))
            refusal = None
        except psycopg.Error as error:
            refusal = str(error)
        if refusal is not None:
            event("refused")
            assert "refers to itself without a step into the value" in refusal
            return
        row = db.execute(
            """select array(select coalesce(howdah._contract_fault(s, d.value, s, '#', 0, 'infinity'), '')
                            from jsonb_array_elements(%s) with ordinality d(value, n) order by d.n)
               from (select %s::jsonb as s) t""",
            (Jsonb(documents), Jsonb(contract)),
        ).fetchone()
        validator = jsonschema.Draft202012Validator(contract)
        for document, fault in zip(documents, row[0] if row else [], strict=True):
            keeps = validator.is_valid(document)
            event(f"keeps: {keeps}")
            assert (fault == "") == keeps, (json.dumps(contract), json.dumps(document), fault)
            if fault:
                found(document, (re.match(r"#\S*", fault) or [""])[0])

    agree()
