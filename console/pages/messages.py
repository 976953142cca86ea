"""Messages of a queue, found by a filter, and one message with its history."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from starlette.requests import Request

from ...engine.errors import BadArgument
from .. import traces
from ..database import Work
from ..showing import visible
from ..times import moment
from .kept import kept_message
from .page import Columns, Page, Shown, number, text

MOST = 50
STATES = ("ready", "delayed", "leased", "parked", "dead", "expired")
TEXTS = ("selector", "body", "group", "cause", "error_class", "origin", "trace", "sent_after", "sent_before")
FIELDS: Columns = (
    ("selector", "Selector"),
    ("header", "Header (name=value)"),
    ("body", "Body contains"),
    ("min_priority", "Priority from"),
    ("group", "Group"),
    ("trace", "Trace"),
    ("cause", "Cause"),
    ("error_class", "Error class"),
    ("sent_after", "Sent after"),
    ("sent_before", "Sent before"),
)
COLUMNS: Columns = (
    ("message_id", "Message"),
    ("state", "State"),
    ("priority", "Priority"),
    ("sent_at", "Sent"),
    ("message_group", "Group"),
    ("attempts", "Failures"),
    ("body", "Body"),
)
FIGURES: Columns = (
    ("state", "State"),
    ("priority", "Priority"),
    ("sent_at", "Sent"),
    ("expires_at", "Expires"),
    ("due_at", "Due"),
    ("parked_reason", "Waits because"),
    ("attempts", "Failures"),
    ("message_group", "Group"),
    ("content_type", "Content type"),
    ("message_type", "Type"),
    ("correlation_id", "Correlation"),
    ("reply_to", "Reply to"),
    ("delivery_mode", "Delivery"),
    ("origin_queue", "Died in"),
    ("dead_reason", "Died because"),
    ("dead_at", "Died"),
)
ACTS = (("retry", "Retry"), ("replay", "Replay"), ("move", "Move"), ("park", "Park"), ("discard", "Discard"))
FOUND = (
    "message_id, state, priority, sent_at, message_group, attempts, headers, body, body_type, cursor, looked, complete"
)
MESSAGE = "body, body_type, body_bytes, headers, redacted, " + ", ".join(name for name, _ in FIGURES)
HISTORY = "at, source, event, queue_name, other_queue, actor, reason, details, looked, complete"


def filter_of(request: Request) -> dict[str, Any]:
    """The filter of the URL, as ``find_messages`` reads it. Raises BadArgument rather than ignore a part of it."""
    found: dict[str, Any] = {name: text(request, name) for name in (*TEXTS, "state")}
    header = text(request, "header")
    if header is not None:
        name, equals, value = header.partition("=")
        if not equals:
            raise BadArgument(f"{header!r} names no header and value", "Write it as name=value.")
        found["header"] = {name: value}
    found["min_priority"] = number(request, "min_priority")
    if found["min_priority"] is None and text(request, "min_priority") is not None:
        raise BadArgument("the priority is no whole number", "Write 0 to 9.")
    for name in ("sent_after", "sent_before"):
        moment(found[name])
    return {name: value for name, value in found.items() if value is not None}


def messages(request: Request, work: Work) -> Shown:
    """Messages that fit a filter, and how far the search looked."""
    queue = text(request, "queue")
    given = filter_of(request)
    rows, last = [], {"looked": 0, "complete": True, "cursor": None}
    if queue:
        *rows, last = work.table(
            "find_messages",
            FOUND,
            queue=("text", queue),
            filter=("jsonb", json.dumps(given)),
            after=("jsonb", text(request, "after")),
            max_rows=("integer", MOST),
        )
    following = request.url.include_query_params(after=json.dumps(last["cursor"]))
    return Shown(
        "messages.html",
        {
            "queue": queue or "",
            "states": STATES,
            "given": {name: text(request, name) or "" for name, _ in (*FIELDS, ("state", ""))},
            "fields": FIELDS,
            "filter": json.dumps(given),
            "rows": rows,
            "columns": COLUMNS,
            "links": {"message_id": lambda row, link: link("/message", queue=queue, id=row["message_id"])},
            "looked": last["looked"],
            "complete": last["complete"],
            "more": f"{following.path}?{following.query}" if last["cursor"] is not None else None,
            "acts": ACTS,
        },
    )


def message(trace_url: str | None) -> Page:
    """The page of one message. trace_url: the template of a trace's address."""
    return lambda request, work: _message(request, work, trace_url)


def _message(request: Request, work: Work, trace_url: str | None) -> Shown:
    """One message, redacted by the server, and all that is on record of it."""
    queue, found_id = text(request, "queue") or "", number(request, "id") or 0
    arguments = {"queue": ("text", queue), "message_id": ("bigint", found_id)}
    found = work.table("show_message", MESSAGE, **arguments)
    history = work.part(lambda: work.table("message_history", HISTORY, **arguments))
    row = found[0] if found else None
    kept = None if row else kept_message(work, queue, found_id)
    if kept:
        row = {**dict.fromkeys((*(name for name, _ in FIGURES), "redacted")), **kept}
    sender = traces.of_headers(row["headers"]) if row else None
    events = [_traced(one, trace_url) for one in history if one["at"] is not None]
    return Shown(
        "message.html",
        {
            "queue": queue,
            "id": found_id,
            "found": row,
            "figures": (*FIGURES, ("kept_until", "Kept until")) if kept else FIGURES,
            "kind": row["body_type"] if row else "",
            "body": _body(row) if row else "",
            "headers": [{"name": name, "value": value} for name, value in ((row or {}).get("headers") or {}).items()],
            "history": events,
            "looked": next((one["looked"] for one in history if one["complete"] is False), None),
            "trace_id": sender,
            "trace": traces.address(trace_url, sender) if sender else None,
            "acts": _acts(row, kept),
            "named_by": "target" if kept else "id",
        },
    )


def _acts(row: dict[str, Any] | None, kept: dict[str, Any] | None) -> tuple[tuple[str, str], ...]:
    if kept:
        return ("replay-kept", "Replay"), ("delete-kept", "Delete")
    return ACTS if row and row["state"] != "dead" else (*ACTS, ("edit", "Edit and replay"))


def _traced(event: dict[str, Any], trace_url: str | None) -> dict[str, Any]:
    """An event of the history, with the trace in which the handler failed."""
    found = traces.of_incident(event["details"])
    return {**event, "trace_id": found, "trace": traces.address(trace_url, found) if found else None}


def _body(row: dict[str, Any]) -> str:
    body: str = row["body"] or ""
    if row["body_type"] == "json" and len(body) < 100_000:
        with suppress(ValueError, RecursionError):
            body = json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    return visible(body)
