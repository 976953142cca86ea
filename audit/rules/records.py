"""Whether incidents were kept as they were recorded, and belong to messages that were there."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .rule import Evidence, text

STAGE = ("destination_id", "message_id", "stage")


def changed(evidence: Evidence) -> DataFrame | None:
    """Incidents that changed since they were recorded: message, time, error class, text or SQLSTATE.

    Older ones have no digest to compare.
    """
    if not evidence.facts.incidents:
        return None
    return evidence.incidents.where(~F.col("unchanged")).select(
        "destination_id",
        "message_id",
        text("incident {} of {}: {}", "incident_id", "recorded_at", F.substring("error_text", 1, 100)).alias("seen"),
    )


def gaps(evidence: Evidence) -> DataFrame | None:
    """Failures of a stage with a gap in their numbers, where only a message's own incidents count, and all of them.

    Only failures since the last change of the policy count, and only where retention has deleted none.
    """
    if not evidence.facts.incidents:
        return None
    whole = evidence.policies.where(F.col("counts_alone") & F.col("incidents_whole")).select(
        "destination_id", "policy_xid"
    )
    return (
        evidence.incidents.groupBy(*STAGE)
        .agg(F.max("attempt").alias("last"), F.count(F.lit(1)).alias("incidents"), F.min("xid").alias("first_xid"))
        .where(F.col("last") > F.col("incidents"))
        .join(F.broadcast(whole), on="destination_id", how="inner")
        .where(F.col("first_xid") >= F.col("policy_xid"))
        .select(
            "destination_id",
            "message_id",
            text("{} incidents in stage {}, the last is attempt {}", "incidents", "stage", "last").alias("seen"),
        )
    )


def _strangers(evidence: Evidence) -> DataFrame:
    """Incidents of messages that no queue has seen, where the queue would know."""
    complete = evidence.policies.where(
        (F.col("journal_level") == "full") & F.col("recorded_from").isNull() & (F.col("kind") == "queue")
    )
    known = evidence.ledger.select("message_id")
    return (
        evidence.incidents.join(F.broadcast(complete.select("destination_id")), on="destination_id", how="left_semi")
        .join(known, on="message_id", how="left_anti")
        .groupBy("destination_id", "message_id")
        .agg(F.max(F.col("outcome") != "gone").alias("was_there"), F.count(F.lit(1)).alias("incidents"))
        .withColumn("seen", text("{} incidents, no other record", "incidents"))
    )


def without_message(evidence: Evidence) -> DataFrame | None:
    """Incidents of unknown messages whose outcome says that the message was there."""
    if not evidence.facts.incidents:
        return None
    return _strangers(evidence).where(F.col("was_there")).select("destination_id", "message_id", "seen")


def unknown(evidence: Evidence) -> DataFrame | None:
    """Incidents that were recorded for a message that is gone: anybody may name a wrong number."""
    if not evidence.facts.incidents:
        return None
    return _strangers(evidence).where(~F.col("was_there")).select("destination_id", "message_id", "seen")
