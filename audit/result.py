"""The result of an audit as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from .checks import SAMPLES
from .origin import Origin
from .ranges import Coverage, Span
from .rules.rule import Rule


@dataclass(frozen=True)
class Queue:
    """The identity of one queue: its terms, what they miss, and the verdict (see identity.PROOFS)."""

    queue: str
    journal_level: str
    messages: int
    sent: int
    moved_in: int
    replayed_in: int
    unrecorded_in: int
    consumed: int
    moved_out: int
    replayed_out: int
    expired: int
    discarded: int
    lost: int
    unrecorded_out: int
    live: int
    parked: int
    dead: int
    difference: int
    faults: int
    verdict: str

    @property
    def balanced(self) -> bool:
        """Whether this queue has no faults."""
        return self.verdict != "not balanced"


@dataclass(frozen=True)
class Hour:
    """The identity of one queue in one hour: opening + came = went + closing. See hours.hours."""

    queue: str
    hour: datetime
    opening: int
    came: int
    went: int
    closing: int
    derived: int
    verdict: str


@dataclass(frozen=True)
class Sample:
    """One violation of a rule: the queue and message, if it concerns one, and what was seen."""

    queue: str | None
    message_id: int | None
    seen: str


@dataclass(frozen=True)
class RuleResult:
    """The outcome of a rule: how many findings, in which queues, a few samples, and their messages' ids."""

    name: str
    severity: str
    meaning: str
    count: int
    samples: tuple[int, ...]
    queues: tuple[str, ...]
    rows: tuple[Sample, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the rule has no findings."""
        return self.count == 0

    @classmethod
    def of(cls, rule: Rule, found: Iterable[Mapping[str, Any]]) -> RuleResult:
        """Return a rule's outcome from the rows of checks.summarise."""
        mine = [row for row in found if row["rule"] == rule.name]
        rows = [Sample(row["queue"], sample["message_id"], sample["seen"]) for row in mine for sample in row["samples"]]
        rows = sorted(rows, key=lambda row: row.message_id or 0)[:SAMPLES]
        return cls(
            name=rule.name,
            severity=rule.severity,
            meaning=rule.meaning,
            count=sum(row["count"] for row in mine),
            samples=tuple(row.message_id for row in rows if row.message_id is not None),
            queues=tuple(sorted(row["queue"] for row in mine if row["queue"] is not None)),
            rows=tuple(rows),
        )


@dataclass(frozen=True)
class AuditResult:
    """One audit.

    rows: what was read of each view.
    taken_at: the database's clock at the snapshot.
    locked: whether the tables were locked against DROP and TRUNCATE.
    hours: see hours.told.
    seconds: wall time, Spark's start included.
    read_seconds: the part of seconds until everything was read and kept.
    output: where the Parquet is.
    evidence: the digest of the Parquet.
    snapshot: what was read, as pg_current_snapshot() gives it.
    notes: what was not looked at, and why, a sentence each.
    origin, page, highlights: who audited, the page, and what it says in a few lines, if one was made.
    coverage, spans: which ranges of message numbers were proved by digest and which by row (ranges.read_ranges); empty:
    all by row.
    """

    queues: tuple[Queue, ...]
    rules: tuple[RuleResult, ...]
    rows: dict[str, int]
    taken_at: str
    locked: bool
    seconds: float
    read_seconds: float
    output: Path | None
    hours: tuple[Hour, ...] = ()
    snapshot: str = ""
    origin: Origin | None = None
    page: Path | None = None
    highlights: tuple[str, ...] = ()
    evidence: str = ""
    notes: tuple[str, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    spans: tuple[Span, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no rule of severity error is broken and every queue balances. Warnings do not matter."""
        return all(queue.balanced for queue in self.queues) and not any(
            rule.count for rule in self.rules if rule.severity == "error"
        )

    def rule(self, name: str) -> RuleResult:
        """Return the outcome of the rule of that name. Raises KeyError if there is none."""
        return {rule.name: rule for rule in self.rules}[name]

    def queue(self, name: str) -> Queue:
        """Return the identity of the queue of that name. Raises KeyError if there is none."""
        return {queue.queue: queue for queue in self.queues}[name]

    def to_dict(self) -> dict[str, Any]:
        """The result in types that JSON knows."""
        hours = [asdict(hour) | {"hour": hour.hour.isoformat()} for hour in self.hours]
        return (
            asdict(self)
            | {"ok": self.ok, "output": str(self.output) if self.output else None, "hours": hours}
            | {"page": str(self.page) if self.page else None}
        )
