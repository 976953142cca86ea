"""Links to where traces are kept, by the template that the console was started with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ..engine.tracing.headers import trace_id_of

PLACE = "{trace_id}"
_ID = re.compile("[0-9a-f]{32}")
_PASTED = re.compile("(?:traceparent[:=] ?)?(?:[0-9a-f]{2}-)?([0-9a-f]{32})(?:-[0-9a-f]{16}-[0-9a-f]{2})?")


def checked(template: str | None) -> str | None:
    """The template of a trace's address, if it is one. Raises ValueError."""
    if template is None:
        return None
    parts = urlsplit(template)
    if parts.scheme not in ("http", "https") or not parts.netloc or PLACE not in template:
        raise ValueError(f"a trace's address begins with http:// or https:// and holds {PLACE}")
    if PLACE in parts.netloc:
        raise ValueError("the host of a trace's address cannot depend on the trace")
    return template


def address(template: str | None, trace_id: str) -> str | None:
    """Where a trace is shown. None: nobody said where."""
    return None if template is None else template.replace(PLACE, trace_id)


def of_headers(headers: Mapping[str, Any] | None) -> str | None:
    """The trace of a message's sender, by its header traceparent."""
    return trace_id_of(headers)


def sought(given: str) -> str | None:
    """The id of a trace in a pasted text, alone or in a header traceparent. None: it is neither."""
    found = _PASTED.fullmatch(given.strip().lower())
    return found[1] if found else None


def of_incident(details: Mapping[str, Any] | None) -> str | None:
    """The trace in which a handler failed, as its incident notes it. None: that is no id of a trace."""
    noted = (details or {}).get("details")
    found = noted.get("trace_id") if isinstance(noted, Mapping) else None
    return found if isinstance(found, str) and _ID.fullmatch(found) else None
