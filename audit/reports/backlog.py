"""How many messages lay in each destination at the end of each bucket, and how old the oldest was.

It is counted backwards from the snapshot: what lay there then, less what came since, plus what left since. So it is
right as far back as the journal records both, even if the beginning is not on record.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from ..ledger import ENTRIES, EXITS, queue_policies, total
from .kept import Kept, after_all, at_time, bucket, with_names
from .latency import EXACT

COLUMNS = ("destination_id", "queue", "bucket_at", "ends_at", "messages", "oldest_seconds")


def lying(flowed: DataFrame, waited: DataFrame, kept: Kept) -> DataFrame:
    """What lay in every destination at the end of every bucket of the span.

    Columns: destination_id, bucket_at, ends_at, messages, and these.

    moved_in, went_out: how many did so in the bucket.
    oldest_at: when the oldest of the messages entered, where the journal says when each did.
    """
    zero, never = F.lit(0).cast("long"), F.lit(None).cast("timestamp")
    step = F.make_dt_interval(secs=F.lit(kept.seconds))
    first, last = bucket(at_time(kept.first), kept.seconds), bucket(at_time(kept.taken_at), kept.seconds)

    def row(
        frame: DataFrame, at: Column, net: Column, moved_in: Column, went_out: Column, entered: Column
    ) -> DataFrame:
        return frame.select(
            "destination_id",
            at.alias("bucket_at"),
            net.alias("net"),
            moved_in.alias("moved_in"),
            went_out.alias("went_out"),
            entered.alias("entered_at"),
        )

    here = F.col("bucket_at")
    moves = row(flowed, here, total(ENTRIES) - total(EXITS), F.col("moved_in"), total(EXITS), never)
    # Present messages count as leaving after the last bucket.
    present = kept.messages.groupBy("destination_id").agg(F.count(F.lit(1)).alias("count"))
    there = row(present, after_all(kept), -F.col("count"), zero, zero, never)
    ended = waited.where((F.col("basis") == EXACT) & here.isNotNull())
    ends = row(ended, here, zero, zero, zero, F.col("oldest_entered_at"))
    grid = row(
        kept.destinations.withColumn("bucket_at", F.explode(F.sequence(first, last, step))),
        here,
        zero,
        zero,
        zero,
        never,
    )
    # A message present at a bucket's end leaves in a later bucket; take their earliest entry.
    later = Window.partitionBy("destination_id").orderBy(F.desc("bucket_at")).rowsBetween(Window.unboundedPreceding, -1)
    return (
        moves.unionByName(there)
        .unionByName(ends)
        .unionByName(grid)
        .repartition("destination_id")  # one shuffle serves the grouping and the window
        .groupBy("destination_id", "bucket_at")
        .agg(
            *[F.sum(name).alias(name) for name in ("net", "moved_in", "went_out")],
            F.min("entered_at").alias("entered_at"),
        )
        .select(
            "destination_id",
            "bucket_at",
            F.least(here + step, at_time(kept.taken_at)).alias("ends_at"),
            "moved_in",
            "went_out",
            F.greatest(-F.coalesce(F.sum("net").over(later), zero), zero).alias("messages"),
            F.min("entered_at").over(later).alias("oldest_at"),
        )
        .where(here <= last)
    )


def backlog(lay: DataFrame, kept: Kept) -> DataFrame:
    """COLUMNS of queues whose journal records entries and exits, since it does. oldest_seconds NULL: none was there."""
    policies = queue_policies(kept.destinations).where((F.col("kind") == "queue") & (F.col("journal_level") == "full"))
    recording = F.broadcast(policies.select("destination_id", "recorded_from"))
    age = (F.unix_micros("ends_at") - F.unix_micros("oldest_at")) / 1_000_000
    known = F.col("recorded_from").isNull() | (F.col("ends_at") >= F.col("recorded_from"))
    return (
        with_names(lay.join(recording, on="destination_id", how="inner").where(known), kept.destinations)
        .withColumn("oldest_seconds", F.when((F.col("messages") > 0) & (age >= 0), age))
        .select(*COLUMNS)
        .repartition(1)
        .orderBy("queue", "destination_id", "bucket_at")
    )
