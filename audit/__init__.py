"""Spark jobs that prove from one snapshot what became of every message.

The data takes this way:

- ``snapshot`` exports a snapshot.
- ``read`` fetches the public views in it over JDBC, and ``kept`` keeps them as Parquet.
- ``ledger`` makes one row for each message and queue.
- ``hours`` makes one row for each queue and hour.
- ``checks`` finds what breaks a rule (the ``rules``).
- ``identity`` sums up each queue.
- ``proof`` runs the last four in order, and ``job`` all.
- ``report`` prints the result.

``recorded`` makes the result one of the audits on record. Each of them counts on from the last (``since``).
``stream`` is the journal as a source of Spark.
"""

from __future__ import annotations

from .errors import AuditError
from .job import run_audit
from .recorded import AnotherAudit, run_recorded
from .report import print_report, to_dict
from .result import AuditResult, Hour, Queue, RuleResult, Sample
from .session import spark_session
from .since import Previous

__all__ = [
    "AnotherAudit",
    "AuditError",
    "AuditResult",
    "Hour",
    "Previous",
    "Queue",
    "RuleResult",
    "Sample",
    "print_report",
    "run_audit",
    "run_recorded",
    "spark_session",
    "to_dict",
]
