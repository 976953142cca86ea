"""The accounting identity of each queue by the hour: opening + in = out + closing."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from .identity import PROOFS, level

HOUR_COLUMNS = ("queue", "hour", "opening", "came", "went", "closing", "derived", "verdict")

HOURS_MAX = 10_000
"""The most rows, one a queue and hour, in a result. The Parquet has all of them."""

DERIVED = ("unrecorded_entry", "unrecorded_exit", "lost")
"""Verdicts of the ledger that stand for an event that the journal does not have."""


def hours(journal: DataFrame, ledger: DataFrame, policies: DataFrame, totals: DataFrame | None = None) -> DataFrame:
    """One row of HOUR_COLUMNS, destination_id and kind for each queue and hour in which anything came or went.

    came, went: entries and exits, moves and replays included.
    derived: how many of the two no record tells of. They are put where the ledger says: an entry into the hour in which
    the message left.
    opening: the closing of the hour before.
    totals: of what digests prove (digests.totals), which journal and ledger lack.
    verdict: one of identity.PROOFS, or "not balanced" for a closing below zero.
    """
    known = policies.where(F.col("kind") != "topic").select("destination_id", "queue", "kind", level())
    counted = _recorded(journal).unionByName(_derived(ledger))
    if totals is not None:
        counted = counted.unionByName(_by_digest(totals))
    by_hour = counted.groupBy("destination_id", "hour").agg(
        *[F.sum(name).alias(name) for name in ("came", "went", "derived")]
    )
    so_far = Window.partitionBy("destination_id").orderBy("hour")
    closing = F.sum(F.col("came") - F.col("went")).over(so_far)
    proof = F.create_map(*[F.lit(word) for pair in PROOFS.items() for word in pair])[F.col("journal_level")]
    return (
        by_hour.join(F.broadcast(known), on="destination_id", how="inner")
        .withColumn("closing", closing)
        .withColumn("opening", F.col("closing") - F.col("came") + F.col("went"))
        .withColumn("verdict", F.when(F.col("closing") < 0, "not balanced").otherwise(proof))
        .select("destination_id", "kind", *HOUR_COLUMNS)
        .orderBy("queue", "destination_id", "hour")
    )


def told(by_hour: DataFrame) -> DataFrame:
    """The hours in a result: the HOURS_MAX newest, and as many of the oldest that do not balance."""
    newest = by_hour.orderBy(F.desc("hour"), "queue", "destination_id").limit(HOURS_MAX)
    broken = by_hour.where(F.col("closing") < 0).orderBy("hour", "queue", "destination_id").limit(HOURS_MAX)
    return newest.union(broken).distinct().orderBy("queue", "destination_id", "hour")


def _recorded(journal: DataFrame) -> DataFrame:
    """Count what the journal records, by destination and hour."""
    sent = F.col("event") == "sent"
    transferred = F.col("event").isin("moved", "replayed")
    sides = F.array(
        F.struct("destination_id", sent.cast("long").alias("came"), (~sent).cast("long").alias("went")),
        F.when(
            transferred,
            F.struct(
                F.col("other_destination_id").alias("destination_id"),
                F.lit(1).cast("long").alias("came"),
                F.lit(0).cast("long").alias("went"),
            ),
        ),
    )
    return journal.select(_hour("at"), F.explode(F.array_compact(sides)).alias("side")).select(
        "side.destination_id", "hour", "side.came", "side.went", F.lit(0).cast("long").alias("derived")
    )


def _derived(ledger: DataFrame) -> DataFrame:
    """Count what the ledger derives, by destination and hour."""
    missing = F.col("balance")
    return ledger.where(F.col("verdict").isin(*DERIVED)).select(
        "destination_id",
        _hour("derived_at"),
        F.greatest(-missing, F.lit(0)).alias("came"),
        F.greatest(missing, F.lit(0)).alias("went"),
        F.abs(missing).alias("derived"),
    )


def _by_digest(totals: DataFrame) -> DataFrame:
    """Count what digests prove, by destination and hour."""
    return totals.select(
        "destination_id",
        "hour",
        (F.col("sent") + F.col("unrecorded")).alias("came"),
        F.col("consumed").alias("went"),
        F.col("unrecorded").alias("derived"),
    )


def _hour(time: str) -> Column:
    return F.date_trunc("hour", time).alias("hour")
