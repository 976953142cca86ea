"""Rules about failed deliveries: dead messages and incidents belong together, and limits are kept."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from ..ledger import DESTINATIONS
from .records import STAGE, changed, gaps, unknown, without_message
from .rule import CLOCK_GRACE, Evidence, Rule, text

LIMIT_REASON = "failed deliveries reached the limit"
REJECTED_REASON = "rejected by its handler"
"""dead_reason of a message whose failures were counted."""

FAULTS = "there is no queue [^;]*|queue [^;]* is full|NOT_AUTHORIZED: [^;]*|it came from queue [^;]*"
COUNTED = f"^({LIMIT_REASON}|{REJECTED_REASON})(; ({FAULTS}))*$"
"""The same, or why the message did not go where its policy sends it. Operators and clean_incidents add to it."""

CLEANED = "its incidents were deleted"
"""What clean_incidents adds to the reason of a message it disposes of."""


ENDED = ("moved", "discarded", "ended")
"""Outcomes after which a message is no longer in its queue."""

RETRIED = ("returned", "delayed")
"""Outcomes after which it is delivered once more."""


def _dead_without_incidents(evidence: Evidence) -> DataFrame | None:
    """Dead by the limit or rejected, but the incidents that led there are not all present.

    They are those of the stage before, in the queue that the message was in then. As many as the queue's limit are
    enough. The limit may have been raised since, so all up to one that moved the message are enough, too. For a
    rejected message, any number is enough. Numbers without a gap show that none was taken away. Messages of queues that
    count more than a message's own incidents (those of its conversation, or attempts whose consumer died) are for
    ``_dead_of_nothing``.
    """
    if not evidence.facts.messages:
        return None
    recorded = (
        evidence.incidents.groupBy("message_id", "stage")
        .agg(
            F.count(F.lit(1)).alias("incidents"),
            F.max("attempt").alias("last_attempt"),
            F.max(F.when(F.col("outcome") == "moved", F.col("attempt"))).alias("moved_at"),
            F.min("destination_id").alias("failed_in"),
        )
        .select("message_id", (F.col("stage") + 1).alias("stage"), "incidents", "last_attempt", "moved_at", "failed_in")
    )
    limits = evidence.policies.select(F.col("destination_id").alias("failed_in"), "max_failed_deliveries")
    rejected = F.col("dead_reason").startswith(REJECTED_REASON)
    dead = evidence.messages.where(F.col("dead_reason").rlike(COUNTED)).select(
        "destination_id", "message_id", "stage", "dead_reason", "origin_queue", "conversation_id", "group_key"
    )
    others = _dead_of_nothing(evidence, dead)
    alone = evidence.policies.where(~F.col("counts_alone")).select(F.col("queue").alias("origin_queue"))
    dead = dead.join(F.broadcast(alone), on="origin_queue", how="left_anti")
    joined = dead.join(recorded, on=["message_id", "stage"], how="left").join(
        F.broadcast(limits), on="failed_in", how="left"
    )
    enough = F.col("incidents") >= F.greatest("max_failed_deliveries", F.lit(1))
    reached = enough | F.col("moved_at").isNotNull() | rejected
    broken = (
        F.col("incidents").isNull() | (F.col("last_attempt") > F.col("incidents")) | ~F.coalesce(reached, F.lit(False))
    )
    seen = text(
        "{}; {} incidents, the last is attempt {}", "dead_reason", F.coalesce("incidents", F.lit(0)), "last_attempt"
    )
    return joined.where(broken).select("destination_id", "message_id", seen.alias("seen")).unionByName(others)


def _dead_of_nothing(evidence: Evidence, dead: DataFrame) -> DataFrame:
    """Dead messages of queues that count more than a message's own incidents, without any record of a cause.

    A rejected message has an incident that says so, whatever its queue counts. One at the limit of its conversation or
    group has an incident, or another message there has one. Retention may have deleted the incident. So may
    clean_incidents, when another message died; the journal tells of that. An attempt of a hardened queue may leave
    none.
    """
    origins = (
        evidence.policies.groupBy(F.col("queue").alias("origin_queue"))
        .agg(
            F.max((~F.col("counts_alone")).cast("int")).alias("others_count"),
            F.max(F.col("hardened").cast("int")).alias("hardened"),
            F.min(F.col("incidents_whole").cast("int")).alias("incidents_whole"),
        )
        .where("others_count = 1")
    )
    unexplained = dead.join(F.broadcast(origins), on="origin_queue", how="inner").where(
        F.col("dead_reason").startswith(REJECTED_REASON) | ((F.col("hardened") == 0) & (F.col("incidents_whole") == 1))
    )
    unexplained = unexplained.join(evidence.incidents.select("message_id"), on="message_id", how="left_anti")
    kin = evidence.incidents.where("group_key is not null or conversation_id is not null")
    rejected = F.col("dead_reason").startswith(REJECTED_REASON)
    cleaned = evidence.journal.where(F.col("reason").contains(CLEANED)).select(F.col("queue").alias("origin_queue"))
    of_kin = (
        unexplained.where(~rejected)
        .join(cleaned, on="origin_queue", how="left_anti")
        .join(kin.select("conversation_id"), on="conversation_id", how="left_anti")
        .join(kin.select("group_key"), on="group_key", how="left_anti")
    )
    return (
        unexplained.where(rejected)
        .unionByName(of_kin)
        .select("destination_id", "message_id", text("{}; no incidents at all", "dead_reason").alias("seen"))
    )


def _over_limit(evidence: Evidence) -> DataFrame | None:
    """More failures in one stage than the limit, where the queue has one.

    Failures of messages long gone do not count. Nor do those that the limit did not count, because the session that
    died probably did not have the message in its hands.
    """
    if not evidence.facts.incidents:
        return None
    counted = evidence.incidents.where(_counts()).groupBy(*STAGE).agg(F.count(F.lit(1)).alias("incidents"))
    limits = evidence.policies.where((F.col("max_failed_deliveries") > 0) & (F.col("exception_mode") != "none")).select(
        "destination_id", "max_failed_deliveries"
    )
    joined = counted.join(F.broadcast(limits), on="destination_id", how="inner")
    seen = text("{} failures in stage {}, and the limit is {}", "incidents", "stage", "max_failed_deliveries")
    return joined.where(F.col("incidents") > F.col("max_failed_deliveries")).select(
        "destination_id", "message_id", seen.alias("seen")
    )


def _retried_at_limit(evidence: Evidence) -> DataFrame | None:
    """Failures at the limit after which the message still had to come again.

    The number of a failure, the limit and what follows are decided and recorded together, while the message is locked.
    The number is the lesser of the recorded one and the count of the stage's present failures. So failures that
    retention deleted, or that the recorder's snapshot did not show, accuse nobody.
    """
    if not evidence.facts.incidents:
        return None
    number = F.row_number().over(Window.partitionBy(*STAGE).orderBy("incident_id"))
    return (
        evidence.incidents.where(_counts())
        .withColumn("number", F.least(number, "attempt"))
        .where(F.col("outcome").isin(*RETRIED) & (F.col("number") >= F.col("dispose_at")))
        .select(
            "destination_id",
            "message_id",
            text("failure {} is {}, and the limit was {}", "number", "outcome", "dispose_at").alias("seen"),
        )
    )


def _beyond_readers(evidence: Evidence) -> DataFrame | None:
    """More failures in one stage than the limit and one for each session that the server allows.

    A receive that does not see a failure yet may deliver once more, each session once. No limit lets more than that
    through. Only failures recorded since the last change of the policy and the server's start count. Messages that
    operators dealt with do not count.
    """
    if not evidence.facts.incidents:
        return None
    limits = evidence.policies.where((F.col("max_failed_deliveries") > 0) & (F.col("exception_mode") != "none")).select(
        "destination_id", "max_failed_deliveries", "max_connections", "policy_xid", "server_started_at"
    )
    counted = (
        evidence.incidents.where(_counts())
        .join(F.broadcast(limits), on="destination_id", how="inner")
        .where((F.col("xid") >= F.col("policy_xid")) & (F.col("recorded_at") >= F.col("server_started_at")))
        .groupBy(*STAGE, "max_failed_deliveries", "max_connections")
        .agg(F.count(F.lit(1)).alias("incidents"))
        .where(F.col("incidents") > F.col("max_failed_deliveries") + F.col("max_connections"))
        .join(
            evidence.acts.select("destination_id", "message_id"), on=["destination_id", "message_id"], how="left_anti"
        )
    )
    seen = text(
        "{} failures in stage {}, the limit is {}, and there are at most {} sessions",
        "incidents",
        "stage",
        "max_failed_deliveries",
        "max_connections",
    )
    return counted.select("destination_id", "message_id", seen.alias("seen"))


def _redelivered_early(evidence: Evidence) -> DataFrame | None:
    """Received, or handled and failed again, before the delay of the last failure was over.

    due_at is the recorded time, whatever the queue's delay is now. Messages that may have been in other hands when the
    failure was recorded (outcome held) are left out. So are those that operators dealt with, because a retry ends a
    delay. A delayed message was free, or in its recorder's hands. So a consumer that took it before it was due received
    it after that. This holds also where reason held tells only the moment of the acknowledgement. A failure without a
    duration accuses nobody: perhaps nobody received the message.
    """
    if not evidence.facts.incidents:
        return None
    keys = ["destination_id", "message_id"]
    handled = F.col("outcome").isin(*RETRIED) & (F.col("stage") == F.col("delayed_stage"))
    begun = F.col("recorded_at") - F.make_dt_interval(secs=F.col("duration_ms") / 1000)
    early = F.col("due_at") - F.expr(CLOCK_GRACE)
    delayed = (
        evidence.incidents.where((F.col("outcome") == "delayed") & F.col("due_at").isNotNull())
        .select(
            *keys,
            F.col("stage").alias("delayed_stage"),
            F.col("incident_id").alias("delayed_by"),
            F.col("recorded_at").alias("delayed_at"),
            "due_at",
        )
        .join(evidence.acts.select(*keys), on=keys, how="left_anti")
    )
    received = (
        evidence.journal.where(F.col("event") == "consumed")
        .select(*keys, "at")
        .join(delayed, on=keys, how="inner")
        .where((F.col("at") > F.col("delayed_at")) & (F.col("at") < early))
        .select(*keys, text("consumed at {}, and was due at {}", "at", "due_at").alias("seen"))
    )
    failed = (
        evidence.incidents.drop("due_at")
        .join(delayed, on=keys, how="inner")
        .where(handled & F.col("duration_ms").isNotNull() & (F.col("incident_id") > F.col("delayed_by")))
        .where((begun > F.col("delayed_at")) & (F.col("recorded_at") < early))
        .select(*keys, text("failed again at {}, and was due at {}", "recorded_at", "due_at").alias("seen"))
    )
    return received.unionByName(failed)


def _counts() -> Column:
    return (F.col("outcome") != "gone") & ~F.coalesce(F.col("uncounted"), F.lit(False))


def _after_the_end(evidence: Evidence) -> DataFrame | None:
    """Failures of a stage that are recorded after one that took the message out of its queue.

    Failures judged by another limit are left out, since that limit may have let the message go on. So are numbers of
    topics outside of subscriptions, where several copies of a message may lie.
    """
    if not evidence.facts.incidents:
        return None
    earlier = Window.partitionBy(*STAGE).orderBy("incident_id").rowsBetween(Window.unboundedPreceding, -1)
    is_end = F.col("outcome").isin(*ENDED)
    topics = evidence.policies.where(F.col("kind") == "topic").select(F.col("destination_id").alias("origin_id"))
    subscriptions = evidence.policies.where(F.col("kind") == "subscription").select(
        "destination_id", F.lit(True).alias("subscribed")
    )
    return (
        evidence.incidents.where(F.col("outcome") != "gone")
        .withColumn("ended", F.max(F.when(is_end, F.col("attempt"))).over(earlier))
        .withColumn("judged_by", F.max(F.when(is_end, F.col("dispose_at"))).over(earlier))
        .where(F.col("ended").isNotNull() & F.coalesce(F.col("judged_by") == F.col("dispose_at"), F.lit(True)))
        .withColumn("origin_id", F.col("message_id") % DESTINATIONS)
        .join(F.broadcast(topics.withColumn("published", F.lit(True))), on="origin_id", how="left")
        .join(F.broadcast(subscriptions), on="destination_id", how="left")
        .where(F.col("published").isNull() | F.col("subscribed").isNotNull())
        .select(
            "destination_id",
            "message_id",
            text("attempt {} is {}, after attempt {} had ended it", "attempt", "outcome", "ended").alias("seen"),
        )
    )


RULES = (
    Rule(
        "dead_without_incidents",
        "error",
        "a dead message has fewer incidents than failures",
        find=_dead_without_incidents,
    ),
    Rule("failed_after_end", "error", "failed again after a failure had removed it", find=_after_the_end),
    Rule("incident_without_message", "error", "has incidents, and no queue ever saw it", find=without_message),
    Rule("incident_changed", "error", "an incident has changed since it was recorded", find=changed),
    Rule("incident_missing", "error", "failed more often than its incidents show", find=gaps),
    Rule("retried_at_limit", "error", "was to be redelivered although it was at its limit", find=_retried_at_limit),
    Rule(
        "failures_beyond_readers",
        "error",
        "failed more often than its limit and all sessions explain",
        find=_beyond_readers,
    ),
    Rule("redelivered_early", "warning", "was redelivered before its delay was over", find=_redelivered_early),
    Rule("incidents_over_limit", "warning", "failed more often than its queue allows", find=_over_limit),
    Rule("unknown_message", "warning", "was reported as failed, but no queue ever saw it", find=unknown),
)
