"""Encode bodies and headers for the database: text for str, bytea for bytes, jsonb for the rest."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from ..errors import BadArgument
from .arrays import BytesArray, JsonArray, TextArray
from .typed_map import TypedMap, TypedStream

Body = str | bytes | bytearray | memoryview | dict[str, Any] | list[Any] | int | float | bool

# One encoder for all: json.dumps makes a new one at each call with options.
_encode_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def json_text(value: Any) -> str:
    """Return a value as JSON. Raises BadArgument for what JSON cannot hold."""
    try:
        return _encode_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadArgument(f"a value of type {type(value).__name__} cannot be JSON: {error}") from error


def to_json(value: Any) -> Jsonb:
    """Return a value as jsonb, serialized at once to refuse here what JSON cannot hold. Raises BadArgument."""
    return Jsonb(json_text(value), dumps=str)


def encode(body: Any) -> tuple[str, Any, str | None]:
    """Return a body's SQL type, its value and the content type that it needs."""
    kind, needed = _kind(body)
    if kind == "jsonb":
        return kind, Jsonb(_text(body), dumps=str), needed
    return kind, bytes(body) if kind == "bytea" else body, needed


def encode_all(bodies: Sequence[Any]) -> tuple[str, tuple[Any, ...], str | None]:
    """As encode, for bodies of one kind. Returns the SQL type of their array, the array and the content type."""
    types = set(map(type, bodies))
    if types == {str}:
        return "text[]", TextArray(bodies), None
    if types == {bytes}:
        return "bytea[]", BytesArray(bodies), None
    kinds = {_kind(body) for body in bodies if body is not None} or {("text", None)}
    if len(kinds) > 1:
        names = sorted(needed or kind for kind, needed in kinds)
        raise BadArgument(f"the bodies of one batch must be of one kind, not {' and '.join(names)}")
    ((kind, needed),) = kinds
    if kind == "jsonb":
        return "jsonb[]", JsonArray(None if body is None else _text(body) for body in bodies), needed
    if kind == "bytea":
        return "bytea[]", BytesArray(None if body is None else bytes(body) for body in bodies), needed
    return "text[]", TextArray(bodies), needed


def headers_array(headers: Sequence[Mapping[str, Any] | None]) -> JsonArray:
    """Return the headers of a batch."""
    return JsonArray(None if one is None else json_text(one) for one in headers)


def _kind(body: Any) -> tuple[str, str | None]:
    if body is None or isinstance(body, str):
        return "text", None
    if isinstance(body, bytes | bytearray | memoryview):
        return "bytea", None
    return "jsonb", body.CONTENT_TYPE if isinstance(body, TypedMap | TypedStream) else None


def _text(body: Any) -> str:
    return json_text(body.tagged() if isinstance(body, TypedMap | TypedStream) else body)
