"""Maps, lists and single values, as they stand in properties and in bodies of maps and streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .reader import OpenWireError, Reader

#: Maps and lists may hold one another; nobody nests them so deep in earnest.
DEPTH_MAX = 50


def _map(reader: Reader, depth: int) -> dict[str, Any] | None:
    size = reader.number("i")
    if size < 0:
        return None
    return {reader.text(): value(reader, depth + 1) for _ in range(size)}


def _list(reader: Reader, depth: int) -> list[Any]:
    return [value(reader, depth + 1) for _ in range(reader.number("i"))]


#: By the byte that stands before a value.
_TYPES: dict[int, Callable[[Reader, int], Any]] = {
    0: lambda reader, depth: None,
    1: lambda reader, depth: reader.boolean(),
    2: lambda reader, depth: reader.number("b"),
    3: lambda reader, depth: chr(reader.number("H")),
    4: lambda reader, depth: reader.number("h"),
    5: lambda reader, depth: reader.number("i"),
    6: lambda reader, depth: reader.number("q"),
    7: lambda reader, depth: reader.real("d"),
    8: lambda reader, depth: reader.real("f"),
    9: lambda reader, depth: reader.text(),
    10: lambda reader, depth: reader.take(reader.number("i")),
    11: _map,
    12: _list,
    13: lambda reader, depth: reader.text("i"),
}


def value(reader: Reader, depth: int = 0) -> Any:
    """Return the next value, of the type that its first byte says. Raises OpenWireError."""
    kind = reader.number("b")
    if kind not in _TYPES or depth > DEPTH_MAX:
        raise OpenWireError(f"unknown type {kind} of a value" if kind not in _TYPES else "values are nested too deep")
    return _TYPES[kind](reader, depth)


def named(data: bytes | None) -> dict[str, Any]:
    """Return the names and values of a map. Raises OpenWireError."""
    return {} if data is None else _map(Reader(data), 0) or {}


def ordered(data: bytes | None) -> list[Any]:
    """Return the values of a stream. Raises OpenWireError."""
    reader = Reader(data or b"")
    values = []
    while reader.left:
        values.append(value(reader))
    return values
