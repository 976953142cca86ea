"""Bodies whose values keep their types, by name or in order, as JMS's MapMessage and StreamMessage have them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any, Self
from uuid import UUID

from ..errors import BadArgument

#: Tag of a type, how a value of it becomes JSON, and how it comes back. bool stands before int, whose subclass it is.
_TYPES: tuple[tuple[str, type, Callable[[Any], Any], Callable[[Any], Any]], ...] = (
    ("boolean", bool, bool, bool),
    ("long", int, int, int),
    ("double", float, float, float),
    ("string", str, str, str),
    (
        "bytes",
        bytes,
        lambda value: base64.b64encode(value).decode(),
        lambda text: base64.b64decode(text, validate=True),
    ),
    ("decimal", Decimal, str, Decimal),
    ("timestamp", datetime, datetime.isoformat, datetime.fromisoformat),
    ("uuid", UUID, str, UUID),
    ("null", type(None), lambda value: value, lambda value: None),
)

_BACK = {tag: back for tag, _, _, back in _TYPES}
_WRONG = (AttributeError, KeyError, TypeError, ValueError, ArithmeticError, binascii.Error)


class TypedMap(dict[str, Any]):
    """Names and values; sent as a body, it comes back from ``Message.data`` with the same types.

    In the database it is JSON, {"price": ["double", 65.2]}, that any client can read. A plain dict is plain JSON, in
    which 65.0 and 65, or bytes and text, may come back as one another.
    """

    CONTENT_TYPE = "application/vnd.howdah.map+json"

    def tagged(self) -> dict[str, list[Any]]:
        """The JSON form. Raises BadArgument for a name that is no string and for a value of another type."""
        return {_name(name): _tag(name, value) for name, value in self.items()}

    @classmethod
    def from_tagged(cls, tagged: Any) -> Self:
        """From the JSON form. Raises BadArgument if it is not that."""
        try:
            return cls({name: _BACK[tag](value) for name, (tag, value) in tagged.items()})
        except _WRONG as error:
            raise BadArgument(f"this is not a typed map: {error!r}") from error


class TypedStream(list[Any]):
    """Values in order; sent as a body, it comes back from ``Message.data`` with the same types.

    In the database it is JSON, [["double", 65.2], ["string", "IBM"]]. A plain list is plain JSON.
    """

    CONTENT_TYPE = "application/vnd.howdah.stream+json"

    def tagged(self) -> list[list[Any]]:
        """The JSON form. Raises BadArgument for a value of another type."""
        return [_tag(f"value {number}", value) for number, value in enumerate(self)]

    @classmethod
    def from_tagged(cls, tagged: Any) -> Self:
        """From the JSON form. Raises BadArgument if it is not that."""
        try:
            return cls(_BACK[tag](value) for tag, value in tagged)
        except _WRONG as error:
            raise BadArgument(f"this is not a typed stream: {error!r}") from error


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise BadArgument(f"names in a typed map are strings, not {name!r}")
    return name


def _tag(name: str, value: Any) -> list[Any]:
    for tag, kind, to_json, _ in _TYPES:
        if isinstance(value, kind):
            return [tag, to_json(value)]
    known = ", ".join(kind.__name__ for _, kind, _, _ in _TYPES)
    raise BadArgument(f"{name} of a typed body is of type {type(value).__name__}", f"Known are: {known}.")
