"""How long messages waited from send to receive.

Exact where the journal records sends (journal_level full): the difference of two rows for each message. Elsewhere the
journal says when the oldest message of each receive was sent, so only the longest wait is known. Percentiles come from
percentile_approx: a value's rank is right to one part in ACCURACY.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from .kept import Kept, after_all, at_time, bucket, with_names

EXACT, LONGEST = "each message", "longest wait of each receive"
PERCENTILES = {"p50_ms": 0.5, "p90_ms": 0.9, "p99_ms": 0.99}
ACCURACY = 10_000
COLUMNS = ("destination_id", "queue", "basis", "bucket_at", "waits", *PERCENTILES, "max_ms")


def stays(kept: Kept) -> DataFrame:
    """Each stay of a message in a place that records how it came there, by its end.

    Columns: destination_id, message_id, entered_at (NULL: not recorded), left_at, how (an exit, or "there" while it
    lasts). A subscription's messages entered when they were published.
    """
    recording = kept.destinations.where((F.col("journal_level") == "full") | (F.col("kind") == "subscription"))
    places = F.broadcast(recording.select("destination_id", (F.col("kind") == "subscription").alias("subscribed")))
    transferred = F.col("event").isin("moved", "replayed")
    own = kept.journal.select(
        "destination_id",
        "message_id",
        "at",
        F.when(F.col("event") == "sent", 0).otherwise(1).alias("step"),
        F.col("event").alias("how"),
    )
    into = kept.journal.where(transferred).select(
        F.col("other_destination_id").alias("destination_id"),
        "message_id",
        "at",
        F.lit(0).alias("step"),
        F.lit("came").alias("how"),
    )
    there = kept.messages.select(
        "destination_id",
        "message_id",
        F.col("sent_at").alias("at"),
        F.lit(2).alias("step"),
        F.lit("there").alias("how"),
    )
    steps = own.unionByName(into).unionByName(there).join(places, on="destination_id", how="inner")
    here = Window.partitionBy("message_id", "destination_id").orderBy((F.col("step") == 2), "at", "step")
    everywhere = Window.partitionBy("message_id")
    before = (F.lag("step").over(here) == 0) & (F.lag("step").over(here).isNotNull())
    published = F.min(F.when(F.col("how") == "sent", F.col("at"))).over(everywhere)
    # One shuffle, by message, serves both windows.
    return (
        steps.repartition("message_id")
        .select(
            "destination_id",
            "message_id",
            "step",
            F.when(before, F.lag("at").over(here))
            .when(F.col("step") == 2, F.col("at"))
            .when(F.col("subscribed"), published)
            .alias("entered_at"),
            F.when(F.col("step") == 2, at_time(kept.taken_at)).otherwise(F.col("at")).alias("left_at"),
            "how",
        )
        .where(F.col("step") > 0)
        .select("destination_id", "message_id", "entered_at", "left_at", "how")
    )


def waits(stayed: DataFrame, kept: Kept) -> DataFrame:
    """Waits by destination, basis and bucket of their end, and over all buckets (bucket_at NULL).

    Columns: those of COLUMNS but queue, and oldest_entered_at. That is when the first of those entered whose stay ended
    in the bucket, in any way. A message that is still there counts in the bucket after the snapshot's.
    """
    exact = stayed.where(F.col("entered_at").isNotNull()).select(
        "destination_id",
        F.lit(EXACT).alias("basis"),
        F.when(F.col("how") == "there", after_all(kept))
        .otherwise(bucket(F.col("left_at"), kept.seconds))
        .alias("bucket_at"),
        "entered_at",
        F.when(F.col("how") == "consumed", _milliseconds(F.col("entered_at"), F.col("left_at"))).alias("wait_ms"),
    )
    # The journal has one row a message; all rows of a receive are alike.
    received = (
        kept.journal.where((F.col("event") == "consumed") & F.col("oldest_sent_at").isNotNull())
        .select("destination_id", "at", "oldest_sent_at")
        .distinct()
    )
    longest = received.select(
        "destination_id",
        F.lit(LONGEST).alias("basis"),
        bucket(F.col("at"), kept.seconds).alias("bucket_at"),
        F.col("oldest_sent_at").alias("entered_at"),
        _milliseconds(F.col("oldest_sent_at"), F.col("at")).alias("wait_ms"),
    )
    percentiles = F.percentile_approx("wait_ms", list(PERCENTILES.values()), ACCURACY)
    keys = [F.col(name) for name in ("destination_id", "basis", "bucket_at")]
    return (
        exact.unionByName(longest)
        .groupingSets([keys, keys[:2]], *keys)
        .agg(
            F.count("wait_ms").alias("waits"),
            percentiles.alias("percentiles"),
            F.max("wait_ms").alias("max_ms"),
            F.min("entered_at").alias("oldest_entered_at"),
        )
        .select(
            *keys,
            "waits",
            *[F.col("percentiles")[place].alias(name) for place, name in enumerate(PERCENTILES)],
            "max_ms",
            "oldest_entered_at",
        )
    )


def queueing(waited: DataFrame, kept: Kept) -> DataFrame:
    """COLUMNS, on one basis for each destination: the exact one if it has any. bucket_at NULL: over all buckets."""
    best = F.min("basis").over(Window.partitionBy("destination_id"))  # "each" comes before "longest"
    return (
        with_names(waited.where(F.col("waits") > 0), kept.destinations)
        .withColumn("best", best)
        .where(F.col("basis") == F.col("best"))
        .select(*COLUMNS)
        .repartition(1)
        .orderBy("queue", "destination_id", "bucket_at")
    )


def _milliseconds(since: Column, until: Column) -> Column:
    """Milliseconds between two times of the database, never below 0: after a failover, two clocks may disagree."""
    return F.greatest((F.unix_micros(until) - F.unix_micros(since)) / 1000, F.lit(0.0))
