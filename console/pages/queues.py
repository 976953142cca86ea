"""The overview, the queues, and one queue."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from ...engine.calls import Rows
from ..database import Work
from ..history import Samples
from .listings import to_queue
from .page import Columns, Shown, number, text

MOST = 100
FIGURES: Columns = (
    ("live", "Waiting"),
    ("in_hand", "In hand"),
    ("parked", "Parked"),
    ("dead", "Dead"),
    ("enqueued", "In"),
    ("dequeued", "Out"),
    ("consumers", "Consumers"),
    ("oldest_age", "Oldest"),
)
COLUMNS: Columns = (("queue_name", "Queue"), *FIGURES)
TOTALS = ("live", "in_hand", "parked", "dead", "enqueued", "dequeued")
CAUSES: Columns = (
    ("error_class", "Error"),
    ("sample_text", "It said"),
    ("sample_queue", "Queue"),
    ("dead", "Dead now"),
    ("incidents", "Failures"),
    ("messages", "Messages"),
    ("first_at", "First"),
    ("last_at", "Last"),
    ("fingerprint", "Cause"),
)
CAUSE_LINKS = {
    "fingerprint": lambda row, link: link("/dead", fingerprint=row["fingerprint"], sample=row["sample_message"]),
    "sample_queue": lambda row, link: link("/queue", name=row["sample_queue"]),
}
QUEUE_ACTS = (
    ("send", "Send"),
    ("pause", "Pause"),
    ("resume", "Resume"),
    ("purge", "Purge"),
)


def totals(rows: Rows) -> dict[str, int]:
    """The figures of all queues together."""
    return {name: sum(row[name] or 0 for row in rows) for name in TOTALS}


def busiest(rows: Rows) -> Rows:
    """The queues with the most to look at first."""
    return sorted(rows, key=lambda row: (-(row["live"] or 0) - (row["dead"] or 0), row["queue_name"]))


def overview(samples: Samples) -> Any:
    """The page with all queues together. samples: what the poller has seen."""

    def page(request: Request, work: Work) -> Shown:
        rows = work.part(work.admin.queue_stats)
        ages = [row["oldest_age"] for row in rows if row["oldest_age"] is not None]
        state = work.part(lambda: [work.admin.resource_state()])
        engine = work.part(lambda: [work.admin.engine_state()])
        return Shown(
            "overview.html",
            {
                "totals": totals(rows),
                "oldest": max(ages, default=None),
                "state": state[0] if state else None,
                "engine": engine[0] if engine else None,
                "curves": samples.curves({row["queue_name"] for row in rows}),
                "rows": busiest(rows)[:20],
                "columns": COLUMNS,
                "links": {"queue_name": to_queue},
                "causes": work.part(lambda: work.admin.poison_causes(max_causes=5)),
                "cause_columns": CAUSES,
                "cause_links": CAUSE_LINKS,
                "advice": work.part(work.admin.check_server),
                "advice_columns": (("setting", "Setting"), ("value", "Value"), ("danger", "Risk"), ("advice", "Do")),
            },
        )

    return page


def queues(request: Request, work: Work) -> Shown:
    """Every queue that the person may browse, a hundred a page."""
    part = text(request, "like") or ""
    rows = sorted(work.admin.queue_stats(), key=lambda row: row["queue_name"])
    rows = [row for row in rows if part.lower() in row["queue_name"].lower()]
    start = max(0, number(request, "start") or 0)
    following = request.url.include_query_params(start=start + MOST)
    return Shown(
        "listing.html",
        {
            "title": "Queues",
            "about": "",
            "hint": f"{len(rows):,} queues. Figures may be estimates; a queue's page says so.",
            "rows": rows[start : start + MOST],
            "columns": COLUMNS,
            "links": {"queue_name": to_queue},
            "empty": "There is no such queue that you may browse. Create one: howdah queue create orders",
            "filters": [("like", "Name contains", part)],
            "live_key": "queue_name",
            "more": f"{following.path}?{following.query}" if len(rows) > start + MOST else None,
        },
    )


def queue(request: Request, work: Work) -> Shown:
    """One queue: figures, leases, and its options with those that are not the default."""
    name = text(request, "name") or ""
    stats = work.admin.queue_stats(name)
    options = work.part(lambda: [work.admin.queue_options(name)])
    defaults = work.part(lambda: [work.admin.default_options()])
    shown = [
        {"option": option, "value": value, "default": defaults[0].get(option) if defaults else None}
        for option, value in sorted((options[0] if options else {}).items())
    ]
    return Shown(
        "queue.html",
        {
            "name": name,
            "stats": stats,
            "figures": (*FIGURES, ("consumed", "Consumed"), ("expired", "Expired"), ("discarded", "Discarded")),
            "acts": QUEUE_ACTS,
            "leases": work.part(
                lambda: work.table("list_leases", "lease, messages, leased_until", queue=("text", name))
            ),
            "lease_columns": (("lease", "Lease"), ("messages", "Messages"), ("leased_until", "Until")),
            "changed": [row for row in shown if row["value"] != row["default"]],
            "options": shown,
            "option_columns": (("option", "Option"), ("value", "Value"), ("default", "Default")),
        },
    )


def causes(request: Request, work: Work) -> Shown:
    """Why messages fail: failures grouped by their cause."""
    name = text(request, "queue")
    return Shown(
        "listing.html",
        {
            "title": "Failures",
            "about": name or "",
            "hint": "Failures with the same class and the same text, but for numbers, have the same cause.",
            "rows": work.admin.poison_causes(name, max_causes=MOST),
            "columns": CAUSES,
            "links": CAUSE_LINKS,
            "empty": "No message has failed. Failures of workers appear here by themselves.",
            "filters": [("queue", "Queue", name or "")],
            "live_key": None,
            "more": None,
        },
    )
