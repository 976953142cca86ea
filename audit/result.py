"""What an audit found, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .checks import SAMPLES, Rule


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
        """Whether nothing speaks against this queue."""
        return self.verdict != "not balanced"


@dataclass(frozen=True)
class RuleResult:
    """The outcome of a rule: how many messages break it, in which queues, and the ids of a few of them."""

    name: str
    severity: str
    meaning: str
    count: int
    samples: tuple[int, ...]
    queues: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing breaks the rule."""
        return self.count == 0

    @classmethod
    def of(cls, rule: Rule, found: Iterable[Mapping[str, Any]]) -> RuleResult:
        """The outcome of one rule from the rows of checks.summarise."""
        mine = [row for row in found if row["rule"] == rule.name]
        samples = sorted(number for row in mine for number in row["samples"])[:SAMPLES]
        queues = tuple(sorted(row["queue"] for row in mine))
        return cls(rule.name, rule.severity, rule.meaning, sum(row["count"] for row in mine), tuple(samples), queues)


@dataclass(frozen=True)
class AuditResult:
    """One audit.

    rows: what was read of each view. taken_at: the database's clock at the snapshot. locked: whether the tables were
    locked against DROP and TRUNCATE. seconds: wall time, Spark's start included. output: where the Parquet is.
    """

    queues: tuple[Queue, ...]
    rules: tuple[RuleResult, ...]
    rows: dict[str, int]
    taken_at: str
    locked: bool
    seconds: float
    output: Path | None

    @property
    def ok(self) -> bool:
        """Whether no rule of severity error is broken and every queue balances. Warnings do not fail an audit."""
        return all(queue.balanced for queue in self.queues) and not any(
            rule.count for rule in self.rules if rule.severity == "error"
        )

    def rule(self, name: str) -> RuleResult:
        """The outcome of the rule of that name; KeyError if there is none."""
        return {rule.name: rule for rule in self.rules}[name]

    def queue(self, name: str) -> Queue:
        """The identity of the queue of that name; KeyError if there is none."""
        return {queue.queue: queue for queue in self.queues}[name]

    def to_dict(self) -> dict[str, Any]:
        """The result in types that JSON knows."""
        return asdict(self) | {"ok": self.ok, "output": str(self.output) if self.output else None}
