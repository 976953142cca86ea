"""What audits found, run by run, and the last verdict on each queue."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, Column, Identity, Index, Integer, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

from .base import TIMESTAMPTZ, metadata

audit_runs = Table(
    "audit_runs",
    metadata,
    Column("run_id", BigInteger, Identity(always=True), primary_key=True, comment="Number of the run."),
    Column("started_at", TIMESTAMPTZ, nullable=False, comment="When the run began."),
    Column("finished_at", TIMESTAMPTZ, nullable=False, comment="When it was recorded."),
    Column("taken_at", TIMESTAMPTZ, comment="The database's clock at the snapshot. NULL: there was none."),
    Column(
        "snapshot",
        Text,
        comment="The snapshot that was read, as pg_current_snapshot() gives it: the place from which the next audit"
        " counts.",
    ),
    Column(
        "system_identifier", BigInteger, nullable=False, comment="The cluster whose transaction numbers snapshot holds."
    ),
    Column(
        "severity",
        Text,
        nullable=False,
        comment="none, warning (findings that fail no audit), error (not every message is accounted for) or failed"
        " (there was no audit).",
    ),
    Column("exit_code", Integer, nullable=False, comment="Exit code of the command."),
    Column("errors", BigInteger, nullable=False, comment="Messages that break rules of severity error, rule by rule."),
    Column(
        "warnings", BigInteger, nullable=False, comment="Messages that break rules of severity warning, rule by rule."
    ),
    Column("rows_read", BigInteger, nullable=False, comment="Rows read of all views."),
    Column("queues", JSONB, nullable=False, comment="The identity of each queue: an array of its figures and verdict."),
    Column("rules", JSONB, nullable=False, comment="The rules broken: an array with count, queues and a few messages."),
    Column("reason", Text, comment="Why there was no audit."),
    Column("version", Text, comment="Version of Howdah that audited."),
    Column("output", Text, comment="Where the evidence lies. NULL: none was kept."),
    Column("recorded_by", Text, nullable=False, comment="The role that recorded it."),
    CheckConstraint("severity IN ('none', 'warning', 'error', 'failed')", name="severity"),
    Index("ix_audit_runs_started_at", "started_at"),
    comment="Audits, one row each; kept for engine.journal_retention_days, the last one that was made for ever.",
)

audit_verdicts = Table(
    "audit_verdicts",
    metadata,
    Column("destination_id", Integer, primary_key=True, autoincrement=False, comment="The destination."),
    Column("run_id", BigInteger, nullable=False, comment="The last audit that judged it."),
    Column("audited_at", TIMESTAMPTZ, nullable=False, comment="The database's clock at that audit's snapshot."),
    Column("verdict", Text, nullable=False, comment="What it said, in the auditor's words, such as proved."),
    comment="The last verdict on each destination, for queue_stats.",
)
