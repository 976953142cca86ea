"""Remember what audits found, and which rows of the journal retention has dropped.

Revision: 0018, after 0017.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

TIME = postgresql.TIMESTAMP(timezone=True)


def upgrade() -> None:
    """Add the tables of audits and the engine's column. queue_stats gets two columns more, so its old form goes."""
    op.add_column(
        "engine",
        sa.Column(
            "journal_dropped_xid",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="The greatest transaction of which retention has dropped rows of the journal. 0: none.",
        ),
        schema="howdah",
    )
    op.create_table(
        "audit_runs",
        sa.Column("run_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Number of the run."),
        sa.Column("started_at", TIME, nullable=False, comment="When the run began."),
        sa.Column("finished_at", TIME, nullable=False, comment="When it was recorded."),
        sa.Column(
            "taken_at", TIME, nullable=True, comment="The database's clock at the snapshot. NULL: there was none."
        ),
        sa.Column(
            "snapshot",
            sa.Text(),
            nullable=True,
            comment="The snapshot that was read, as pg_current_snapshot() gives it: the place from which the next audit counts.",
        ),
        sa.Column(
            "system_identifier",
            sa.BigInteger(),
            nullable=False,
            comment="The cluster whose transaction numbers snapshot holds.",
        ),
        sa.Column(
            "severity",
            sa.Text(),
            nullable=False,
            comment="none, warning (findings that fail no audit), error (not every message is accounted for) or failed (there was no audit).",
        ),
        sa.Column("exit_code", sa.Integer(), nullable=False, comment="Exit code of the command."),
        sa.Column(
            "errors",
            sa.BigInteger(),
            nullable=False,
            comment="Messages that break rules of severity error, rule by rule.",
        ),
        sa.Column(
            "warnings",
            sa.BigInteger(),
            nullable=False,
            comment="Messages that break rules of severity warning, rule by rule.",
        ),
        sa.Column("rows_read", sa.BigInteger(), nullable=False, comment="Rows read of all views."),
        sa.Column(
            "queues",
            postgresql.JSONB(),
            nullable=False,
            comment="The identity of each queue: an array of its figures and verdict.",
        ),
        sa.Column(
            "rules",
            postgresql.JSONB(),
            nullable=False,
            comment="The rules broken: an array with count, queues and a few messages.",
        ),
        sa.Column("reason", sa.Text(), nullable=True, comment="Why there was no audit."),
        sa.Column("version", sa.Text(), nullable=True, comment="Version of Howdah that audited."),
        sa.Column("output", sa.Text(), nullable=True, comment="Where the evidence lies. NULL: none was kept."),
        sa.Column("recorded_by", sa.Text(), nullable=False, comment="The role that recorded it."),
        sa.CheckConstraint("severity IN ('none', 'warning', 'error', 'failed')", name=op.f("ck_audit_runs_severity")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_audit_runs")),
        schema="howdah",
        comment="Audits, one row each; kept for engine.journal_retention_days, the last one that was made for ever.",
    )
    op.create_index("ix_audit_runs_started_at", "audit_runs", ["started_at"], schema="howdah")
    op.create_table(
        "audit_verdicts",
        sa.Column("destination_id", sa.Integer(), autoincrement=False, nullable=False, comment="The destination."),
        sa.Column("run_id", sa.BigInteger(), nullable=False, comment="The last audit that judged it."),
        sa.Column("audited_at", TIME, nullable=False, comment="The database's clock at that audit's snapshot."),
        sa.Column(
            "verdict", sa.Text(), nullable=False, comment="What it said, in the auditor's words, such as proved."
        ),
        sa.PrimaryKeyConstraint("destination_id", name=op.f("pk_audit_verdicts")),
        schema="howdah",
        comment="The last verdict on each destination, for queue_stats.",
    )
    op.execute("DROP FUNCTION IF EXISTS howdah.queue_stats(text)")


def downgrade() -> None:
    """Drop them again."""
    op.execute("DROP FUNCTION IF EXISTS howdah.queue_stats(text)")
    op.drop_table("audit_verdicts", schema="howdah")
    op.drop_table("audit_runs", schema="howdah")
    op.drop_column("engine", "journal_dropped_xid", schema="howdah")
