"""The proof: every row that was kept, followed and judged by the rules."""

from __future__ import annotations

from pathlib import Path

from .checks import RULES, find_all, summarise
from .folders import at_hand, hours_at_hand, written
from .hours import HOUR_COLUMNS, hours, told
from .identity import IDENTITY_COLUMNS, identity
from .kept import Kept
from .ledger import count_rows, judge_rows, occurrences, queue_policies
from .pace import Pace
from .ranges import through
from .result import Hour, Queue, RuleResult
from .rules.rule import Evidence, facts_of
from .since import Previous


def prove(
    taken: Kept, folder: Path, previous: Previous | None, pace: Pace, *, whole: bool
) -> tuple[tuple[Queue, ...], tuple[Hour, ...], tuple[RuleResult, ...]]:
    """Check what was kept. Writes and returns each queue's identity and hours and each rule's outcome.

    whole: the journal has what digests prove, too.
    """
    kept, ranges = taken.views, taken.ranges
    policies = at_hand(queue_policies(kept["audit_destinations"]))
    totals = ranges.totals if ranges else None
    if ranges and ranges.totals is not None and whole:
        kept = kept | {"audit_journal": through(ranges.of(kept["audit_journal"]), folder / "digests" / "by_row")}
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
    findings = find_all(evidence).persist()
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
