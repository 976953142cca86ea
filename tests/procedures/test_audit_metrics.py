"""Metrics show the age, the findings and the verdicts of the last audit."""

from __future__ import annotations

import json

import pytest
from metrics_support import figure, samples
from support import Clock, Db, one


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def test_the_last_audit_shows_its_age_its_findings_and_its_verdicts(db: Db, clock: Clock) -> None:
    assert audited(db, "none", p="proved", q="proved") == (0, 0, 0, 1)
    clock.advance(60)
    assert audited(db, "error", errors=5, warnings=2, q="not balanced") == (0, 5, 2, 0)
    assert verdicts(db) == {"proved": 1, "not balanced": 1}, "p has the verdict of the audit before"
    clock.advance(60)
    failed = "select howdah.record_audit(howdah.now(), 1, 'failed', reason => 'no Java')"
    one(db, failed)
    assert audit(db) == (60, 5, 2, 0), "that was no audit"
    assert audited(db, "warning", warnings=1, p="proved", q="proved") == (0, 0, 1, 1)
    assert verdicts(db) == {"proved": 2}


def audited(db: Db, severity: str, errors: int = 0, warnings: int = 0, **verdicts: str) -> tuple[float | None, ...]:
    """Record an audit of now. Returns what is shown then."""
    queues = json.dumps([{"queue": queue, "verdict": verdict} for queue, verdict in verdicts.items()])
    for queue in verdicts.keys() - {"q"}:
        db.execute(
            "select howdah.create_queue(%s) where not exists (select from howdah.list_queues() l where l.queue = %s)",
            (queue, queue),
        )
    one(
        db,
        "select howdah.record_audit(howdah.now(), 0, %s, howdah.now(), errors => %s, warnings => %s, queues => %s)",
        (severity, errors, warnings, queues),
    )
    return audit(db)


def audit(db: Db) -> tuple[float | None, ...]:
    """Of the last audit: its age in seconds, its errors and warnings, and whether it passed."""
    found = samples(db)
    findings = (figure(found, "howdah_audit_findings", severity=severity) for severity in ("error", "warning"))
    return (figure(found, "howdah_audit_age_seconds"), *findings, figure(found, "howdah_audit_passed"))


def verdicts(db: Db) -> dict[str, float]:
    """How many queues have each verdict."""
    found = {key: value for key, value in samples(db).items() if key[0] == "howdah_audit_queues"}
    return {json.loads(labels)["verdict"]: value for (_, labels), value in found.items()}
