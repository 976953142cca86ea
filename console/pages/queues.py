"""The overview, the queues, and one queue."""

from __future__ import annotations

from starlette.requests import Request

from ..curves import curves
from ..database import Work
from .figures import FIGURES, busiest, of
from .listings import to_queue
from .options import COLUMNS as OPTIONS
from .options import grouped
from .page import Columns, Shown, text
from .state import STATE, state

MOST = 100
#: Queues on the overview, which follows what becomes busy.
BUSIEST = 20
#: Leases on the page of a queue, which leads to the others.
SOME_LEASES = 20
#: Milliseconds for which the overview waits for the causes of failure, which are grouped from all failures.
CAUSES_MS = 250
COLUMNS: Columns = (("queue_name", "Queue"), *FIGURES)
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
    "fingerprint": lambda row, link: link("/dead", fingerprint=row["fingerprint"]),
    "sample_queue": lambda row, link: link("/queue", name=row["sample_queue"]),
}
QUEUE_ACTS = (
    ("send", "Send"),
    ("pause", "Pause"),
    ("resume", "Resume"),
    ("purge", "Purge"),
)


def overview(request: Request, work: Work) -> Shown:
    """The page with all queues together."""
    found = work.part(lambda: [busiest(work, BUSIEST)])
    return Shown(
        "overview.html",
        {
            "found": found[0] if found else None,
            "columns": COLUMNS,
            "links": {"queue_name": to_queue},
            "busiest": BUSIEST,
            "blank": {name: 0 for name, _ in COLUMNS} | {"queue_name": "", "oldest_age": None},
            "curves": curves(request, work),
            "state": state(work),
            "state_columns": STATE,
            "causes": work.quickly(CAUSES_MS, lambda: work.admin.poison_causes(max_causes=5)),
            "cause_columns": CAUSES,
            "cause_links": CAUSE_LINKS,
            "advice": work.part(work.admin.check_server),
            "advice_columns": (("setting", "Setting"), ("value", "Value"), ("danger", "Risk"), ("advice", "Do")),
        },
    )


def queues(request: Request, work: Work) -> Shown:
    """Every queue that the person may browse, a hundred a page."""
    part = text(request, "like")
    names = work.admin.queue_names(part, after=text(request, "after"), limit=MOST + 1)
    found = of(work, names[:MOST])
    following = request.url.include_query_params(after=names[MOST - 1]) if len(names) > MOST else None
    return Shown(
        "listing.html",
        {
            "title": "Queues",
            "about": "",
            "hint": f"{found.number:,} queues that you may browse. {found.said}",
            "asked_at": found.counted_at,
            "rows": found.rows,
            "columns": COLUMNS,
            "links": {"queue_name": to_queue},
            "empty": "There is no such queue that you may browse. Create one: howdah queue create orders",
            "filters": [("like", "Name contains", part or "")],
            "live_key": "queue_name",
            "more": f"{following.path}?{following.query}" if following else None,
        },
    )


def queue(request: Request, work: Work) -> Shown:
    """One queue: figures, leases, and its options with those that are not the default."""
    name = text(request, "name") or ""
    asked = work.admin.queue_figures([name], 0)[0]["asked_at"]
    stats = work.admin.queue_stats(name)
    options = work.part(lambda: [work.admin.queue_options(name)])
    defaults = work.part(lambda: [work.admin.default_options()])
    shown = grouped(options[0] if options else {}, defaults[0] if defaults else None)
    return Shown(
        "queue.html",
        {
            "name": name,
            "stats": stats,
            "asked_at": asked,
            "curves": curves(request, work, name),
            "figures": (*FIGURES, ("consumed", "Consumed"), ("expired", "Expired"), ("discarded", "Discarded")),
            "acts": QUEUE_ACTS,
            "leases": work.part(
                lambda: work.table(
                    "list_leases",
                    "lease, messages, leased_until, consumer",
                    queue=("text", name),
                    max_rows=("integer", SOME_LEASES),
                )
            ),
            "lease_columns": (
                ("lease", "Lease"),
                ("messages", "Messages"),
                ("leased_until", "Until"),
                ("consumer", "Consumer"),
            ),
            "changed": [row for _, rows in shown for row in rows if row["differs"]],
            "changed_columns": OPTIONS[:-1],
            "options": shown,
            "option_columns": OPTIONS,
        },
    )


def causes(request: Request, work: Work) -> Shown:
    """Why messages fail: failures grouped by their cause."""
    name = text(request, "queue")
    rows = work.admin.poison_causes(name, max_causes=MOST + 1)
    return Shown(
        "listing.html",
        {
            "title": "Failures",
            "about": name or "",
            "hint": "Failures with the same class and the same text, but for numbers, have the same cause.",
            "rows": rows[:MOST],
            "first": MOST if len(rows) > MOST else None,
            "columns": CAUSES,
            "links": CAUSE_LINKS,
            "empty": "No message has failed. Failures of workers appear here by themselves.",
            "filters": [("queue", "Queue", name or "")],
            "live_key": None,
            "more": None,
        },
    )
