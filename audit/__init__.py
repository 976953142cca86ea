"""Spark jobs that prove from one snapshot what became of every message.

The way of the data: ``snapshot`` exports a snapshot, ``read`` fetches the public views in it over JDBC, ``ledger``
makes one row for each message and queue, ``checks`` finds what breaks a rule, ``identity`` sums up each queue, ``job``
runs these in order and ``report`` prints the result.
"""

from __future__ import annotations

from .errors import AuditError
from .job import run_audit
from .report import print_report, to_dict
from .result import AuditResult, Queue, RuleResult
from .session import spark_session

__all__ = [
    "AuditError",
    "AuditResult",
    "Queue",
    "RuleResult",
    "print_report",
    "run_audit",
    "spark_session",
    "to_dict",
]
