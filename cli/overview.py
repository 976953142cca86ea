"""The overview of an engine as text: its state, its workers, and its queues, the busiest first."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from . import output, tables

if TYPE_CHECKING:
    from ..engine import Connection

#: A worker that is silent for longer counts as gone, as in queue_stats.
SILENT = timedelta(minutes=1)

COLUMNS = tables.Columns(
    {
        "queue_name": "queue",
        "live": "live",
        "in_hand": "in hand",
        "parked": "parked",
        "dead": "dead",
        "in_rate": "in/s",
        "out_rate": "out/s",
        "oldest_age": "oldest",
        "consumers": "workers",
    }
)


@dataclass(frozen=True)
class Figures:
    """What one look found, and the seconds of a steady clock by which the rates are counted."""

    seconds: float
    engine: Mapping[str, Any]
    resources: Mapping[str, Any]
    workers: Sequence[Mapping[str, Any]]
    queues: Sequence[Mapping[str, Any]]
    at: datetime = field(default_factory=lambda: datetime.now().astimezone())


def look(connection: Connection) -> Figures:
    """Ask the engine, by figures that count no millions."""
    admin = connection.admin
    queues = admin.queue_stats()
    seconds = time.monotonic()
    return Figures(seconds, admin.engine_state(), admin.resource_state(exact=False), admin.list_workers(), queues)


def with_rates(now: Figures, before: Figures | None) -> list[dict[str, Any]]:
    """Return the queues with messages a second in and out since the look before, the busiest first.

    None: there was no look before, or the queue was not there.
    """
    earlier = {row["queue_name"]: row for row in before.queues} if before is not None else {}
    elapsed = now.seconds - before.seconds if before is not None else 0
    rows = [
        {
            **row,
            "in_rate": _rate(row, earlier.get(row["queue_name"]), "enqueued", elapsed),
            "out_rate": _rate(row, earlier.get(row["queue_name"]), "dequeued", elapsed),
        }
        for row in now.queues
    ]
    return sorted(rows, key=lambda row: (-_busy(row), -row["live"], row["queue_name"]))


def _rate(row: Mapping[str, Any], before: Mapping[str, Any] | None, figure: str, elapsed: float) -> float | None:
    if before is None or elapsed <= 0:
        return None
    # An estimate may be below the one before it.
    rate: float = round((row[figure] - before[figure]) / elapsed, 1)
    return max(rate, 0.0)


def _busy(row: Mapping[str, Any]) -> float:
    return (row["in_rate"] or 0.0) + (row["out_rate"] or 0.0)


def page(now: Figures, before: Figures | None, width: int | None, height: int | None = None) -> str:
    """Return the overview in so many columns and lines. None: all of it."""
    rows = with_rates(now, before)
    lines = [*_head(now), _sums(rows), ""]
    if all(row["queue_name"].startswith("_SYSTEM.") for row in rows):
        lines.insert(-1, "no queues of yours: howdah queue create NAME makes one")
    room = len(rows) if height is None else max(height - len(lines) - 3, 1)  # titles, a line, what is left out
    table, _ = tables.picture(rows[:room], COLUMNS, width)
    left_out = [f"and {output.counted(len(rows) - room, 'more queue')}"] if len(rows) > room else []
    return "\n".join([*lines, table, *left_out])


def _head(now: Figures) -> list[str]:
    silent = sum(row["silent_for"] > SILENT for row in now.workers)
    resources = now.resources
    filled = "" if resources["percent"] is None else f", {resources['percent']} % full"
    state = f"engine {now.engine['state']}  resources {resources['state']}{filled}"
    busy = f"leases {now.engine['leases']}  open transactions {now.engine['transactions']}"
    return [
        f"{now.at:%Y-%m-%d %H:%M:%S}  {state}  database {_megabytes(resources['database_bytes'])}",
        f"workers {len(now.workers) - silent} live, {silent} silent  {busy}",
    ]


def _sums(rows: Sequence[Mapping[str, Any]]) -> str:
    total = {key: sum(row[key] or 0 for row in rows) for key in ("live", "in_hand", "parked", "dead")}
    parts = [f"{total['live']} live", f"{total['in_hand']} in hand", f"{total['parked']} parked"]
    text = f"messages {', '.join(parts)}, {total['dead']} dead"
    if any(row["in_rate"] is not None for row in rows):
        text += f"  in {sum(row['in_rate'] or 0 for row in rows):.1f}/s"
        text += f"  out {sum(row['out_rate'] or 0 for row in rows):.1f}/s"
    return text


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:,.0f} MB"
