"""Rules about levels of reliability: what a level does not allow to be lost was not, and it stays what it was."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..ledger import DESTINATIONS
from .rule import Evidence, Rule, text

BEST_EFFORT, EXPRESS = "BEST_EFFORT_NONPERSISTENT", "EXPRESS_NONPERSISTENT"

REASONS = {
    "RESOURCES": (BEST_EFFORT,),
    "NOT_STORED": (BEST_EFFORT,),
    "LINK_AWAY": (BEST_EFFORT,),
    "SENDER_GONE": (BEST_EFFORT, EXPRESS),
}
"""How the reason begins if the engine discarded for want of something, and the levels that allow it."""


def _too_dear(evidence: Evidence) -> DataFrame:
    """Messages whose level does not allow the loss that is on record.

    A restart loses only non-persistent messages.
    """
    wrong = (F.col("event") == "lost") & ~F.col("nonpersistent")
    for reason, levels in REASONS.items():
        mine = (F.col("event") == "discarded") & F.coalesce(F.col("reason").startswith(reason), F.lit(False))
        wrong |= mine & ~F.col("reliability").isin(*levels)
    return evidence.journal.where(wrong).select(
        "destination_id", "message_id", text("{} as {}: {}", "event", "reliability", "reason").alias("seen")
    )


def _other_level(evidence: Evidence) -> DataFrame | None:
    """Messages that lie where they were sent with another level than that on record."""
    if not evidence.facts.messages:
        return None
    here = F.col("message_id") % DESTINATIONS == F.col("destination_id")
    sent = evidence.journal.where((F.col("event") == "sent") & here).select(
        "message_id", F.col("reliability").alias("was")
    )
    return (
        evidence.messages.where(here & (F.col("stage") == 0))
        .select("destination_id", "message_id", "reliability")
        .join(sent, on="message_id", how="inner")
        .where(F.col("reliability") != F.col("was"))
        .select("destination_id", "message_id", text("{}, recorded as {}", "reliability", "was").alias("seen"))
    )


RULES = (
    Rule("lost_above_level", "error", "was lost in a way that its level of reliability excludes", find=_too_dear),
    Rule("other_level", "error", "has another level of reliability than it was sent with", find=_other_level),
)
