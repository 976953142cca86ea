"""The page's sections on what happened: one function for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..reports.latency import LONGEST
from ..reports.shown import Shown
from .curves import over_time, per_second, value
from .parts import Cell, Section, count, duration, identifier, milliseconds, moment, table, text
from .work import forecast, handling, workers


def sections(shown: Shown) -> list[Section]:
    """All of them, in the order of the page."""
    return [
        _throughput(shown),
        _queueing(shown),
        handling(shown),
        _backlog(shown),
        _redelivery(shown),
        _causes(shown),
        _dead_messages(shown),
        workers(shown),
        forecast(shown),
    ]


def _throughput(shown: Shown) -> Section:
    drawings = []
    for column, words in (("came_in", "came in"), ("went_out", "went out")):
        if any(row[column] for row in shown.throughput):
            drawings.append(
                over_time(
                    shown,
                    shown.throughput,
                    per_second(column, shown),
                    f"Messages that {words}",
                    "messages/s",
                    gaps=0.0,
                )
            )
    columns = {
        "queue": ("queue", text),
        "sent": ("sent", count),
        "came_in": ("came in", count),
        "consumed": ("consumed", count),
        "expired": ("expired", count),
        "went_out": ("went out", count),
    }
    listed = table("Traffic, busiest first", shown.totals, columns, sums=tuple(columns)[1:])
    return Section(
        "Throughput",
        f"Counted from the journal in buckets of {duration(shown.seconds)}. Sends are in it where journal_level is"
        f" full; moves"
        " and replays count as going out of one queue and coming into another.",
        drawings,
        [listed] if shown.totals else [],
        empty="The journal holds nothing.",
    )


def _queueing(shown: Shown) -> Section:
    rows = sorted(shown.queueing, key=lambda row: -row["waits"])
    drawings = [
        over_time(
            shown,
            shown.queueing_over_time,
            value(name, 0.001, 0.000_001),
            f"Wait from send to receive, {words}",
            "seconds",
            logarithmic="y",
        )
        for name, words in (("p50_ms", "the median"), ("p99_ms", "99th percentile"))
        if shown.queueing_over_time
    ]
    columns: dict[str, tuple[str, Callable[[Any], Cell]]] = {
        "queue": ("queue", text),
        "basis": ("known of", text),
        "waits": ("waits", count),
        "p50_ms": ("50 %", milliseconds),
        "p90_ms": ("90 %", milliseconds),
        "p99_ms": ("99 %", milliseconds),
        "max_ms": ("longest", milliseconds),
    }
    listed = table("Wait from send to receive", rows, columns, sums=("waits",))
    return Section(
        "Waiting",
        "From the call of send to the receive that consumed; a delay asked for counts, the commits do not."
        " Percentiles are"
        f" approximate (percentile_approx, right to one part in 10,000 of the places)."
        f" “{LONGEST[0].upper()}{LONGEST[1:]}”: the"
        " journal at level exits says no more, so that these are upper bounds of what most messages waited.",
        drawings,
        [listed] if rows else [],
        empty="Not known: the journal says of no consumed message when it was sent.",
    )


def _backlog(shown: Shown) -> Section:
    drawings = []
    if any(row["messages"] for row in shown.backlog):
        drawings.append(
            over_time(shown, shown.backlog, value("messages"), "Messages in the queue", "messages", at="ends_at")
        )
        drawings.append(
            over_time(
                shown,
                shown.backlog,
                value("oldest_seconds"),
                "Age of the oldest message in the queue",
                "seconds",
                at="ends_at",
            )
        )
    return Section(
        "Backlog and age",
        "At the end of each bucket, reckoned backwards from the snapshot; of queues whose journal records sends"
        " (journal_level"
        " full), as far back as it does.",
        drawings,
        empty="No queue with journal_level full had a backlog at the end of a bucket.",
    )


def _redelivery(shown: Shown) -> Section:
    by_queue: dict[str, dict[str, Any]] = {}
    for row in shown.redelivery:
        line = by_queue.setdefault(row["queue"], {"queue": row["queue"], "all": 0, **dict.fromkeys(_FAILURES, 0)})
        line["all"] += row["messages"]
        line[next(name for name, (least, most) in _FAILURES.items() if least <= row["failures"] <= most)] += row[
            "messages"
        ]
    rows = sorted(
        (row for row in by_queue.values() if row["all"] > row["none"]), key=lambda row: row["none"] - row["all"]
    )
    columns: dict[str, tuple[str, Callable[[Any], Cell]]] = {"queue": ("queue", text), "all": ("messages", count)}
    columns |= {name: (name, count) for name in _FAILURES}
    return Section(
        "Redelivery",
        (
            "Messages by the number of their failed deliveries in a queue, of those that it ever saw and that are on"
            " record."
        ),
        tables=[table("Failed deliveries of a message", rows, columns, sums=("all", *_FAILURES))] if rows else [],
        empty="No delivery failed.",
    )


_FAILURES = {
    "none": (0, 0),
    "1": (1, 1),
    "2": (2, 2),
    "3": (3, 3),
    "4": (4, 4),
    "5": (5, 5),
    "6 to 10": (6, 10),
    "more": (11, 99),
}


def _causes(shown: Shown) -> Section:
    for row in shown.causes:
        row["error"] = ": ".join(str(part) for part in (row["error_class"], row["sample_text"]) if part)
    columns: dict[str, tuple[str, Callable[[Any], Cell]]] = {
        "error": ("error, for example", text),
        "messages": ("messages", count),
        "incidents": ("failures", count),
        "dead": ("dead now", count),
        "queues": ("queues", count),
        "first_at": ("first", moment),
        "last_at": ("last", moment),
        "sample_message": ("message", identifier),
        "fingerprint": ("fingerprint", identifier),
    }
    return Section(
        "Causes of failure",
        "Errors that differ only in their values have one fingerprint. The text is that of the newest failure, as the"
        " handler"
        " gave it.",
        tables=[table("Causes, most messages first", shown.causes, columns, sums=("incidents", "dead"))]
        if shown.causes
        else [],
        empty="No delivery failed.",
    )


def _dead_messages(shown: Shown) -> Section:
    drawings, ends = [], []
    if any(row["messages"] for row in shown.dead_messages):
        drawings.append(
            over_time(shown, shown.dead_messages, value("messages"), "Dead messages", "messages", at="ends_at")
        )
    by_queue: dict[str, dict[str, Any]] = {}
    for row in shown.dead_messages:
        line = by_queue.setdefault(row["queue"], {"queue": row["queue"], "came_in": 0, "went_out": 0})
        line["came_in"] += row["came_in"]
        line["went_out"] += row["went_out"]
        line["messages"] = row["messages"]
    ends = sorted(
        (row for row in by_queue.values() if row["came_in"] + row["messages"]), key=lambda row: -row["messages"]
    )
    columns = {
        "queue": ("exception destination", text),
        "came_in": ("moved there", count),
        "went_out": ("left it", count),
        "messages": ("there now", count),
    }
    return Section(
        "Dead messages",
        "Exception destinations at the end of each bucket: the system's, and those that dead messages were moved to.",
        drawings,
        [table("Exception destinations", ends, columns, sums=("came_in", "went_out", "messages"))] if ends else [],
        empty="No message died.",
    )
