"""The page's sections on the work: what handlers took, who did it, and when it will be done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..reports.forecast import DRAINS, EMPTY, UNFED
from ..reports.shown import Shown
from .parts import NOTHING, Cell, Section, count, duration, lasting, milliseconds, rate, share, table, text


def handling(shown: Shown) -> Section:
    """How long handlers took."""
    rows = sorted(shown.handling, key=lambda row: -row["calls"])
    columns: dict[str, tuple[str, Callable[[Any], Cell]]] = {
        "queue": ("queue", text),
        "calls": ("handler calls", count),
        "mean_ms": ("mean", milliseconds),
        "p50_ms": ("50 % within", _bound),
        "p90_ms": ("90 % within", _bound),
        "p99_ms": ("99 % within", _bound),
        "longest_ms": ("all within", _bound),
    }
    return Section(
        "Handling",
        "How long handlers took, failed calls included, by what workers recorded each minute. They count in powers of"
        " two of a"
        " microsecond, so that a bound is at most twice the true value; means are exact. Consumers in plain SQL"
        " record nothing"
        " and are not in it.",
        tables=[table("Time in handlers", rows, columns, sums=("calls",))] if rows else [],
        empty="No worker recorded anything.",
    )


def _bound(value: float | None) -> Cell:
    return Cell("over 18 min", "n") if value is None else milliseconds(value)


def workers(shown: Shown) -> Section:
    """Who did how much, and who is slow."""
    rows = sorted(shown.balance, key=lambda row: (not row["slow"], row["queue"], -row["handled"]))
    for row in rows:
        row["sessions"] = row["busy_seconds"] / row["seconds"] if row["seconds"] else None
        row["pace"] = "slow" if row["slow"] else ""
    columns: dict[str, tuple[str, Callable[[Any], Cell]]] = {
        "worker": ("worker", text),
        "queue": ("queue", text),
        "handled": ("handled", count),
        "failed": ("failed", count),
        "share": ("of the queue", share),
        "sessions": ("sessions busy", _tenths),
        "mean_ms": ("mean call", milliseconds),
        "usual_ms": ("usual", milliseconds),
        "pace": ("", lambda word: Cell(word, "warn" if word else "")),
    }
    return Section(
        "Workers",
        "Each worker's part of a queue, by its own record, slow ones first. Slow: its handlers took twice as long as"
        " usual or more, the median of the queue's workers, over 20 calls at least. Consumers in plain SQL are not in"
        " it.",
        tables=[table("Balance of workers", rows, columns, sums=("handled", "failed"))] if rows else [],
        empty="No worker recorded anything.",
    )


def _tenths(value: float | None) -> Cell:
    return Cell(NOTHING if value is None else f"{value:.2f}", "n")


def forecast(shown: Shown) -> Section:
    """When each queue will be empty; those that will not be come first."""
    rows = [row | {"there": row["ready"] + row["waiting"]} for row in shown.forecast if row["outlook"] != EMPTY]
    rows.sort(key=lambda row: (row["outlook"] in (DRAINS, UNFED), -(row["drain_seconds"] or 0), -row["there"]))
    columns: dict[str, tuple[str, Callable[[Any], Cell]]] = {
        "queue": ("queue", text),
        "ready": ("ready", count),
        "waiting": ("waiting", count),
        "came_in_per_second": ("comes in", rate),
        "went_out_per_second": ("goes out", rate),
        "drain_seconds": ("empty in", lasting),
        "outlook": ("", text),
    }
    recent = duration(rows[0]["recent_seconds"]) if rows else ""
    return Section(
        "When queues will be empty",
        f"If all goes on as in the last {recent} of the record: what is there, ready or waiting for a time, by what"
        f" goes out less"
        " what comes in."
        if rows
        else "",
        tables=[table("Queues that are not empty", rows, columns, sums=("ready", "waiting"))] if rows else [],
        empty="Every queue is empty.",
    )
