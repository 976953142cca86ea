"""Run all rules of an audit and sum up their findings."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from .rules import altered, delivery, incidents, ledger, levels, locks, time, topics
from .rules.rule import FINDING, Evidence, Rule
from .since import unexplained_since

SAMPLES = 5
"""Number of samples shown for each broken rule."""


def _since_last_audit(evidence: Evidence) -> DataFrame | None:
    return unexplained_since(evidence.previous, evidence.ledger, evidence.journal, evidence.policies, evidence.totals)


RULES = (
    *ledger.RULES,
    *delivery.RULES,
    *topics.RULES,
    *altered.RULES,
    *levels.RULES,
    *incidents.RULES,
    *locks.RULES,
    *time.RULES,
    Rule(
        "since_last_audit",
        "error",
        "queues that the events since the last audit do not explain",
        find=_since_last_audit,
    ),
)


def find_all(evidence: Evidence, rules: tuple[Rule, ...] = RULES) -> DataFrame:
    """What breaks any rule: rule, severity, and the columns FINDING. A ledger message appears once a rule and queue.

    The rules about rows of the ledger are looked up in one pass over it.
    """
    broken = [
        F.when(rule.where(), F.struct(F.lit(rule.name).alias("rule"), rule.seen().alias("seen")))
        for rule in rules
        if rule.where
    ]
    found = [
        evidence.ledger.where(F.coalesce(*broken).isNotNull())
        .select(F.explode(F.array_compact(F.array(*broken))).alias("found"), "destination_id", "message_id")
        .select("found.rule", "destination_id", "message_id", "found.seen")
    ]
    for rule in rules:
        if rule.find and (findings := rule.find(evidence)) is not None:
            found.append(findings.select(F.lit(rule.name).alias("rule"), *FINDING))
    severity = F.create_map(*[F.lit(word) for rule in rules for word in (rule.name, rule.severity)])
    return _together(found).select("rule", severity[F.col("rule")].alias("severity"), *FINDING)


def _together(frames: list[DataFrame]) -> DataFrame:
    """The rows of all. Spark looks through both sides of each union anew, so halves are joined and not one by one."""
    if len(frames) == 1:
        return frames[0]
    half = len(frames) // 2
    return _together(frames[:half]).unionByName(_together(frames[half:]))


def summarise(findings: DataFrame, policies: DataFrame) -> DataFrame:
    """Findings by rule and queue: rule, severity, queue, count, samples.

    samples: the SAMPLES least by message_id, each with message_id and seen. queue is NULL for what concerns none.
    """
    place = F.row_number().over(Window.partitionBy("rule", "destination_id").orderBy("message_id", "seen"))
    numbered = findings.withColumn("place", place)
    sample = F.struct("message_id", "seen")
    return (
        numbered.groupBy("rule", "severity", "destination_id")
        .agg(
            F.count(F.lit(1)).alias("count"),
            F.sort_array(F.collect_list(F.when(F.col("place") <= SAMPLES, sample))).alias("samples"),
        )
        .join(F.broadcast(policies.select("destination_id", "queue")), on="destination_id", how="left")
        .select("rule", "severity", "queue", "count", "samples")
        .orderBy("rule", "queue")
    )
