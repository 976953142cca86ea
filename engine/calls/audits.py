"""What the database knows of audits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

COLUMNS = (
    "run_id, started_at, finished_at, taken_at, snapshot, severity, exit_code, errors, warnings, rows_read, queues,"
    " rules,"
    " reason, version, output, recorded_by"
)


@dataclass(frozen=True)
class Hold:
    """The holder of the right to audit. epoch: the caller's, or None if another holds it."""

    epoch: int | None
    by: str
    until: datetime
