"""The proof: every row that was kept, followed and judged by the rules."""

from __future__ import annotations

from pyspark.sql import DataFrame

from .checks import RULES, find_all, summarise
from .folders import Storage, at_hand, once
from .hours import HOUR_COLUMNS, hours, told
from .identity import IDENTITY_COLUMNS, identity
from .ledger import count_rows, judge_rows, occurrences, queue_policies
from .pace import Pace
from .result import Hour, Queue, RuleResult
from .rules.rule import Evidence, facts_of
from .since import Previous


def prove(
    kept: dict[str, DataFrame],
    rows: dict[str, int],
    totals: DataFrame | None,
    storage: Storage,
    previous: Previous | None,
    pace: Pace,
    *,
    few: bool,
) -> tuple[tuple[Queue, ...], tuple[Hour, ...], tuple[RuleResult, ...]]:
    """Check what was kept. Writes and returns each queue's identity and hours and each rule's outcome.

    kept, rows, totals: of a Kept (followed, rows, totals). storage: where it is written. few: there are so few rows
    that one task does it.
    """
    policies, known = at_hand(queue_policies(kept["audit_destinations"]))
    cursors, passing = at_hand(kept["audit_cursors"])
    occurred = occurrences(kept["audit_journal"], kept["audit_messages"])
    ledger = once(judge_rows(count_rows(occurred), policies), few=few)
    # Many queues and years are too many hours for the driver.
    counted = hours(kept["audit_journal"], ledger, policies, totals)
    by_hour = storage.keep("hours", counted.select("destination_id", *HOUR_COLUMNS), one_file=True)
    pace.rest()
    evidence = Evidence(
        facts=facts_of(
            kept["audit_journal"],
            rows,
            read_at=max(row["read_at"] for row in known),
            passing=sum(bool(row["gets_all"]) for row in passing),
        ),
        ledger=ledger,
        policies=policies,
        hours=by_hour,
        messages=kept["audit_messages"],
        journal=kept["audit_journal"],
        incidents=kept["audit_incidents"],
        # Messages sent by hand are delivered like others; the other acts excuse what operators did to a message.
        acts=kept["audit_acts"].where("act <> 'sent'"),
        locks=kept["audit_locks"],
        cursors=cursors,
        previous=previous,
        totals=totals,
    )
    found = find_all(evidence)
    findings = once(found.coalesce(1) if few else found, few=few)
    try:
        accounts = storage.write("identity", identity(ledger, policies, findings, evidence.cursors, totals))
        pace.rest()
        periods = told(by_hour).collect()
        broken = storage.write("rules", summarise(findings, policies))
    finally:
        findings.unpersist()
        ledger.unpersist()
    return (
        tuple(Queue(**{name: row[name] for name in IDENTITY_COLUMNS}) for row in accounts),
        tuple(Hour(**{name: row[name] for name in HOUR_COLUMNS}) for row in periods),
        tuple(RuleResult.of(rule, broken) for rule in RULES),
    )
