"""Rules about what lies there: it is what was sent, and dead as its queue made it."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ..ledger import DESTINATIONS
from .rule import Evidence, Rule, text

DEATH_GRACE_SECONDS = 10
"""A message dies a moment before its move is recorded: copies and replies are sent in between."""

BY_OPERATOR = "moved by "
"""How the reason of an operator's move begins."""


def _altered(evidence: Evidence) -> DataFrame | None:
    """Present messages that differ from the record of their send.

    Sends from before digests were recorded are not compared. A message keeps its time, priority and content whatever
    happens to it; its expiry ends where it dies.
    """
    if not evidence.facts.messages:
        return None
    first = F.col("message_id") % DESTINATIONS == F.col("destination_id")
    sent = evidence.journal.where((F.col("event") == "sent") & first & F.col("oldest_sent_at").isNotNull()).select(
        "message_id",
        F.col("oldest_sent_at").alias("was_sent_at"),
        F.col("expires_at").alias("was_expires_at"),
        F.col("priority").alias("was_priority"),
        F.col("digest").alias("was_digest"),
    )
    expiry = ~F.col("expires_at").eqNullSafe(F.col("was_expires_at")) & (
        (F.col("stage") == 0) | F.col("expires_at").isNotNull()
    )
    changes = F.concat_ws(
        "; ",
        F.when(F.col("sent_at") != F.col("was_sent_at"), text("sent at {}, recorded as {}", "sent_at", "was_sent_at")),
        F.when(
            F.col("priority") != F.col("was_priority"), text("priority {}, recorded as {}", "priority", "was_priority")
        ),
        F.when(expiry, text("expires at {}, recorded as {}", "expires_at", "was_expires_at")),
        F.when(F.col("digest") != F.col("was_digest"), F.lit("its content is not what was sent")),
    )
    return (
        evidence.messages.select("destination_id", "message_id", "stage", "sent_at", "expires_at", "priority", "digest")
        .join(sent, on="message_id", how="inner")
        .withColumn("seen", changes)
        .where(F.col("seen") != "")
        .select("destination_id", "message_id", "seen")
    )


def _two_modes() -> Column:
    """Messages that are both persistent and non-persistent, on record or present, where only a send brought them.

    ActiveMQ's queues of dead messages make non-persistent messages persistent, and some come back from there.
    """
    stayed = (F.col("moved_in") + F.col("replayed_in")) == 0
    return (F.col("kind") == "queue") & stayed & (F.col("nonpersistent") != F.col("always_nonpersistent"))


def _dead_otherwise(evidence: Evidence) -> DataFrame | None:
    """Messages with one recorded move whose origin, death or reason differs from it.

    The stage tells that a message was moved once. Then it came from where that row of the journal says. So did each
    copy that subscriptions of a topic moved there.
    """
    if not evidence.facts.messages:
        return None
    moves = evidence.journal.where(F.col("event") == "moved").select(
        F.col("other_destination_id").alias("destination_id"),
        "message_id",
        F.col("queue").alias("came_from"),
        F.col("at").alias("moved_at"),
        F.col("reason").alias("moved_because"),
    )
    lying = evidence.messages.where(F.col("stage") == 1).select(
        "destination_id", "message_id", "origin_queue", "dead_at", "dead_reason"
    )
    buried = ~F.coalesce(F.col("moved_because").startswith(BY_OPERATOR), F.lit(False))
    late = F.abs(F.unix_micros("dead_at") - F.unix_micros("moved_at")) > DEATH_GRACE_SECONDS * 1_000_000
    wrong = F.concat_ws(
        "; ",
        F.when(
            ~F.col("origin_queue").eqNullSafe(F.col("came_from")), text(("its origin is {}, and it came from"
                                                                         " {}"), "origin_queue", "came_from")
        ),
        F.when(buried & F.col("dead_at").isNull(), F.lit("it is not dead, and died")),
        F.when(buried & late, text("dead at {}, moved at {}", "dead_at", "moved_at")),
        F.when(
            buried & (F.col("dead_reason") != F.col("moved_because")), text(("dead of: {}; recorded:"
                                                                             " {}"), "dead_reason", "moved_because")
        ),
    )  # fmt: skip
    judged = lying.join(moves, on=["destination_id", "message_id"], how="inner").withColumn("wrong", wrong)
    return (
        judged.groupBy("destination_id", "message_id")
        .agg(F.min("wrong").alias("seen"))
        # Each of several copies has a matching row.
        .where(F.col("seen") != "")
        .select("destination_id", "message_id", "seen")
    )


RULES = (
    Rule("altered", "error", "differs from what was sent", find=_altered),
    Rule("two_modes", "error", "is on record as persistent and as non-persistent", where=_two_modes),
    Rule("dead_otherwise", "error", "its origin, death or reason differs from its recorded move", find=_dead_otherwise),
)
