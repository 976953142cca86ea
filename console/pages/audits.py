"""What one audit found: its verdict on each queue, and how often each rule was broken."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from ...engine.errors import NameNotFound
from ..database import Work
from .page import Columns, Shown, number

FIGURES: Columns = (
    ("severity", "Verdict"),
    ("started_at", "Started"),
    ("finished_at", "Finished"),
    ("taken_at", "Snapshot of"),
    ("errors", "Errors"),
    ("warnings", "Warnings"),
    ("rows_read", "Rows read"),
    ("reason", "Why there was none"),
    ("version", "Howdah"),
    ("output", "Whole report on the auditor's machine"),
    ("recorded_by", "By"),
)
QUEUES: Columns = (("queue", "Queue"), ("verdict", "Verdict"), ("live", "Live"), ("parked", "Parked"), ("dead", "Dead"))
#: Queues on one page of an audit, which may have judged thousands.
MOST = 200
WHOLE = "run_id, queues, rules, " + ", ".join(name for name, _ in FIGURES)


def audit(request: Request, work: Work) -> Shown:
    """The page of one audit, from what is on record of it. Raises NameNotFound."""
    found_id = number(request, "id") or 0
    # The list names queues only for a single audit.
    rows = work.table(
        "list_audits",
        WHOLE,
        max_runs=("integer", 1),
        made=("boolean", False),
        before=("bigint", min(found_id, 2**63 - 2) + 1),
    )
    if not rows or rows[0]["run_id"] != found_id:
        raise NameNotFound(f"there is no audit {found_id}", "See the list of audits.")
    row = rows[0]
    queues, rules = row["queues"] or [], row["rules"] or []
    first = min(max(number(request, "from") or 0, 0), len(queues))
    following = request.url.include_query_params(**{"from": first + MOST})
    return Shown(
        "audit.html",
        {
            "id": found_id,
            "found": row,
            "figures": FIGURES,
            "queues": [{name: one.get(name) for name, _ in QUEUES} for one in queues[first : first + MOST]],
            "queue_columns": QUEUES,
            "queue_links": {"queue": lambda row, link: link("/queue", name=row["queue"])},
            "said": f"Queues {first + 1:,} to {min(first + MOST, len(queues)):,} of {len(queues):,}."
            if len(queues) > MOST
            else "",
            "more": f"{following.path}?{following.query}" if first + MOST < len(queues) else None,
            "unseen": row["queues"] is None,
            "rules": [{name: one.get(name) for name in _columns(rules)} for one in rules],
            "rule_columns": tuple((name, name.replace("_", " ").capitalize()) for name in _columns(rules)),
        },
    )


def _columns(rows: list[dict[str, Any]]) -> list[str]:
    """The keys of rows, in the order of their first appearance: rules of later versions may have others."""
    return list(dict.fromkeys(str(name) for row in rows for name in row))[:12]
