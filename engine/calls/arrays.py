"""Arrays of texts, bytes and JSON in PostgreSQL's binary format, encoded at once.

psycopg looks at the elements of a list one by one. For a batch of 1,000 bodies that took as long as the server needs to
store them.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.abc import AdaptContext
from psycopg.adapt import Dumper

_HEADER = struct.Struct("!iiIii")
_EMPTY = struct.Struct("!iiI")
_length = struct.Struct("!i").pack
_NULL = _length(-1)
_JSONB_VERSION = b"\x01"


class TextArray(tuple[str | None, ...]):
    """Becomes text[]."""

    __slots__ = ()


class JsonArray(tuple[str | None, ...]):
    """JSON texts; becomes jsonb[]."""

    __slots__ = ()


class BytesArray(tuple[bytes | None, ...]):
    """Becomes bytea[]."""

    __slots__ = ()


class _ArrayDumper(Dumper):
    """For arrays of bytes, and the base of the others."""

    format = psycopg.pq.Format.BINARY
    oid = psycopg.adapters.types["bytea"].array_oid
    _element = psycopg.adapters.types["bytea"].oid

    def __init__(self, cls: type, context: AdaptContext | None = None) -> None:
        super().__init__(cls, context)
        self._encoding = self.connection.info.encoding if self.connection else "utf-8"

    def dump(self, obj: Any) -> bytes:
        if not obj:
            return _EMPTY.pack(0, 0, self._element)
        elements = self._elements(obj)
        if None in obj:
            parts = [part for e in elements for part in ((_NULL,) if e is None else (_length(len(e)), e))]
        else:
            parts = [b""] * (2 * len(elements))
            parts[::2] = [_length(len(e)) for e in elements]  # type: ignore[arg-type]
            parts[1::2] = elements  # type: ignore[assignment]
        return _HEADER.pack(1, None in obj, self._element, len(elements), 1) + b"".join(parts)

    def _elements(self, values: Sequence[Any]) -> Sequence[bytes | None]:
        return values


class _TextArrayDumper(_ArrayDumper):
    oid = psycopg.adapters.types["text"].array_oid
    _element = psycopg.adapters.types["text"].oid

    def _elements(self, values: Sequence[str | None]) -> Sequence[bytes | None]:
        encoding = self._encoding
        elements = [None if value is None else value.encode(encoding) for value in values]
        if any(b"\0" in element for element in elements if element):
            raise psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
        return elements


class _JsonArrayDumper(_ArrayDumper):
    oid = psycopg.adapters.types["jsonb"].array_oid
    _element = psycopg.adapters.types["jsonb"].oid

    def _elements(self, values: Sequence[str | None]) -> Sequence[bytes | None]:
        encoding = self._encoding
        return [None if value is None else _JSONB_VERSION + value.encode(encoding) for value in values]


_DUMPERS: dict[type, type[Dumper]] = {
    TextArray: _TextArrayDumper,
    JsonArray: _JsonArrayDumper,
    BytesArray: _ArrayDumper,
}


def with_arrays(cursor: psycopg.Cursor[Any] | psycopg.AsyncCursor[Any]) -> None:
    """Let a cursor take these arrays as arguments, and answer in the binary format."""
    cursor.format = psycopg.pq.Format.BINARY
    for kind, dumper in _DUMPERS.items():
        cursor.adapters.register_dumper(kind, dumper)
