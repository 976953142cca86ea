"""Rules about clocks: times do not run against each other, against transactions, or ahead."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from .rule import CLOCK_GRACE, Evidence, Rule, text

LONGEST_TRANSACTION = "INTERVAL 1 HOUR"
"""A transaction that goes on for longer than this looks like a clock that was set."""

BUCKETS = 10_000
BUCKET_ROWS = 8
"""Transactions are compared with those around them: in so many buckets at most, with so many rows on the average."""

TEMPORARY = "_TEMP."
"""How names of temporary queues begin; nobody else's do."""

LEAST_ROWS = 4
"""Buckets with fewer rows do not judge others."""


def _left_before_sent() -> Column:
    return F.col("left_first") < F.col("sent_first") - F.expr(CLOCK_GRACE)


def _seen_before_sent() -> Column:
    return text("left at {}, sent at {}", "left_first", "sent_first")


def _in_future(evidence: Evidence) -> DataFrame | None:
    """Times later than that at which the database was read."""
    read_at = F.lit(evidence.facts.read_at)
    after = read_at + F.expr(CLOCK_GRACE)
    times = []
    if evidence.facts.messages:
        times += [(evidence.messages, "sent_at", "state"), (evidence.messages, "dead_at", "state")]
    if evidence.facts.latest is not None and evidence.facts.latest > evidence.facts.read_at:
        times.append((evidence.journal, "at", "event"))
    if evidence.facts.incidents:
        times.append((evidence.incidents, "recorded_at", "outcome"))
    found = [
        frame.where(F.col(time) > after).select(
            "destination_id", "message_id", text(f"{{}}: {time} {{}}, read at {{}}", what, time, read_at).alias("seen")
        )
        for frame, time, what in times
    ]
    return reduce(DataFrame.unionByName, found) if found else None


def _before_creation(evidence: Evidence) -> DataFrame:
    """Events and failures from before their destination was created.

    Temporary queues are not judged: they are made again from old ones and keep their number.
    """
    made = evidence.policies.where(~F.col("queue").startswith(TEMPORARY)).select("destination_id", "created_at")
    times = [(evidence.journal, "at", "event")]
    if evidence.facts.incidents:
        times.append((evidence.incidents, "recorded_at", "outcome"))
    found = [
        frame.select("destination_id", "message_id", F.col(time).alias("time"), F.col(what).alias("what"))
        .join(F.broadcast(made), on="destination_id", how="inner")
        .where(F.col("time") < F.col("created_at") - F.expr(CLOCK_GRACE))
        .select(
            "destination_id",
            "message_id",
            text(f"{{}}: {time} {{}}, its queue was made at {{}}", "what", "time", "created_at").alias("seen"),
        )
        for frame, time, what in times
    ]
    return reduce(DataFrame.unionByName, found)


def _against_transactions(evidence: Evidence) -> DataFrame | None:
    """Journal rows whose time lies outside that of the transactions numbered before and after theirs.

    A bucket's time is the median of its rows, so that one wrong row does not accuse those around it.
    """
    low, high = evidence.facts.first_xid, evidence.facts.last_xid
    if low is None or high is None or evidence.totals is not None:
        return None
    width = (high - low) // min(BUCKETS, evidence.facts.journal // BUCKET_ROWS + 1) + 1
    numbered = evidence.journal.select(
        "destination_id", "message_id", "event", "xid", "at", F.floor((F.col("xid") - low) / width).alias("bucket")
    )
    buckets = numbered.groupBy("bucket").agg(
        F.when(F.count(F.lit(1)) >= LEAST_ROWS, F.percentile_approx("at", 0.5)).alias("middle"),
        F.min("at").alias("first"),
        F.max("at").alias("last"),
    )
    by_number = Window.partitionBy(F.lit(0)).orderBy("bucket")
    earliest = F.max("middle").over(by_number.rowsBetween(Window.unboundedPreceding, -1))
    latest = F.min("middle").over(by_number.rowsBetween(1, Window.unboundedFollowing))
    grace = F.expr(LONGEST_TRANSACTION)
    bounds = (
        buckets.withColumn("earliest", earliest - grace)
        .withColumn("latest", latest + grace)
        .where((F.col("first") < F.col("earliest")) | (F.col("last") > F.col("latest")))
        .select("bucket", "earliest", "latest")
    )
    outside = (F.col("at") < F.col("earliest")) | (F.col("at") > F.col("latest"))
    return (
        numbered.join(F.broadcast(bounds), on="bucket", how="inner")
        .where(outside)
        .select(
            "destination_id",
            "message_id",
            text(
                "{} at {} by transaction {}, in whose time others wrote {} to {}",
                "event",
                "at",
                "xid",
                "earliest",
                "latest",
            ).alias("seen"),
        )
    )


RULES = (
    Rule(
        "left_before_sent",
        "error",
        "left a queue before it was sent",
        where=_left_before_sent,
        seen=_seen_before_sent,
    ),
    Rule("in_future", "error", "has a time later than the audit's", find=_in_future),
    Rule("before_creation", "error", "has a time before its queue was made", find=_before_creation),
    Rule(
        "against_transactions", "warning", "recorded at another time than its transaction", find=_against_transactions
    ),
)
