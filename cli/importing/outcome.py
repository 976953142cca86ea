"""What a pass did, or would do, with each queue, topic and subscription."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .. import tables

#: How many staying rows are named one by one for each queue and reason. The table counts all of them.
TOLD_MAX = 10

# The name here is last: two long names leave no room for figures, and most names are the same on both sides.
COLUMNS = tables.Columns(
    {
        "there": "in ActiveMQ",
        "found": "found",
        "stays": "stays",
        "stored": "new",
        "repeated": "before",
        "withdrawn": "taken back",
        "here": "here",
    },
    {},
)
DRY_COLUMNS = tables.Columns(
    {"there": "in ActiveMQ", "found": "found", "stays": "stays", "comes": "comes over", "why": "why", "here": "here"},
    {},
    cut=frozenset({"why"}),
)


@dataclass
class Line:
    """One queue, topic or subscription."""

    there: str
    here: str | None = None
    found: int = 0
    comes: int = 0
    stored: int = 0
    repeated: int = 0
    withdrawn: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def row(self) -> dict[str, Any]:
        """The line as a row of the table."""
        return {
            "there": self.there,
            "here": self.here,
            "found": self.found,
            "comes": self.comes,
            "stored": self.stored,
            "repeated": self.repeated,
            "withdrawn": self.withdrawn,
            "stays": self.reasons.total(),
            "why": "; ".join(f"{number} {reason}" for reason, number in self.reasons.most_common()),
        }


class Outcome:
    """All lines, in the order in which they came."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        """tell: is called with the reason for each row that stays."""
        self._tell = tell
        self._told = 0
        self._lines: dict[str, Line] = {}

    def __getitem__(self, there: str) -> Line:
        return self._lines.setdefault(there, Line(there))

    def __contains__(self, there: str) -> bool:
        return there in self._lines

    def rows(self) -> list[dict[str, Any]]:
        """The lines as rows of the table."""
        return [line.row() for line in self._lines.values()]

    def stays(self, there: str, reason: str, store_id: int | None = None, *, told: bool = True) -> None:
        """Count a message that stays, and tell why."""
        self[there].reasons[reason] += 1
        number = self[there].reasons[reason]
        if told and number <= TOLD_MAX:
            self._tell(f"{there}{'' if store_id is None else f', row {store_id}'} stays: {reason}")
        elif told and number == TOLD_MAX + 1:
            self._tell(f"{there}: more rows stay for the same reason")
        self._told += told

    @property
    def refused(self) -> int:
        """How many rows stay for another reason than that they are over."""
        return self._told
