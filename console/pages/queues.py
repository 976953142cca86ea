"""The overview, the queues, and one queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request

from ..acts import ACTS
from ..curves import curves
from ..database import Work
from ..rights import offered
from ..showing import brief
from .figures import FIGURES, KEPT, busiest, of
from .listings import to_queue
from .options import COLUMNS as OPTIONS
from .options import grouped
from .page import Columns, Link, Shown, number, text
from .state import STATE, state

MOST = 100
#: How many queues the overview has. It follows what becomes busy.
BUSIEST = 20
#: How many leases the page of a queue has. It links to the others.
SOME_LEASES = 20
#: Milliseconds for which the overview waits for the causes of failure.
CAUSES_MS = 250
#: How many failures the overview, the page of failures, and that page on request group: the last ones.
FEW_FAILURES, FAILURES, MORE_FAILURES = 10_000, 25_000, 100_000
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


def cause_links(queue: str | None = None) -> dict[str, Callable[[Mapping[str, Any], Link], str]]:
    """Where a cause leads: to its dead messages, of one queue alone if the causes are that queue's."""
    return {
        "fingerprint": lambda row, link: link("/dead", fingerprint=row["fingerprint"], origin=queue),
        "sample_queue": lambda row, link: link("/queue", name=row["sample_queue"]),
    }


LIMITS: Columns = (
    ("max_concurrent", "At a time"),
    ("in_hand", "In hand"),
    ("leased", "Leased"),
    ("rate_limit", "Rate"),
    ("limited_for", "No room for"),
    ("limit_key", "Key"),
    ("max_concurrent_per_key", "At a time, a key"),
    ("rate_limit_per_key", "Rate, a key"),
)
#: How many groups and selectors of a queue are shown.
SHOWN = 20
TIMES: Columns = (
    ("kind", "Time"),
    ("calls", "Counted"),
    ("mean", "Mean"),
    ("half", "Half within"),
    ("nine_tenths", "90 % within"),
    ("ninety_nine_hundredths", "99 % within"),
    ("since", "Since"),
    ("counted_at", "Added up"),
)
LENGTHS = ("mean", "half", "nine_tenths", "ninety_nine_hundredths")
GROUPS: Columns = (
    ("message_group", "Group"),
    ("messages", "Messages"),
    ("leased", "Leased"),
    ("held_up", "Holds it up"),
    ("held_until", "Until"),
    ("oldest_sent_at", "Oldest sent"),
    ("consumer", "Consumer"),
    ("owned_since", "Its since"),
)
SELECTORS: Columns = (
    ("used_by", "Used by"),
    ("name", "Name"),
    ("selector", "Selector"),
    ("last_used_at", "Last used"),
    ("priorities", "Places remembered"),
    ("found_ahead", "Found ahead"),
)
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
            "causes": work.quickly(
                CAUSES_MS, lambda: work.admin.poison_causes(max_causes=5, max_failures=FEW_FAILURES)
            ),
            "cause_columns": CAUSES,
            "cause_links": cause_links(),
            "advice": work.part(work.admin.check_server),
            "advice_columns": (("setting", "Setting"), ("value", "Value"), ("danger", "Risk"), ("advice", "Do")),
        },
    )


def queues(request: Request, work: Work) -> Shown:
    """Every queue that the person may browse, a hundred a page."""
    part = text(request, "like")
    names = work.admin.queue_names(part, after=text(request, "after"), limit=MOST + 1)
    found = of(work, names[:MOST])
    may = offered(work)
    chosen = [(act, title) for act, title in QUEUE_ACTS if act in may and ACTS[act].things is not None]
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
            "choose": {"key": "queue_name", "acts": chosen, "of": "", "within": ""} if chosen else None,
            "more": f"{following.path}?{following.query}" if following else None,
        },
    )


def queue(request: Request, work: Work) -> Shown:
    """One queue: figures, leases, and its options with those that are not the default."""
    name = text(request, "name") or ""
    kept = work.admin.queue_figures([name], 0)
    asked = kept[0]["asked_at"]
    stats = [{**row, KEPT: kept[-1][KEPT]} for row in work.admin.queue_stats(name)]
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
            **_readers(work, name),
            "changed": [row for _, rows in shown for row in rows if row["differs"]],
            "changed_columns": OPTIONS[:-1],
            "options": shown,
            "option_columns": OPTIONS,
        },
    )


def _readers(work: Work, name: str) -> dict[str, Any]:
    """How long messages waited, what holds them back, which groups there are, what selects: all of it bounded."""
    groups = work.part(lambda: work.admin.list_groups(name, SHOWN + 1))
    selectors = work.part(lambda: work.admin.list_selectors(name, SHOWN + 1))
    return {
        "times": [
            {key: brief(value) if key in LENGTHS else value for key, value in row.items()}
            for row in work.part(lambda: work.admin.queue_times(name))
        ],
        "time_columns": TIMES,
        "limits": [
            {**row, "limited_for": brief(row["limited_for"])}
            for row in work.part(lambda: work.admin.list_handler_limits(name))
        ],
        "limit_columns": LIMITS,
        "groups": groups[:SHOWN],
        "more_groups": len(groups) > SHOWN,
        "group_columns": GROUPS,
        "group_links": {
            "message_group": lambda row, link: link("/messages", queue=name, group=row["message_group"]),
        },
        "selectors": selectors[:SHOWN],
        "more_selectors": len(selectors) > SHOWN,
        "selector_columns": SELECTORS,
    }


def causes(request: Request, work: Work) -> Shown:
    """Why messages fail: the last failures grouped by their cause."""
    name = text(request, "queue")
    last = min(max(number(request, "last") or FAILURES, 1), MORE_FAILURES)
    rows = work.admin.poison_causes(name, max_causes=MOST + 1, max_failures=last)
    further = request.url.include_query_params(last=MORE_FAILURES)
    return Shown(
        "listing.html",
        {
            "title": "Failures",
            "about": name or "",
            "hint": "Failures with the same class and the same text, but for numbers, have the same cause.",
            "extent": rows[0] if rows else None,
            "further": f"{further.path}?{further.query}" if last < MORE_FAILURES else None,
            "rows": rows[:MOST],
            "first": MOST if len(rows) > MOST else None,
            "columns": CAUSES,
            "links": cause_links(name),
            "empty": f"You may see none of the last {last:,} failures, or there are none. "
            "Failures of workers appear here by themselves.",
            "filters": [("queue", "Queue", name or "")],
            "live_key": None,
            "more": None,
        },
    )
