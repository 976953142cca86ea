"""Read files of messages, one a line. A line is a JSON object or, with raw lines, the text of a body."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any
from uuid import UUID

from ..engine.calls.bodies import Body
from ..engine.errors import BadArgument
from .output import complain, is_json

#: Keys of a line and their types. Any other key is an error, so that a misspelt one is not lost silently.
KEYS: dict[str, tuple[type, ...]] = {
    "headers": (dict, type(None)),
    "priority": (int, type(None)),
    "correlation_id": (str, type(None)),
    "message_type": (str, type(None)),
    "reply_to": (str, type(None)),
    "conversation_id": (str, type(None)),
    "content_type": (str, type(None)),
}
#: Keys that only a sent message has. They are ignored, so that the output of receive and browse can be sent again.
LEFT_ASIDE = {
    "message_id",
    "queue",
    "delivery_mode",
    "reliability",
    "sent_at",
    "expires_at",
    "delivery_count",
    "redelivered",
    "position",
    "stage",
    "origin_queue",
    "dead_reason",
    "dead_at",
}
_NAMES = {dict: "a JSON object", int: "a whole number", str: "text", type(None): "null"}


@dataclass(frozen=True, slots=True)
class Line:
    """One message of a file: line number, body, values of KEYS, and size in bytes."""

    number: int
    body: Body
    options: dict[str, Any]
    size: int

    @property
    def kind(self) -> tuple[str, str | None, str | None]:
        """What all lines of one statement must share."""
        kind = "text" if isinstance(self.body, str) else "bytes" if isinstance(self.body, bytes) else "json"
        return kind, self.options.get("reply_to"), self.options.get("content_type")


class BrokenLineError(Exception):
    """A line is not a message. ``number`` counts from 1."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(reason)
        self.number = number


def read(
    stream: IO[bytes], *, raw: bool, start: int, content_type: str | None, advance: Callable[[int], object]
) -> Iterator[Line]:
    """Yield the messages from line ``start`` on. Calls ``advance`` with the bytes read. Raises BrokenLineError.

    Empty JSON lines are skipped; empty raw lines are messages with an empty body. ``content_type`` applies to lines
    that name none. A text declared as JSON must be JSON.
    """
    for number, data in enumerate(stream, 1):
        advance(len(data))
        if number < start:
            continue
        try:
            text = data.decode("utf-8-sig" if number == 1 else "utf-8")
            if raw:
                body: Body = text.removesuffix("\n").removesuffix("\r")
                options: dict[str, Any] = {}
            elif text.strip():
                body, options = _message(text)
            else:
                continue
            if isinstance(body, str):
                check_text(body, options.get("content_type", content_type))
        except UnicodeDecodeError:
            raise BrokenLineError(number, "it is not UTF-8") from None
        except (ValueError, RecursionError) as error:
            raise BrokenLineError(number, _reason(error)) from error
        yield Line(number, body, options, len(data))


def check_text(body: str, content_type: str | None) -> None:
    """Raise BadArgument if the content type says JSON and the text is not JSON."""
    if content_type is not None and is_json(content_type):
        try:
            json.loads(body, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise BadArgument(f"the body is not the JSON that its content type says: {error}") from error


def note_text(body: str, content_type: str | None) -> None:
    """Say so if a body without a content type looks like JSON: receivers get it as text."""
    if content_type is None and _is_json_document(body):
        complain("note: the body looks like JSON and was sent as text; --json-body sends it as JSON")


def _is_json_document(body: str) -> bool:
    """Return whether a text is a JSON object or array, and so probably meant as JSON."""
    if not body.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON: {error.msg} at character {error.pos + 1}"
    if isinstance(error, RecursionError):
        return "its JSON is nested too deep"
    return str(error)


def _message(text: str) -> tuple[Body, dict[str, Any]]:
    """Return body and options of a JSON line. Raises ValueError that says what is wrong."""
    found = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    if not isinstance(found, dict):
        raise BadArgument('it is not a JSON object such as {"body": "…"}')
    given = {name: value for name, value in found.items() if name not in LEFT_ASIDE}
    options = {}
    for name, value in given.items():
        if name in ("body", "body_base64"):
            continue
        if name not in KEYS:
            raise BadArgument(f"there is no key {name!r}; keys are body, body_base64, {', '.join(KEYS)}")
        if not isinstance(value, KEYS[name]) or isinstance(value, bool):
            raise BadArgument(f"{name} must be {_NAMES[KEYS[name][0]]}")
        if value is not None:
            options[name] = UUID(str(value)) if name == "conversation_id" else value
    return _body(given), options


def _body(given: dict[str, Any]) -> Body:
    if ("body" in given) == ("body_base64" in given):
        raise BadArgument("it needs body or body_base64, and not both")
    if "body" not in given:
        try:
            return base64.b64decode(given["body_base64"], validate=True)
        except (TypeError, binascii.Error) as error:
            raise BadArgument(f"body_base64 is not base64: {error}") from error
    body: Body | None = given["body"]
    if body is None:
        raise BadArgument("body cannot be null")
    return body


def _refuse_constant(name: str) -> None:
    raise BadArgument(f"it is not JSON: {name}")


def _unique(found: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(found)
    if len(names) < len(found):
        raise BadArgument("an object has a key twice")
    return names
