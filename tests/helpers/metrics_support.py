"""What tests of metrics share: the samples, and work that they count."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from support import Db, deliver_and_fail, one, receive


def samples(db: Db, queues: int = 100) -> dict[tuple[str, str], float]:
    """The samples by name and labels."""
    rows = db.execute("select name, labels::text, value from howdah.metrics(%s::integer)", (queues,)).fetchall()
    found = {(str(name), str(labels)): float(value) for name, labels, value in rows}
    assert len(found) == len(rows), "no sample comes twice"
    return found


def figure(found: Mapping[tuple[str, str], float], name: str, **labels: str) -> float | None:
    matching = [value for (key, text), value in found.items() if key == name and json.loads(text) == labels]
    return matching[0] if matching else None


def fold(db: Db) -> None:
    one(db, "select howdah.maintain_totals()")
    one(db, "select howdah.maintain_backlog()")


def totals(db: Db) -> dict[tuple[str, str], float]:
    return {
        key: value for key, value in samples(db).items() if key[0].endswith(("_total", "_bucket", "_count", "_sum"))
    }


def work(db: Db) -> None:
    """Send three messages, consume one, fail one, and record the work of a worker."""
    one(db, "select howdah.send_batch('q', array['a', 'b', 'c'])")
    assert len(receive(db)) == 1
    deliver_and_fail(db, error_class="ValueError")
    worker = one(db, "select howdah.register_worker('w', 'h', 1, 2, array['q'])")
    figures: list[dict[str, Any]] = [
        {"queue": "q", "handled": 1, "failed": 1, "busy_seconds": 0.5, "handling_counts": [0] * 19 + [2] + [0] * 12}
    ]
    one(db, "select howdah.record_worker_figures(%s, 60, %s)", (worker, json.dumps(figures)))
