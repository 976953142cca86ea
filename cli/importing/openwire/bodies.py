"""The body of a stored message as a body here: its bytes, whether they are text, and the content type."""

from __future__ import annotations

import json
import math
import zlib
from typing import Any

from ....engine import TypedMap, TypedStream
from ....engine.errors import BadArgument
from .messages import StoredMessage
from .reader import OpenWireError, Reader
from .values import named, ordered

OBJECT = "application/x-java-serialized-object"
#: PostgreSQL stores no larger value.
BYTES_MAX = 1 << 30

Body = tuple[bytes, bool, str]


def body(message: StoredMessage) -> Body:
    """Return the body. Raises OpenWireError."""
    content = _inflated(message)
    match message.kind:
        case "text message":
            text = Reader(content).text("i") if content else ""
            # A text cannot hold a NUL in PostgreSQL: as bytes it comes over whole.
            return _utf8(text), "\0" not in text, "text/plain" if "\0" not in text else "text/plain; charset=utf-8"
        case "bytes message":
            return content, False, "application/octet-stream"
        case "object message":
            return content, False, OBJECT
        case "map message":
            return _tagged(TypedMap(named(content or None)))
        case "stream message":
            return _tagged(TypedStream(ordered(content)))
        case "message":
            return b"", True, "text/plain"
    raise OpenWireError("the body of a blob message lies outside the broker")


def _inflated(message: StoredMessage) -> bytes:
    content = message.content
    if not content or not message.compressed:
        return content or b""
    length = None
    if message.kind == "bytes message":
        # The length of the body. The broker compresses its whole buffer, and what follows the body is rubbish.
        length, content = Reader(content).number("i"), content[4:]
    inflater = zlib.decompressobj()
    try:
        whole = inflater.decompress(content, BYTES_MAX)
    except zlib.error as error:
        raise OpenWireError(f"its compressed body cannot be read: {error}") from error
    if not inflater.eof:
        raise OpenWireError("its compressed body is too large, or its end is missing")
    return whole[:length]


def _tagged(values: TypedMap | TypedStream) -> Body:
    """Return a typed map or stream. Maps or lists within make it plain JSON: a typed one cannot hold them."""
    try:
        plain, content_type = values.tagged(), values.CONTENT_TYPE
        return _utf8(json.dumps(plain, ensure_ascii=False, allow_nan=False)), True, content_type
    except (BadArgument, ValueError):
        return _utf8(json.dumps(as_json(values), ensure_ascii=False)), True, "application/json"


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise OpenWireError("a text holds half of a letter (a lone surrogate)") from error


def as_json(value: Any) -> Any:
    """Return a value of properties as JSON has it: what JSON lacks is text."""
    match value:
        case bytes():
            return value.hex()
        case float() if not math.isfinite(value):
            return str(value)
        case dict():
            return {name: as_json(each) for name, each in value.items()}
        case list():
            return [as_json(each) for each in value]
    return value
