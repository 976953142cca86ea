"""How the dead messages grow."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..rules.incidents import LIMIT_REASON, REJECTED_REASON
from .kept import Kept, with_names

COLUMNS = ("destination_id", "queue", "bucket_at", "ends_at", "came_in", "went_out", "messages")
EXPIRED_REASON = "Message Expired"
"""How the reason of an expired message begins."""


def exception_places(kept: Kept) -> DataFrame:
    """destination_id of where dead messages lie or were moved to: the system's, and those of queues."""
    reason = F.col("reason")
    known = [LIMIT_REASON, REJECTED_REASON, EXPIRED_REASON]
    buried = reduce(lambda one, other: one | other, [reason.startswith(word) for word in known])
    moved = kept.journal.where((F.col("event") == "moved") & buried)
    return (
        kept.destinations.where(F.col("is_system") & (F.col("kind") == "queue"))
        .select("destination_id")
        .unionByName(kept.messages.where(F.col("state") == "dead").select("destination_id"))
        .unionByName(moved.select(F.col("other_destination_id").alias("destination_id")))
        .distinct()
    )


def dead_messages(lay: DataFrame, kept: Kept) -> DataFrame:
    """COLUMNS: what entered and left each exception destination in each bucket, and what lay there at its end."""
    places = F.broadcast(exception_places(kept))
    return (
        with_names(lay.join(places, on="destination_id", how="left_semi"), kept.destinations)
        .withColumnRenamed("moved_in", "came_in")
        .select(*COLUMNS)
        .repartition(1)
        .orderBy("queue", "destination_id", "bucket_at")
    )
