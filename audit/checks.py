"""The rules of an audit, each a function that finds the messages that break it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from .ledger import ENDS, STATES, total

SAMPLES = 5
"""Message ids that are named of each rule broken."""

LIMIT_REASON = "failed deliveries reached the limit"
REJECTED_REASON = "rejected by its handler"
"""dead_reason of a message whose failures were counted."""


@dataclass(frozen=True)
class Evidence:
    """What rules look at: the ledger (judge_rows), its queues' policies, and two views as they were read."""

    ledger: DataFrame
    policies: DataFrame
    messages: DataFrame
    incidents: DataFrame


@dataclass(frozen=True)
class Rule:
    """A rule. An error fails the audit.

    It is broken by the rows of the ledger for which ``where`` is true, or by what ``find`` returns: at least
    destination_id and message_id.
    """

    name: str
    severity: str
    meaning: str
    where: Callable[[], Column] | None = None
    find: Callable[[Evidence], DataFrame] | None = None


def _missing() -> Column:
    return F.col("verdict") == "missing"


def _from_nowhere() -> Column:
    return F.col("verdict") == "from_nowhere"


def _twice() -> Column:
    here = (total(ENDS) + total(STATES)) > 0
    return (F.col("verdict") == "twice") | ((F.col("ends_everywhere") > 1) & here)


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
    return sums.where(F.col("difference") != 0)


def _dead_without_incidents(evidence: Evidence) -> DataFrame:
    """Dead by the limit or rejected, but the incidents that led there are not all present.

    They are those of the stage before, in the queue that the message was in then. Enough are as many as the queue's
    limit; or, since the limit may have been raised since, all up to one that moved the message; of a rejected one, any number.
    Numbers without a gap show that none was taken away.
    """
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
    dead = evidence.messages.where(F.col("dead_reason").isin(LIMIT_REASON, REJECTED_REASON)).select(
        "destination_id", "message_id", "stage", "dead_reason"
    )
    joined = dead.join(recorded, on=["message_id", "stage"], how="left").join(
        F.broadcast(limits), on="failed_in", how="left"
    )
    enough = F.col("incidents") >= F.greatest("max_failed_deliveries", F.lit(1))
    reached = enough | F.col("moved_at").isNotNull() | (F.col("dead_reason") == REJECTED_REASON)
    return joined.where(
        F.col("incidents").isNull() | (F.col("last_attempt") > F.col("incidents")) | ~F.coalesce(reached, F.lit(False))
    )


def _over_limit(evidence: Evidence) -> DataFrame:
    """More failures in one stage than the limit, where the queue has one; those of messages long gone do not count."""
    counted = (
        evidence.incidents.where(F.col("outcome") != "gone")
        .groupBy("destination_id", "message_id", "stage")
        .agg(F.count(F.lit(1)).alias("incidents"))
    )
    limits = evidence.policies.where((F.col("max_failed_deliveries") > 0) & (F.col("exception_mode") != "none")).select(
        "destination_id", "max_failed_deliveries"
    )
    joined = counted.join(F.broadcast(limits), on="destination_id", how="inner")
    return joined.where(F.col("incidents") > F.col("max_failed_deliveries"))


def _unknown(evidence: Evidence) -> DataFrame:
    """Incidents of messages that no queue has seen, where the queue would know."""
    complete = evidence.policies.where(
        (F.col("journal_level") == "full") & F.col("recorded_from").isNull() & (F.col("kind") == "queue")
    )
    known = evidence.ledger.select("message_id")
    return (
        evidence.incidents.join(F.broadcast(complete.select("destination_id")), on="destination_id", how="left_semi")
        .join(known, on="message_id", how="left_anti")
        .select("destination_id", "message_id")
        .distinct()
    )


RULES = (
    Rule("missing", "error", "entered a queue, neither left it nor is there", where=_missing),
    Rule("from_nowhere", "error", "left a queue or is there, but never entered it", where=_from_nowhere),
    Rule("consumed_twice", "error", "left or is present more often than it entered", where=_twice),
    Rule("sent_twice", "error", "its send is recorded more than once", where=_sent_twice),
    Rule("identity", "error", "queues whose terms do not add up (one message each)", find=_unbalanced),
    Rule(
        "dead_without_incidents",
        "error",
        "dead by its failures, which are not all recorded",
        find=_dead_without_incidents,
    ),
    Rule("incidents_over_limit", "warning", "failed more often than its queue allows", find=_over_limit),
    Rule("unknown_message", "warning", "has incidents, but no queue ever saw it", find=_unknown),
    Rule("unrecorded", "warning", "came or went while the journal did not record it", where=_unrecorded),
)


def find_all(evidence: Evidence, rules: tuple[Rule, ...] = RULES) -> DataFrame:
    """What breaks any rule: rule, severity, destination_id, message_id; a message once a rule and queue.

    The rules about rows of the ledger are looked up in one pass over it.
    """
    broken = [F.when(rule.where(), F.lit(rule.name)) for rule in rules if rule.where]
    found = [
        evidence.ledger.where(F.coalesce(*broken).isNotNull()).select(
            F.explode(F.array_compact(F.array(*broken))).alias("rule"), "destination_id", "message_id"
        )
    ]
    for rule in rules:
        if rule.find:
            found.append(rule.find(evidence).select(F.lit(rule.name).alias("rule"), "destination_id", "message_id"))
    severity = F.create_map(*[F.lit(word) for rule in rules for word in (rule.name, rule.severity)])
    return reduce(DataFrame.unionByName, found).select(
        "rule", severity[F.col("rule")].alias("severity"), "destination_id", "message_id"
    )


def summarise(findings: DataFrame, policies: DataFrame) -> DataFrame:
    """Findings by rule and queue: rule, severity, queue, count, samples (the least SAMPLES message ids)."""
    place = F.row_number().over(Window.partitionBy("rule", "destination_id").orderBy("message_id"))
    numbered = findings.withColumn("place", place)
    return (
        numbered.groupBy("rule", "severity", "destination_id")
        .agg(
            F.count(F.lit(1)).alias("count"),
            F.sort_array(F.collect_list(F.when(F.col("place") <= SAMPLES, F.col("message_id")))).alias("samples"),
        )
        .join(F.broadcast(policies.select("destination_id", "queue")), on="destination_id", how="left")
        .select("rule", "severity", "queue", "count", "samples")
        .orderBy("rule", "queue")
    )
