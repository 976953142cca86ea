"""When each queue will be empty, if its recent rates go on."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .kept import Kept, at_time, with_names

RECENT_MIN, RECENT_MAX = 60, 3600
"""Recent means the last tenth of the record, between these limits in seconds."""

EMPTY = "empty"
DRAINS = "drains"
GROWS = "does not drain: as much comes as goes, or more"
STANDS = "does not drain: nothing leaves"
UNFED = "drains, if nothing more is sent: sends are not recorded"
COLUMNS = (
    "destination_id",
    "queue",
    "ready",
    "waiting",
    "recent_seconds",
    "came_in_per_second",
    "went_out_per_second",
    "drain_seconds",
    "outlook",
)


def recent_seconds(kept: Kept) -> int:
    """How far back the rates look."""
    return round(min(max(kept.span_seconds / 10, RECENT_MIN), RECENT_MAX))


def forecast(kept: Kept) -> DataFrame:
    """COLUMNS of each queue that is there. ready and waiting: live and parked messages, which must all leave."""
    recent = recent_seconds(kept)
    since = at_time(kept.taken_at) - F.make_dt_interval(secs=F.lit(recent))
    transferred = F.col("event").isin("moved", "replayed")
    late = kept.journal.where(F.col("at") > since)
    own = late.select(
        "destination_id",
        F.when(F.col("event") == "sent", 1).otherwise(0).alias("came"),
        F.when(F.col("event") == "sent", 0).otherwise(1).alias("went"),
    )
    into = late.where(transferred).select(
        F.col("other_destination_id").alias("destination_id"), F.lit(1).alias("came"), F.lit(0).alias("went")
    )
    rates = (
        own.unionByName(into).groupBy("destination_id").agg(F.sum("came").alias("came"), F.sum("went").alias("went"))
    )
    present = kept.messages.groupBy("destination_id").agg(
        F.count(F.when(F.col("state") == "live", 1)).alias("ready"),
        F.count(F.when(F.col("state") == "parked", 1)).alias("waiting"),
    )
    queues = kept.destinations.where(
        (F.col("kind") == "queue") & ~F.col("is_system") & F.col("dropped_at").isNull()
    ).select("destination_id", "journal_level")
    zero = F.lit(0)
    came, went = F.coalesce("came", zero) / recent, F.coalesce("went", zero) / recent
    there = F.col("ready") + F.col("waiting")
    full = F.col("journal_level") == "full"
    off = F.col("journal_level") == "off"
    net = F.col("went_out_per_second") - F.coalesce("came_in_per_second", zero)
    outlook = (
        F.when(there == 0, EMPTY)
        .when(off, "not known: the queue keeps no journal")
        .when(F.col("went_out_per_second") == 0, STANDS)
        .when(~full, UNFED)
        .when(net <= 0, GROWS)
        .otherwise(DRAINS)
    )
    return (
        with_names(
            queues.join(present, on="destination_id", how="left").join(rates, on="destination_id", how="left"),
            kept.destinations,
        )
        .select(
            "destination_id",
            "queue",
            F.coalesce("ready", zero).alias("ready"),
            F.coalesce("waiting", zero).alias("waiting"),
            F.lit(recent).alias("recent_seconds"),
            F.when(full, came).alias("came_in_per_second"),
            F.when(~off, went).alias("went_out_per_second"),
            "journal_level",
        )
        .withColumn("outlook", outlook)
        .withColumn("drain_seconds", F.when(F.col("outlook").isin(DRAINS, UNFED), there / net))
        .select(*COLUMNS)
        .repartition(1)
        .orderBy("queue", "destination_id")
    )
