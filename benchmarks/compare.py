"""Two records: what became slower, beyond what their own repetitions vary by."""

from __future__ import annotations

from dataclasses import dataclass

from .record import OURS, Record, Result
from .rows import ROWS

#: Smaller changes are not reported, however steady. The second limit is for figures measured once, of unknown spread.
TOLERANCE = 0.10
TOLERANCE_ONCE = 0.25


@dataclass(frozen=True)
class Change:
    """A figure of ours in both records; factor below 1: worse."""

    row: str
    case: str
    unit: str
    old: float
    new: float
    factor: float
    #: Against the floor of the same run where there is one, so that two machines can be compared.
    relative: bool
    tolerance: float = TOLERANCE

    @property
    def slower(self) -> bool:
        """Whether it is to be spoken of."""
        return self.factor < 1 - self.tolerance


def compare(old: Record, new: Record) -> list[Change]:
    """Every figure of ours that both have, the worst first."""
    changes = []
    for result in new.results:
        before = old.find(result.row, result.case, result.who, result.unit)
        if result.who != OURS or before is None:
            continue
        change = _against_floor(old, new, before, result) or Change(
            result.row,
            result.case,
            result.unit,
            before.median,
            result.median,
            _factor(before, result),
            False,
            _tolerance(before, result),
        )
        changes.append(change)
    return sorted(changes, key=lambda change: change.factor)


def _factor(old: Result, new: Result) -> float:
    """How many times better the new median is; 1.0 where the repetitions overlap."""
    if not new.higher_is_better:
        old, new = new, old
    if min(new.values) > max(old.values) or max(new.values) < min(old.values):
        return new.median / old.median
    return 1.0


def _against_floor(old: Record, new: Record, before: Result, result: Result) -> Change | None:
    floor = next((row.against for row in ROWS if row.key == result.row), "")
    floors = [record.find(result.row, result.case, floor, result.unit) for record in (old, new)]
    if floors[0] is None or floors[1] is None:
        return None
    was, now = before.advantage(floors[0]), result.advantage(floors[1])
    ratios = [
        Result("", "", "", "ratio", ours.advantages(floor))
        for ours, floor in ((before, floors[0]), (result, floors[1]))
    ]
    factor = _factor(ratios[0], ratios[1])
    return Change(result.row, result.case, "ratio", was, now, factor, True, _tolerance(before, result))


def _tolerance(old: Result, new: Result) -> float:
    return TOLERANCE_ONCE if 1 in (len(old.values), len(new.values)) else TOLERANCE
