"""The headers that carry a trace's context. They are read without a library: a failure notes its trace in any case."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..calls.message import Message

TRACEPARENT, TRACESTATE, BAGGAGE = "traceparent", "tracestate", "baggage"
CONTEXT = (TRACEPARENT, TRACESTATE, BAGGAGE)

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")


def readable(message: Message) -> dict[str, Any]:
    """Return the headers of a message: none if Python cannot decode them, such as JSON that is nested too deeply."""
    try:
        return message.headers
    except (ValueError, RecursionError):
        return {}


def carried_by(headers: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the headers of a message that carry context. Only texts count."""
    found = {name: headers.get(name) for name in CONTEXT} if headers else {}
    return {name: value for name, value in found.items() if isinstance(value, str)}


def joined(headers: Mapping[str, Any] | None, context: Mapping[str, str]) -> dict[str, Any]:
    """Headers with a context. What the sender set stays, and a state is not put beside a parent of another trace."""
    own = dict(headers or {})
    if TRACEPARENT in own:
        context = {name: value for name, value in context.items() if name == BAGGAGE}
    return {**context, **own}


def trace_id_of(headers: Mapping[str, Any] | None) -> str | None:
    """Return the trace that a message's sender named. None: there is none that W3C's rules accept."""
    value = headers.get(TRACEPARENT) if headers else None
    found = _TRACEPARENT.fullmatch(value) if isinstance(value, str) else None
    return None if found is None else found[1]
