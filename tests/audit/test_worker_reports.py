"""Reports tell how long workers took, and who of them is slow."""

from typing import TYPE_CHECKING, Any

import pytest
from reports_support import Make, at, kept_maker, shown

from howdah.audit.reports.workers import balance, handling, slow_consumers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def make(spark: "SparkSession") -> Make:
    """Views with a handful of rows, at a snapshot two minutes after noon."""
    return kept_maker(spark)


def figures(
    worker: str, counts: dict[int, int], busy: float, queue: str = "q.full", until: float = 60
) -> dict[str, Any]:
    listed = [counts.get(place, 0) for place in range(32)]
    return {
        "queue": queue,
        "worker": worker,
        "from_at": at(until - 60),
        "until_at": at(until),
        "handled": sum(listed),
        "failed": 1,
        "busy_seconds": busy,
        "handling_counts": ",".join(map(str, listed)),
    }


def test_handling_times_are_bounds_of_the_workers_bins_by_bucket_and_over_all(make: Make) -> None:
    kept = make(
        workers=[
            figures("a", {10: 60}, 0.06, until=59),
            figures("a", {10: 38}, 0.03, until=119),
            figures("b", {11: 1, 31: 1}, 2000.0, until=110),
            figures("b", {}, 0.0, "idle"),
            figures("b", {}, 0.0, until=180),
        ]
    )

    # Bin 10 of those from 0 holds what took under 2^10 microseconds; the last one has no bound.
    columns = ("queue", "bucket_at", "calls", "p50_ms", "p90_ms", "p99_ms", "longest_ms", "mean_ms")
    assert [(*row[:-1], round(row[-1], 3)) for row in shown(handling(kept), *columns)] == [
        ("q.full", None, 100, 1.024, 1.024, 2.048, None, 20000.9),
        ("q.full", 0, 60, 1.024, 1.024, 1.024, 1.024, 1),
        ("q.full", 60, 40, 1.024, 1.024, None, None, 50000.75),
    ]


def test_a_worker_is_slow_by_the_others_of_its_queue(make: Make) -> None:
    kept = make(
        workers=[
            figures("quick", {10: 60}, 0.06),
            figures("usual", {10: 40}, 0.04),
            figures("slow", {12: 50}, 0.25),
            figures("new", {14: 10}, 0.5),  # too few calls to say
            figures("alone", {20: 100}, 100.0, "q.other"),
        ]
    )
    balanced = balance(kept)

    assert shown(balanced, "queue", "worker", "handled", "share", "slow") == [
        ("q.full", "quick", 60, 60 / 160, False),
        ("q.full", "slow", 50, 50 / 160, True),
        ("q.full", "usual", 40, 40 / 160, False),
        ("q.full", "new", 10, 10 / 160, False),
        ("q.other", "alone", 100, 1, False),
    ]
    (slow,) = slow_consumers(balanced.toArrow()).to_pylist()
    assert (slow["worker"], slow["mean_ms"], slow["usual_ms"]) == ("slow", 5, 1)
