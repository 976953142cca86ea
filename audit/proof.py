"""The proof: every row that was kept, followed and judged by the rules."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame

from .checks import RULES, find_all, summarise
from .folders import at_hand, hours_at_hand, written
from .hours import HOUR_COLUMNS, hours, told
from .identity import IDENTITY_COLUMNS, identity
from .ledger import count_rows, judge_rows, occurrences, queue_policies
from .pace import Pace
from .result import Hour, Queue, RuleResult
from .rules.rule import Evidence, facts_of
from .since import Previous


def prove(
    kept: dict[str, DataFrame],
    totals: DataFrame | None,
    folder: Path,
    previous: Previous | None,
    pace: Pace,
    *,
    few: bool,
) -> tuple[tuple[Queue, ...], tuple[Hour, ...], tuple[RuleResult, ...]]:
    """Check what was kept. Writes and returns each queue's identity and hours and each rule's outcome.

    kept, totals: of a Kept (followed, totals). few: there are so few rows that one task does it.
    """
    policies = at_hand(queue_policies(kept["audit_destinations"]))
    occurred = occurrences(kept["audit_journal"], kept["audit_messages"])
    ledger = judge_rows(count_rows(occurred), policies).persist()
    by_hour = hours_at_hand(hours(kept["audit_journal"], ledger, policies, totals), folder / "hours")
    pace.rest()
    evidence = Evidence(
        facts=facts_of(policies, kept["audit_journal"], kept["audit_incidents"]),
        ledger=ledger,
        policies=policies,
        hours=by_hour,
        messages=kept["audit_messages"],
        journal=kept["audit_journal"],
        incidents=kept["audit_incidents"],
        # Messages sent by hand are delivered like others; the other acts excuse what operators did to a message.
        acts=kept["audit_acts"].where("act <> 'sent'"),
        locks=kept["audit_locks"],
        cursors=at_hand(kept["audit_cursors"]),
        previous=previous,
        totals=totals,
    )
    found = find_all(evidence)
    # A task for each rule would unpack the plans of all.
    findings = (found.coalesce(1) if few else found).persist()
    try:
        accounts = written(identity(ledger, policies, findings, evidence.cursors, totals), folder / "identity")
        pace.rest()
        periods = told(by_hour).collect()
        broken = written(summarise(findings, policies), folder / "rules")
    finally:
        findings.unpersist()
        ledger.unpersist()
    return (
        tuple(Queue(**{name: row[name] for name in IDENTITY_COLUMNS}) for row in accounts),
        tuple(Hour(**{name: row[name] for name in HOUR_COLUMNS}) for row in periods),
        tuple(RuleResult.of(rule, broken) for rule in RULES),
    )
