"""Rules about what subscriptions were given of their topics."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ..ledger import DESTINATIONS
from .rule import Evidence, Rule, text

START_GRACE = "INTERVAL 10 SECONDS"
"""A subscription begins with a snapshot, but its time of creation and those of sends come from the clock."""


def _not_delivered(evidence: Evidence) -> DataFrame | None:
    """Messages that a subscription's cursors have passed, though nothing tells that it ever had them.

    A subscription without selector and no_local gets all that is published after its beginning. What it read, set aside
    or was spared by an act on record (``seek_subscription``) is in the ledger. Three kinds are not judged: messages
    that expire, non-persistent ones, which may go unread, and those sent before the subscription's own record is
    complete.
    """
    if not evidence.facts.passing:
        return None
    passing = evidence.cursors.where("gets_all")
    none = F.array().cast("array<bigint>")
    places = (
        passing.withColumn(
            "passed_not",
            F.when(F.col("passed_not").isNotNull(), F.split("passed_not", ",").cast("array<bigint>")).otherwise(none),
        )
        .groupBy("destination_id", "topic_id")
        .agg(
            F.min("created_at").alias("created_at"),
            F.collect_list(F.struct("xid", "seq", "passed_before", "passed_not")).alias("cursors"),
        )
        .join(evidence.policies.select("destination_id", "journal_level", "recorded_from"), on="destination_id")
        .where(F.col("journal_level") != "off")
        .drop("journal_level")
    )
    sent = evidence.journal.where(
        (F.col("event") == "sent") & ~F.col("nonpersistent") & F.col("expires_at").isNull()
    ).select(F.col("destination_id").alias("topic_id"), "message_id", "at", F.col("xid").alias("sent_xid"))
    return (
        sent.join(F.broadcast(places), on="topic_id", how="inner")
        .where(
            (F.col("at") > F.greatest(F.col("created_at") + F.expr(START_GRACE), "recorded_from"))
            & F.forall("cursors", _has_passed)
        )
        .join(
            evidence.ledger.select("destination_id", "message_id"), on=["destination_id", "message_id"], how="left_anti"
        )
        .select("destination_id", "message_id", text("sent at {} and passed, but not received", "at").alias("seen"))
    )


def _has_passed(cursor: Column) -> Column:
    """As howdah._is_passed."""
    sent, seq = F.col("sent_xid"), F.expr(f"message_id div {DESTINATIONS}")
    before = (sent < cursor["passed_before"]) & ~F.array_contains(cursor["passed_not"], sent)
    return before | ((sent == cursor["xid"]) & (seq <= cursor["seq"]))


RULES = (
    Rule(
        "not_delivered",
        "error",
        "skipped by a subscription that has no record of it",
        find=_not_delivered,
    ),
)
