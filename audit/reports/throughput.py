"""What came into each queue and left it, by bucket."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..ledger import ENTRIES, EXITS, total
from .kept import Kept, bucket, with_names

COLUMNS = ("destination_id", "queue", "bucket_at", "seconds", *ENTRIES, *EXITS, "came_in", "went_out")


def flows(kept: Kept) -> DataFrame:
    """Count messages by destination and bucket. Columns: destination_id, bucket_at, one each of ENTRIES and EXITS."""
    transferred = F.col("event").isin("moved", "replayed")
    happened = kept.journal.select("destination_id", "other_destination_id", "event", "at", transferred.alias("both"))
    out = happened.select(
        "destination_id",
        "at",
        F.when(F.col("both"), F.concat("event", F.lit("_out"))).otherwise(F.col("event")).alias("kind"),
    )
    into = happened.where("both").select(
        F.col("other_destination_id").alias("destination_id"), "at", F.concat("event", F.lit("_in")).alias("kind")
    )
    counts = [F.count(F.when(F.col("kind") == kind, 1)).alias(kind) for kind in (*ENTRIES, *EXITS)]
    return (
        out.unionByName(into)
        .groupBy("destination_id", bucket(F.col("at"), kept.seconds).alias("bucket_at"))
        .agg(*counts)
        .select("destination_id", "bucket_at", *ENTRIES, *EXITS)
    )


def throughput(flowed: DataFrame, kept: Kept) -> DataFrame:
    """COLUMNS: counts of a bucket, which lasts ``seconds``; came_in and went_out are the sums of what is recorded."""
    return (
        with_names(flowed, kept.destinations)
        .withColumns({"seconds": F.lit(kept.seconds), "came_in": total(ENTRIES), "went_out": total(EXITS)})
        .select(*COLUMNS)
        .repartition(1)
        .orderBy("queue", "destination_id", "bucket_at")
    )
