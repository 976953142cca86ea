"""Rules about when messages were delivered: before they expired, and in order within their group."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from ..ledger import DESTINATIONS
from .altered import BY_OPERATOR
from .rule import Evidence, Rule, text

EXPIRY_GRACE = "INTERVAL 10 SECONDS"
"""A receive looks at the clock before it takes a message, and again when it records it."""

KEY = ["destination_id", "message_id"]

LANE = ("destination_id", "group_id", "priority", "nonpersistent")
"""Messages of one lane come in the order of their numbers."""


def _expiring(evidence: Evidence, event: str) -> DataFrame:
    """When each message expires, by the record of its send. NULL: never; it matters if the message is recorded as
    expired.

    Sends from before that time was recorded do not say never.
    """
    first = F.col("message_id") % DESTINATIONS == F.col("destination_id")
    known = F.col("expires_at").isNotNull()
    if event == "expired":
        known |= F.col("oldest_sent_at").isNotNull()
    return evidence.journal.where((F.col("event") == "sent") & known & first).select("message_id", "expires_at")


def _stayed(evidence: Evidence) -> DataFrame:
    """Messages that are where they were sent to and never were elsewhere: moved messages no longer expire."""
    moved = F.col("moved_in") + F.col("replayed_in") + F.col("moved_out") + F.col("replayed_out")
    sound = (F.col("verdict") == "ok") | (F.col("kind") == "subscription")
    return evidence.ledger.where((moved == 0) & sound).select("destination_id", "message_id")


def _ends(evidence: Evidence, event: str) -> DataFrame:
    ends = evidence.journal.where(F.col("event") == event)
    if event == "consumed":
        # A message that was held when it was consumed may have been delivered in time.
        ends = ends.where(~F.col("reason").eqNullSafe("held"))
    return ends.select("destination_id", "message_id", "at")


def _seen(event: str) -> Column:
    return text(f"{event} at {{}}, expires at {{}}", "at", "expires_at").alias("seen")


def _consumed_late(evidence: Evidence) -> DataFrame | None:
    if not evidence.facts.expiring:
        return None
    return (
        _expiring(evidence, "consumed")
        .join(_ends(evidence, "consumed"), on="message_id", how="inner")
        .where(F.col("at") > F.col("expires_at") + F.expr(EXPIRY_GRACE))
        .join(_stayed(evidence), on=KEY, how="left_semi")
        .select(*KEY, _seen("consumed"))
    )


def _expired_early(evidence: Evidence) -> DataFrame | None:
    """Messages that ended as expired too early: where they were sent or had died; anywhere if sent without an expiry.

    Moves and replays give no expiry, and a death takes it. Several copies of a topic's message may lie where one of
    them died. The last of these is not judged.
    """
    if not evidence.facts.expired:
        return None
    ends = _ends(evidence, "expired")
    ended = _expiring(evidence, "expired").join(ends, on="message_id", how="inner")
    early = F.col("at") < F.col("expires_at") - F.expr(EXPIRY_GRACE)
    in_place = ended.where(early).join(_stayed(evidence), on=KEY, how="left_semi")
    unlimited = ended.where(F.col("expires_at").isNull())
    died = evidence.journal.where(
        (F.col("event") == "moved")
        & (F.col("message_id") % DESTINATIONS == F.col("destination_id"))
        & F.col("reason").isNotNull()
        & ~F.col("reason").startswith(BY_OPERATOR)
    ).select(F.col("other_destination_id").alias("destination_id"), "message_id", F.col("at").alias("died_at"))
    dead = (
        ends.join(died, on=KEY, how="inner")
        .where(F.col("at") > F.col("died_at"))
        .withColumn("expires_at", F.lit(None).cast("timestamp"))
    )
    columns = (*KEY, "at", "expires_at")
    wrong = in_place.select(*columns).unionByName(unlimited.select(*columns)).unionByName(dead.select(*columns))
    return wrong.select(*KEY, _seen("expired")).distinct()


def _out_of_order(evidence: Evidence) -> DataFrame | None:
    """Messages of a group that were consumed before one in front of them which was there.

    It was there if both were sent by one transaction, or if its sender had ended before the other one was sent. A
    sender that commits later is behind what was received meanwhile. Only messages taken by a receive without selector
    count. Messages that failed, or that an operator moved or parked, do not count.
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
    in_front = Window.partitionBy(*LANE).orderBy("message_id").rowsBetween(Window.unboundedPreceding, -1)
    behind = Window.partitionBy(*LANE).orderBy("message_id").rowsBetween(1, Window.unboundedFollowing)
    # Only these can form a reversed pair; single receives cannot.
    crossed = (
        usual.withColumn("passed", F.max("at").over(in_front) > F.col("at"))
        .withColumn("overtaken", F.min("at").over(behind) < F.col("at"))
        .where("passed or overtaken")
    )
    return (
        _of_one_sender(crossed)
        .unionByName(_of_settled_senders(crossed))
        .groupBy(*key)
        .agg(F.min("at").alias("at"), F.max("front").alias("front"), F.first("group_id").alias("group"))
        .select(
            *key,
            text(
                "group {}: consumed at {}, before message {} in front of it", "group", "at", F.col("front.message_id")
            ).alias("seen"),
        )
    )


def _of_one_sender(crossed: DataFrame) -> DataFrame:
    """Messages that passed one in front of them of the same transaction; front is the last of these to be consumed."""
    mine = Window.partitionBy(*LANE, "sender").orderBy("message_id").rangeBetween(Window.unboundedPreceding, -1)
    return _late(crossed.withColumn("front", F.max(F.struct("at", "message_id")).over(mine)))


def _of_settled_senders(crossed: DataFrame) -> DataFrame:
    """Messages that passed one in front of them whose sender had ended before they were sent; front as above.

    Three orders must agree for that: numbers, senders and times. The numbers of a lane are halved again and again. At
    each level, everything of a piece's left half is in front of everything of its right half. One sort by senders finds
    the latest of the left ones that was there. So each pair is looked at, and a row is sorted once for each doubling of
    its lane.
    """
    numbers = Window.partitionBy(*LANE)
    levelled = (
        crossed.withColumn("rank", F.dense_rank().over(numbers.orderBy("message_id")) - 1)
        .withColumn("levels", F.length(F.bin(F.max("rank").over(numbers))))
        .withColumn("level", F.explode(F.expr("sequence(0, levels - 1)")))
        .withColumn("right", F.expr("shiftright(rank, level) % 2 = 1"))
        .where("if(right, passed and settled_xid is not null, overtaken)")
    )
    # At the same number, the right ones come first: a sender with that number had not ended.
    order = (F.when(F.col("right"), F.col("settled_xid")).otherwise(F.col("sender")), F.desc("right"))
    piece = Window.partitionBy(*LANE, "level", F.expr("shiftright(rank, level + 1)")).orderBy(*order)
    there = piece.rowsBetween(Window.unboundedPreceding, -1)
    left = F.when(~F.col("right"), F.struct("at", "message_id"))
    return _late(levelled.withColumn("front", F.max(left).over(there)).where("right"))


def _late(compared: DataFrame) -> DataFrame:
    return compared.where(F.col("front.at") > F.col("at")).select(
        "destination_id", "message_id", "group_id", "at", "front"
    )


RULES = (
    Rule("consumed_expired", "error", "received after it had expired", find=_consumed_late),
    Rule("expired_early", "error", "ended as expired before its time", find=_expired_early),
    Rule("out_of_order", "error", "consumed before a message in front of it in its group", find=_out_of_order),
)
