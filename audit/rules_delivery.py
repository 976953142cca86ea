"""Rules about when messages were delivered: before they expired, and in order within their group."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from .ledger import DESTINATIONS
from .rule import Evidence, Rule, text

EXPIRY_GRACE = "INTERVAL 10 SECONDS"
"""A receive looks at the clock before it takes a message, and again when it records it."""

OVERTAKEN = 1_000
"""Messages of a group that others are compared with, of those that any was received before."""


def _expiring(evidence: Evidence) -> DataFrame:
    """When each message that expires does so, by the record of its send."""
    first = F.col("message_id") % DESTINATIONS == F.col("destination_id")
    return evidence.journal.where((F.col("event") == "sent") & F.col("expires_at").isNotNull() & first).select(
        "message_id", "expires_at"
    )


def _stayed(evidence: Evidence) -> DataFrame:
    """Messages that are where they were sent to and never were elsewhere: what is moved expires no more."""
    moved = F.col("moved_in") + F.col("replayed_in") + F.col("moved_out") + F.col("replayed_out")
    sound = (F.col("verdict") == "ok") | (F.col("kind") == "subscription")
    return evidence.ledger.where((moved == 0) & sound).select("destination_id", "message_id")


def _ended(evidence: Evidence, event: str, wrong: Column) -> DataFrame | None:
    if not evidence.facts.expiring:
        return None
    # What was held when it was consumed may have been delivered in time.
    ends = evidence.journal.where((F.col("event") == event) & ~F.col("reason").eqNullSafe("held")).select(
        "destination_id", "message_id", "at"
    )
    return (
        _expiring(evidence)
        .join(ends, on="message_id", how="inner")
        .where(wrong)
        .join(_stayed(evidence), on=["destination_id", "message_id"], how="left_semi")
        .select(
            "destination_id",
            "message_id",
            text(f"{event} at {{}}, expires at {{}}", "at", "expires_at").alias("seen"),
        )
    )


def _consumed_late(evidence: Evidence) -> DataFrame | None:
    return _ended(evidence, "consumed", F.col("at") > F.col("expires_at") + F.expr(EXPIRY_GRACE))


def _expired_early(evidence: Evidence) -> DataFrame | None:
    return _ended(evidence, "expired", F.col("at") < F.col("expires_at") - F.expr(EXPIRY_GRACE))


def _out_of_order(evidence: Evidence) -> DataFrame | None:
    """Messages of a group that were consumed before one in front of them which was there.

    It was there if both were sent by one transaction, or its sender had ended before the other one was sent: who commits
    later is behind what was received meanwhile. Only what a receive without selector took counts, and neither what
    failed, nor what was moved or parked by an operator.
    """
    if not evidence.facts.grouped:
        return None
    ordered = evidence.policies.where(F.col("ordered_from").isNotNull()).select("destination_id", "ordered_from")
    sent = (
        evidence.journal.where((F.col("event") == "sent") & F.col("group_id").isNotNull())
        .join(F.broadcast(ordered), on="destination_id", how="inner")
        .where(F.col("at") >= F.col("ordered_from"))
        .select(
            "destination_id",
            "message_id",
            "group_id",
            "priority",
            "nonpersistent",
            F.col("xid").alias("sender"),
            "settled_xid",
        )
    )
    consumed = evidence.journal.where((F.col("event") == "consumed") & F.col("reason").isNull()).select(
        "destination_id", "message_id", "at"
    )
    key = ["destination_id", "message_id"]
    usual = (
        sent.join(consumed, on=key, how="inner")
        .join(_stayed(evidence), on=key, how="left_semi")
        .join(evidence.incidents.select(*key), on=key, how="left_anti")
        .join(evidence.acts.select(*key), on=key, how="left_anti")
    )
    lane = ["destination_id", "group_id", "priority", "nonpersistent"]
    in_front = Window.partitionBy(*lane).orderBy("message_id").rowsBetween(Window.unboundedPreceding, -1)
    suspects = usual.withColumn("latest", F.max("at").over(in_front)).where(F.col("latest") > F.col("at"))
    behind = Window.partitionBy(*lane).orderBy("message_id").rowsBetween(1, Window.unboundedFollowing)
    overtaken = usual.withColumn("earliest", F.min("at").over(behind)).where(F.col("earliest") < F.col("at"))
    others = (
        overtaken.withColumn("place", F.row_number().over(Window.partitionBy(*lane).orderBy("message_id")))
        .where(F.col("place") <= OVERTAKEN)
        .select(
            *lane,
            F.col("message_id").alias("front_id"),
            F.col("at").alias("front_at"),
            F.col("sender").alias("front_sender"),
        )
    )
    was_there = (F.col("front_sender") == F.col("sender")) | (F.col("front_sender") < F.col("settled_xid"))
    passed = (F.col("front_id") < F.col("message_id")) & (F.col("front_at") > F.col("at")) & was_there
    return (
        suspects.join(others, on=lane, how="inner")
        .where(passed)
        .groupBy(*key)
        .agg(
            F.min("at").alias("at"),
            F.min("front_id").alias("front_id"),
            F.first("group_id").alias("group"),
        )
        .select(
            *key,
            text("group {}: consumed at {}, before message {} in front of it", "group", "at", "front_id").alias("seen"),
        )
    )


RULES = (
    Rule("consumed_expired", "error", "received after it had expired", find=_consumed_late),
    Rule("expired_early", "error", "ended as expired before its time", find=_expired_early),
    Rule("out_of_order", "error", "consumed before one in front of it in its group", find=_out_of_order),
)
