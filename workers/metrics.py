"""The line of metrics: how much went in, out and wrong since the last one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

BUSIEST = 5
"""How many queues a line names: those with the most traffic."""

Row = Mapping[str, Any]


class Rates:
    """Keeps the last figures, and says per second what came since."""

    def __init__(self) -> None:
        self._at = 0.0
        self._rows: dict[str | None, Row] | None = None

    def since(self, rows: Sequence[Row], now: float) -> dict[str, Any] | None:
        """Return the fields of a line for figures taken at ``now`` (seconds). None at the first call."""
        earlier, seconds = self._rows, now - self._at
        self._rows, self._at = {row["queue_name"]: row for row in rows}, now
        if earlier is None or seconds <= 0:
            return None
        whole = _rates(self._rows[None], earlier.get(None), seconds)
        queues = {
            name: _rates(row, earlier.get(name), seconds) for name, row in self._rows.items() if isinstance(name, str)
        }
        busiest = sorted(queues, key=lambda name: -queues[name]["in"] - queues[name]["out"])[:BUSIEST]
        moved = {name: queues[name] for name in busiest if queues[name]["in"] or queues[name]["out"]}
        exact = {} if self._rows[None]["exact"] else {"exact": False}
        return whole | exact | {"seconds": round(seconds, 3)} | ({"queues": moved} if moved else {})


def _rates(row: Row, before: Row | None, seconds: float) -> dict[str, Any]:
    # An estimated figure may be lower than the one before, but no rate is below zero.
    def rate(name: str) -> float:
        return float(round(max(row[name] - ((before or {}).get(name) or 0), 0) / seconds, 3))

    failed = {} if row["failed"] is None else {"failed": rate("failed")}
    return {"in": rate("messages_in"), "out": rate("messages_out"), **failed, "there": row["there"]}
