"""The page's main points in a few lines for the terminal."""

from __future__ import annotations

from .page.parts import clean, duration
from .reports.forecast import DRAINS, EMPTY, UNFED
from .reports.latency import EXACT
from .reports.shown import Shown

NAME_MAX = 60


def highlights(shown: Shown) -> tuple[str, ...]:
    """Traffic, waits, failures, dead messages, slow workers and drains. Lines for what did not happen are left out."""
    return tuple(
        line
        for line in (
            _traffic(shown),
            _waits(shown),
            _causes(shown),
            _dead(shown),
            _slow(shown),
            _drains(shown),
        )
        if line
    )


def _name(text: object) -> str:
    return clean(text, NAME_MAX)


def _traffic(shown: Shown) -> str:
    left = [row for row in shown.totals if row["went_out"]]
    if not left:
        return ""
    top = left[0]
    out = sum(row["went_out"] for row in left)
    span = duration(max((shown.taken_at - shown.first).total_seconds(), 0))
    return f"Traffic: {out:,} messages left {len(left):,} queues in {span}; the busiest is {_name(top['queue'])}"


def _waits(shown: Shown) -> str:
    if not shown.queueing:
        return ""
    top = max(shown.queueing, key=lambda row: row["p99_ms"])
    bound = "" if top["basis"] == EXACT else ", by the longest of each receive"
    return f"Longest waits: 99 % within {duration(top['p99_ms'] / 1000)} in {_name(top['queue'])}{bound}"


def _causes(shown: Shown) -> str:
    if not shown.causes:
        return ""
    top = shown.causes[0]
    what = ": ".join(_name(part) for part in (top["error_class"], top["sample_text"]) if part)
    return f"Top cause of failure: {what} ({top['messages']:,} messages)"


def _dead(shown: Shown) -> str:
    last = {row["queue"]: row for row in shown.dead_messages}
    came = sum(row["came_in"] for row in shown.dead_messages)
    there = sum(row["messages"] for row in last.values())
    return f"Dead messages: {there:,} there now, {came:,} came in the time of the journal" if there or came else ""


def _slow(shown: Shown) -> str:
    if not shown.slow_consumers:
        return ""
    names = ", ".join(_name(row["worker"]) for row in shown.slow_consumers[:3])
    return f"Slow workers: {len(shown.slow_consumers):,} ({names})"


def _drains(shown: Shown) -> str:
    busy = [row for row in shown.forecast if row["outlook"] != EMPTY]
    stuck = [row for row in busy if row["outlook"] not in (DRAINS, UNFED)]
    if stuck:
        return (
            f"Not draining: {len(stuck):,} of {len(busy):,} queues that hold messages, such as"
            f" {_name(stuck[0]['queue'])}"
        )
    if busy:
        last = max(busy, key=lambda row: row["drain_seconds"] or 0)
        return f"Empty last: {_name(last['queue'])}, in {duration(last['drain_seconds'] or 0)} at the recent rate"
    return ""
