"""What a page shows of the reports: the queues with most traffic, and the sum of the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
from pyarrow import compute
from pyspark.sql import functions as F

from .catalogue import Made

CURVES_MAX = 8
"""Queues that are drawn, and then the others as one."""
OTHERS = "all others"

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Shown:
    """The rows at hand, and the span and buckets they are of. busiest: the queues that are drawn, by destination_id."""

    seconds: int
    first: datetime
    taken_at: datetime
    journal_kept_from: datetime | None
    busiest: dict[int, str]
    totals: Rows
    throughput: Rows
    queueing: Rows
    queueing_over_time: Rows
    backlog: Rows
    redelivery: Rows
    causes: Rows
    dead_messages: Rows
    forecast: Rows
    handling: Rows
    balance: Rows
    slow_consumers: Rows


def shown(made: Made) -> Shown:
    """What is shown. Reports with many rows a queue are cut to the busiest queues."""
    tables = made.tables
    sums = ("sent", "came_in", "consumed", "expired", "went_out")
    totals = _summed(tables["throughput"], ["destination_id", "queue"], sums)
    totals.sort(key=lambda row: (-row["came_in"] - row["went_out"], row["queue"]))
    busiest = {row["destination_id"]: row["queue"] for row in totals[:CURVES_MAX]}
    waited = tables["queueing"]
    over_time = compute.is_valid(waited["bucket_at"])
    handled = tables["handling"]
    (kept_from,) = made.kept.destinations.agg(F.max("journal_kept_from").alias("at")).toArrow().to_pylist()
    return Shown(
        seconds=made.kept.seconds,
        first=made.kept.first,
        taken_at=made.kept.taken_at,
        journal_kept_from=kept_from["at"],
        busiest=busiest,
        totals=totals,
        throughput=_with_others(tables["throughput"], busiest, ("came_in", "went_out")),
        queueing=waited.filter(compute.invert(over_time)).to_pylist(),
        queueing_over_time=_of(waited.filter(over_time), busiest).to_pylist(),
        handling=handled.filter(compute.is_null(handled["bucket_at"])).to_pylist(),
        backlog=_fullest(tables["backlog"]),
        dead_messages=_fullest(tables["dead_messages"]),
        **{
            name: tables[name].to_pylist() for name in ("redelivery", "causes", "forecast", "balance", "slow_consumers")
        },
    )


def _summed(table: Any, keys: list[str], sums: Sequence[str]) -> Rows:
    """The sums of each group, under the columns' own names."""
    grouped = table.group_by(keys).aggregate([(name, "sum") for name in sums])
    return [{name.removesuffix("_sum"): value for name, value in row.items()} for row in grouped.to_pylist()]


def _of(table: Any, queues: Iterable[int], *, others: bool = False) -> Any:
    """The rows of some destinations, or of all others."""
    chosen = compute.is_in(table["destination_id"], pa.array(list(queues), pa.int32()))
    return table.filter(compute.invert(chosen) if others else chosen)


def _with_others(table: Any, queues: Iterable[int], sums: Sequence[str]) -> Rows:
    """Rows of some queues, and for each bucket one of all others together."""
    rest = _summed(_of(table, queues, others=True), ["bucket_at"], sums)
    named = [{"destination_id": 0, "queue": OTHERS} | row for row in rest]
    return [*_of(table, queues).to_pylist(), *named]


def _fullest(table: Any) -> Rows:
    """Rows of the destinations where at any time most messages lay."""
    highest = table.group_by("destination_id").aggregate([("messages", "max")]).to_pylist()
    highest.sort(key=lambda row: (-row["messages_max"], row["destination_id"]))
    few: Rows = _of(table, [row["destination_id"] for row in highest[:CURVES_MAX]]).to_pylist()
    return few
