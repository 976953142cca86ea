"""What workers recorded of themselves: how long handlers took, who did how much, who is slow.

A worker counts each call of a handler in one of 32 bins, whose bounds are powers of two of a microsecond. So a
percentile is an upper bound, at most twice the value itself. Means are exact.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from .kept import Kept, bucket

BINS = 32
PERCENTILES = {"p50_ms": 0.5, "p90_ms": 0.9, "p99_ms": 0.99}
HANDLING_COLUMNS = ("queue", "bucket_at", "calls", "mean_ms", *PERCENTILES, "longest_ms")
BALANCE_COLUMNS = (
    "queue",
    "worker",
    "handled",
    "failed",
    "busy_seconds",
    "seconds",
    "share",
    "workers",
    "mean_ms",
    "usual_ms",
    "slow",
)
SLOW_TIMES = 2.0
SLOW_CALLS_MIN = 20
"""A worker is slow whose handlers take SLOW_TIMES the median of the queue's workers, over so many calls at least."""


def handling(kept: Kept) -> DataFrame:
    """HANDLING_COLUMNS: bounds that so many of a queue's handler calls kept within; NULL: over 2^30 microseconds.

    A worker's record of up to a minute counts in the bucket of its end. bucket_at NULL: over all
    buckets.
    """
    keys = [F.col(name) for name in ("queue", "bucket_at", "bin")]
    bins = (
        kept.workers.select(
            "queue",
            bucket(F.col("until_at"), kept.seconds).alias("bucket_at"),
            "busy_seconds",
            F.posexplode(F.split("handling_counts", ",")).alias("bin", "text"),
        )
        .groupingSets([keys, [keys[0], keys[2]]], *keys)
        .agg(
            F.sum(F.col("text").cast("long")).alias("calls"),
            # Every row lists all bins, so sum one row only.
            F.sum(F.when(F.col("bin") == 0, F.col("busy_seconds"))).alias("busy_seconds"),
        )
    )
    whole = Window.partitionBy("queue", "bucket_at")
    bound = F.when(F.col("bin") < BINS - 1, F.pow(F.lit(2.0), F.col("bin")) / 1000)
    reached = bins.select(
        *keys,
        "calls",
        F.sum("calls").over(whole.orderBy("bin")).alias("upto"),
        F.sum("calls").over(whole).alias("whole"),
        F.sum("busy_seconds").over(whole).alias("busy_seconds"),
        bound.alias("bound_ms"),
    ).where(F.col("calls") > 0)
    percentiles = [
        F.min_by("bound_ms", F.when(F.col("upto") >= F.col("whole") * part, F.col("bin"))).alias(name)
        for name, part in PERCENTILES.items()
    ]
    return (
        reached.groupBy("queue", "bucket_at")
        .agg(
            F.sum("calls").alias("calls"),
            (F.max("busy_seconds") * 1000 / F.sum("calls")).alias("mean_ms"),
            *percentiles,
            F.max_by("bound_ms", "bin").alias("longest_ms"),
        )
        .select(*HANDLING_COLUMNS)
        .repartition(1)
        .orderBy("queue", "bucket_at")
    )


def balance(kept: Kept) -> DataFrame:
    """BALANCE_COLUMNS: each worker's part of a queue.

    seconds: how long it recorded. share: its part of what the queue's workers handled. usual_ms: the median of the
    means of workers with calls enough; of two, the lower one. slow: see SLOW_TIMES.
    """
    calls = F.aggregate(
        F.split("handling_counts", ","), F.lit(0).cast("long"), lambda sum_, one: sum_ + one.cast("long")
    )
    lasted = (F.unix_micros("until_at") - F.unix_micros("from_at")) / 1_000_000
    each = (
        kept.workers.withColumns({"calls": calls, "lasted": lasted})
        .groupBy("queue", "worker")
        .agg(
            F.sum("handled").alias("handled"),
            F.sum("failed").alias("failed"),
            F.sum("busy_seconds").alias("busy_seconds"),
            F.sum("lasted").alias("seconds"),
            F.sum("calls").alias("calls"),
        )
        .withColumn("mean_ms", F.when(F.col("calls") > 0, F.col("busy_seconds") * 1000 / F.col("calls")))
    )
    queue = Window.partitionBy("queue")
    handled = F.sum("handled").over(queue)
    enough = F.col("calls") >= SLOW_CALLS_MIN
    compared = each.select(
        "*",
        F.when(handled > 0, F.col("handled") / handled).alias("share"),
        F.count(F.lit(1)).over(queue).alias("workers"),
        F.percentile_approx(F.when(enough, F.col("mean_ms")), 0.5).over(queue).alias("usual_ms"),
    )
    slow = (F.col("workers") > 1) & enough & (F.col("mean_ms") >= SLOW_TIMES * F.col("usual_ms"))
    return (
        compared.withColumn("slow", F.coalesce(slow, F.lit(False)))
        .select(*BALANCE_COLUMNS)
        .repartition(1)
        .orderBy("queue", F.desc("handled"), "worker")
    )


def slow_consumers(balanced: Any) -> Any:
    """The rows of ``balance``, as an Arrow table, whose worker is slow."""
    return balanced.filter(balanced["slow"])
