"""Rules about the way of each message: it came in as often as it went out or is there."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from .rule import Evidence, Rule, is_anywhere, text


def _missing() -> Column:
    return F.col("verdict") == "missing"


def _from_nowhere() -> Column:
    return F.col("verdict") == "from_nowhere"


def _never_sent() -> Column:
    return F.col("unsent") & (F.col("kind") == "subscription") & is_anywhere()


def _twice() -> Column:
    return (F.col("verdict") == "twice") | ((F.col("ends_everywhere") > 1) & is_anywhere())


def _sent_twice() -> Column:
    return (F.col("sent_everywhere") > 1) & (F.col("sent") > 0)


def _unrecorded() -> Column:
    return F.col("verdict").isin("unrecorded_entry", "unrecorded_exit") & F.col("records_sends")


def _unbalanced(evidence: Evidence) -> DataFrame:
    unexplained = F.col("verdict").isin("missing", "from_nowhere", "twice")
    sums = (
        evidence.ledger.where(unexplained)
        .groupBy("destination_id")
        .agg(F.sum("balance").alias("difference"), F.min("message_id").alias("message_id"))
    )
    return sums.where(F.col("difference") != 0).select(
        "destination_id", "message_id", text("its queue came out by {}", "difference").alias("seen")
    )


def _negative_hours(evidence: Evidence) -> DataFrame:
    return evidence.hours.where(F.col("closing") < 0).select(
        "destination_id",
        F.lit(None).cast("long").alias("message_id"),
        text("hour {}: opening {}, in {}, out {}, closing {}", "hour", "opening", "came", "went", "closing").alias(
            "seen"
        ),
    )


def _last_hours(evidence: Evidence) -> DataFrame:
    """Queues whose last hour does not close with what is there; one without any hour closes with 0."""
    closed = evidence.hours.groupBy("destination_id").agg(F.max_by("closing", "hour").alias("closing"))
    there = evidence.ledger.groupBy("destination_id").agg(F.sum("present").alias("present"))
    closing = F.coalesce("closing", F.lit(0))
    return (
        there.join(closed, on="destination_id", how="left")
        .where(closing != F.col("present"))
        .select(
            "destination_id",
            F.lit(None).cast("long").alias("message_id"),
            text("the last hour closes with {}, and {} are there", closing, "present").alias("seen"),
        )
    )


RULES = (
    Rule("missing", "error", "entered a queue, neither left it nor is there", where=_missing),
    Rule("from_nowhere", "error", "left a queue or is there, but never entered it", where=_from_nowhere),
    Rule("never_sent", "error", "read from a topic that has no record of its send", where=_never_sent),
    Rule("consumed_twice", "error", "left or is present more often than it entered", where=_twice),
    Rule("sent_twice", "error", "its send is recorded more than once", where=_sent_twice),
    Rule("identity", "error", "queues whose terms do not add up (one message each)", find=_unbalanced),
    Rule("negative_hours", "error", "hours at whose end more had left a queue than had come", find=_negative_hours),
    Rule("last_hour", "error", "queues whose last hour does not close with what is there", find=_last_hours),
    Rule("unrecorded", "notice", "came or went while the journal did not record it", where=_unrecorded),
)
