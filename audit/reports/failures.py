"""Failed deliveries: how many each message had, and what they had in common."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from .kept import Kept, with_names

FAILURES_MAX = 10
"""Messages with more failures than this are counted together."""
CAUSES_MAX = 100
"""How many causes are kept."""

REDELIVERY_COLUMNS = ("destination_id", "queue", "failures", "messages")
CAUSES_COLUMNS = (
    "fingerprint",
    "incidents",
    "messages",
    "dead",
    "queues",
    "first_at",
    "last_at",
    "error_class",
    "sqlstate",
    "sample_text",
    "sample_message",
    "sample_incident",
)


def redelivery(kept: Kept) -> DataFrame:
    """REDELIVERY_COLUMNS: how many messages of a queue had so many failed deliveries there; FAILURES_MAX + 1: or more.

    Messages without failures are the rest of what the queue ever saw, as far as that is on record.
    """
    counted = kept.incidents.groupBy("destination_id", "message_id").agg(F.count(F.lit(1)).alias("failures"))
    failed = counted.groupBy(
        "destination_id", F.least("failures", F.lit(FAILURES_MAX + 1)).cast("int").alias("failures")
    ).agg(F.count(F.lit(1)).alias("messages"))
    sums = failed.groupBy("destination_id").agg(F.sum("messages").alias("failed"))
    untouched = (
        kept.identity.select("destination_id", F.col("messages").alias("seen"))
        .join(sums, on="destination_id", how="left")
        .select(
            "destination_id",
            F.lit(0).alias("failures"),
            F.greatest(F.col("seen") - F.coalesce("failed", F.lit(0)), F.lit(0)).alias("messages"),
        )
    )
    return (
        with_names(failed.unionByName(untouched), kept.destinations)
        .where(F.col("messages") > 0)
        .select(*REDELIVERY_COLUMNS)
        .repartition(1)
        .orderBy("queue", "destination_id", "failures")
    )


def causes(kept: Kept) -> DataFrame:
    """CAUSES_COLUMNS: the CAUSES_MAX errors that most messages met, by fingerprint.

    dead: messages that lie dead now and whose last failure this was. The sample is the newest incident.
    """
    newest = F.struct("incident_id", "error_class", "sqlstate", "error_text", "message_id")
    grouped = kept.incidents.groupBy("fingerprint").agg(
        F.count(F.lit(1)).alias("incidents"),
        F.count_distinct("message_id").alias("messages"),
        F.count_distinct("destination_id").alias("queues"),
        F.min("recorded_at").alias("first_at"),
        F.max("recorded_at").alias("last_at"),
        F.max_by(newest, F.col("incident_id")).alias("sample"),
    )
    top = grouped.withColumn(
        "place", F.row_number().over(Window.orderBy(F.desc("messages"), F.desc("incidents"), "fingerprint"))
    ).where(F.col("place") <= CAUSES_MAX)
    lying = kept.messages.where(F.col("state") == "dead").select("message_id").distinct()
    dead = (
        kept.incidents.join(lying, on="message_id", how="left_semi")
        .groupBy("message_id")
        .agg(F.max_by("fingerprint", "incident_id").alias("fingerprint"))
        .groupBy("fingerprint")
        .agg(F.count(F.lit(1)).alias("dead"))
    )
    sample = F.col("sample")
    return (
        top.join(dead, on="fingerprint", how="left")
        .repartition(1)
        .orderBy("place")
        .select(
            "fingerprint",
            "incidents",
            "messages",
            F.coalesce("dead", F.lit(0)).alias("dead"),
            "queues",
            "first_at",
            "last_at",
            sample["error_class"].alias("error_class"),
            sample["sqlstate"].alias("sqlstate"),
            sample["error_text"].alias("sample_text"),
            sample["message_id"].alias("sample_message"),
            sample["incident_id"].alias("sample_incident"),
        )
    )
