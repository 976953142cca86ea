"""The accounting identity of each queue.

sent + moved in + replayed in + unrecorded entries = consumed + moved out + replayed out + expired + discarded + lost
non-persistent + unrecorded exits + live + parked + dead.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from .ledger import DESTINATIONS, ENTRIES, EXITS, STATES, total

IDENTITY_COLUMNS = (
    "queue",
    "journal_level",
    "messages",
    *ENTRIES,
    "unrecorded_in",
    *EXITS,
    "unrecorded_out",
    *STATES,
    "difference",
    "faults",
    "verdict",
)

PROOFS = {
    "full": "proved",
    "exits": "sends not recorded independently",
    "off": "only what is present is known",
    "topic": "proved by its topic's sends",
    "chosen": "no record says what it should have got",
}
"""Verdicts on queues without faults, by journal_level. The last two: subscriptions whose topics record their sends."""

PROVED = (PROOFS["full"], PROOFS["topic"])
"""Verdicts on queues where a lost message shows."""


def identity(
    ledger: DataFrame,
    policies: DataFrame,
    findings: DataFrame,
    cursors: DataFrame,
    totals: DataFrame | None = None,
) -> DataFrame:
    """One row of IDENTITY_COLUMNS for each queue that has a ledger row or is not dropped, by name.

    ledger: of judge_rows. findings: of checks.find_all. totals: of what digests prove
    (digests.totals), which the ledger lacks. lost counts recorded losses and inferred ones. Errors are
    counted by message (``faults``), so a missing message and a doubled one do not cancel out as they do in
    ``difference``. verdict: one of PROOFS, or "not balanced".
    """
    sums = ledger.groupBy("destination_id").agg(
        F.count(F.lit(1)).alias("messages"),
        *[F.sum(term).alias(term) for term in (*ENTRIES, *EXITS, *STATES)],
        _sum_of("lost").alias("inferred"),
        (-_sum_of("unrecorded_entry")).alias("unrecorded_in"),
        _sum_of("unrecorded_exit").alias("unrecorded_out"),
    )
    if totals is not None:
        sums = _with_totals(sums, totals)
    faults = (
        findings.where(F.col("severity") == "error")
        .groupBy("destination_id")
        .agg(F.count_distinct(F.coalesce("message_id", F.lit(0))).alias("faults"))
    )
    terms = ("messages", *ENTRIES, "unrecorded_in", *EXITS, "inferred", "unrecorded_out", *STATES, "faults")
    complete = (
        policies.join(sums, on="destination_id", how="left")
        .join(faults, on="destination_id", how="left")
        .join(_by_topic(ledger, policies, cursors), on="destination_id", how="left")
        .where((F.col("dropped_at").isNull() & (F.col("kind") != "topic")) | F.col("messages").isNotNull())
        .select(
            "destination_id", "queue", level(), "by_topic", *[F.coalesce(term, F.lit(0)).alias(term) for term in terms]
        )
        .withColumn("lost", F.col("lost") + F.col("inferred"))
    )
    difference = total((*ENTRIES, "unrecorded_in")) - total((*EXITS, "unrecorded_out")) - total(STATES)
    basis = F.when(F.col("journal_level") == "exits", F.col("by_topic"))
    proof = F.create_map(*[F.lit(word) for pair in PROOFS.items() for word in pair])[
        F.coalesce(basis, F.col("journal_level"))
    ]
    wrong = (F.col("difference") != 0) | (F.col("faults") > 0)
    return (
        complete.withColumn("difference", difference)
        .withColumn("verdict", F.when(wrong, "not balanced").otherwise(proof))
        .select("destination_id", *IDENTITY_COLUMNS)
        .orderBy("queue", "destination_id")
    )


def _with_totals(sums: DataFrame, totals: DataFrame) -> DataFrame:
    """The sums of the ledger with what digests prove: each such message was consumed once."""
    terms = [name for name in sums.columns if name != "destination_id"]
    proved = totals.select(
        "destination_id",
        F.col("consumed").alias("messages"),
        "sent",
        "consumed",
        F.col("unrecorded").alias("unrecorded_in"),
    )
    whole = sums.unionByName(proved, allowMissingColumns=True).groupBy("destination_id")
    return whole.agg(*[F.sum(F.coalesce(term, F.lit(0))).alias(term) for term in terms])


def level() -> Column:
    """journal_level, but exits in place of full for subscriptions: nothing records how a message came into one."""
    mere = (F.col("kind") == "subscription") & (F.col("journal_level") == "full")
    return F.when(mere, "exits").otherwise(F.col("journal_level")).alias("journal_level")


def _by_topic(ledger: DataFrame, policies: DataFrame, cursors: DataFrame) -> DataFrame:
    """destination_id and by_topic, topic or chosen, of the subscriptions of which each topic records its sends.

    A topic is one that it reads, or that a message of it was sent to.
    chosen: no cursor tells that it gets all (rule not_delivered), for it selects or was dropped.
    """
    key = "destination_id"
    read = cursors.select(key, "topic_id", "gets_all")
    had = ledger.where(F.col("kind") == "subscription").select(
        key, (F.col("message_id") % DESTINATIONS).alias("topic_id")
    )
    topics = policies.select(F.col(key).alias("topic_id"), F.col("journal_level").alias("topic_level"))
    return (
        policies.where(F.col("kind") == "subscription")
        .select(key)
        .join(read.unionByName(had.distinct(), allowMissingColumns=True), on=key, how="left")
        .join(F.broadcast(topics), on="topic_id", how="left")
        .groupBy(key)
        .agg(
            F.coalesce(F.max("gets_all"), F.lit(False)).alias("all"),
            F.max(F.col("topic_id").isNotNull() & ~F.col("topic_level").eqNullSafe("full")).alias("short"),
        )
        .where(~F.col("short"))
        .select(key, F.when(F.col("all"), "topic").otherwise("chosen").alias("by_topic"))
    )


def _sum_of(verdict: str) -> Column:
    return F.sum(F.when(F.col("verdict") == verdict, F.col("balance")).otherwise(0))
