"""The messages of one trace, in all queues that the person may browse."""

from __future__ import annotations

import json

from starlette.requests import Request

from .. import traces
from ..database import Work
from .page import Columns, Page, Shown, text

MOST = 50
COLUMNS: Columns = (
    ("message_id", "Message"),
    ("queue_name", "Queue"),
    ("source", "Named by"),
    ("state", "State"),
    ("at", "At"),
)


def trace(trace_url: str | None) -> Page:
    """The page of one trace. trace_url: the template of a trace's address."""
    return lambda request, work: _trace(request, work, trace_url)


def _trace(request: Request, work: Work, trace_url: str | None) -> Shown:
    """Who names the trace, and how far the search looked. Raises BadArgument if it is none."""
    given = text(request, "id") or ""
    found = traces.sought(given) or given
    after = text(request, "after")
    *rows, last = work.table(
        "find_trace",
        ", ".join((*(name for name, _ in COLUMNS), "cursor", "looked", "complete")),
        trace_id=("text", found),
        after=("jsonb", after),
        max_rows=("integer", MOST),
    )
    following = request.url.include_query_params(id=found, after=json.dumps(last["cursor"]))
    return Shown(
        "trace.html",
        {
            "id": found,
            "address": traces.address(trace_url, found),
            "rows": rows,
            "columns": COLUMNS,
            "links": {
                "message_id": lambda row, link: link("/message", queue=row["queue_name"], id=row["message_id"]),
                "queue_name": lambda row, link: link("/messages", queue=row["queue_name"]),
            },
            "looked": last["looked"],
            "first": after is None,
            "complete": last["complete"],
            "more": f"{following.path}?{following.query}" if last["cursor"] is not None else None,
        },
    )
