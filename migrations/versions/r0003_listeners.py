"""Create the listeners.

Revision: 0003, after 0002.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "listeners",
        sa.Column("id", sa.Integer(), sa.Identity(always=True), nullable=False, comment="Number of the listener."),
        sa.Column("name", sa.Text(collation="C"), nullable=False, comment="Name, of the same characters as a queue's."),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The queue it receives from."),
        sa.Column(
            "kind",
            sa.Text(),
            server_default="activation_specification",
            nullable=False,
            comment="activation_specification, or listener_port: its older name, with the same behaviour.",
        ),
        sa.Column(
            "max_sessions",
            sa.Integer(),
            server_default="10",
            nullable=False,
            comment="Transactions that receive at once, of all processes together.",
        ),
        sa.Column(
            "stop_on_failure",
            sa.Boolean(),
            server_default=sa.text("true"),
            nullable=False,
            comment="Whether failed deliveries stop it.",
        ),
        sa.Column(
            "sequential_failures",
            sa.Integer(),
            server_default="0",
            nullable=False,
            comment="So many failures in a row stop it; 0, like 1: the first one does.",
        ),
        sa.Column(
            "failures",
            sa.Integer(),
            server_default="0",
            nullable=False,
            comment="Failed deliveries since the last handled message, of all sessions, as of the last one; listener_marks may say less.",
        ),
        sa.Column(
            "total_failures",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Failed deliveries since it was created.",
        ),
        sa.Column("status", sa.Text(), server_default="running", nullable=False, comment="running or stopped."),
        sa.Column("stopped_at", postgresql.TIMESTAMP(timezone=True), comment="When it stopped. NULL: it runs."),
        sa.Column(
            "stopped_by",
            sa.Text(),
            comment="The role that stopped it, or recorded the failure that did. NULL: it runs.",
        ),
        sa.Column(
            "stopped_message_id",
            sa.BigInteger(),
            comment="The message whose failure stopped it. NULL: it runs, or was stopped by hand.",
        ),
        sa.Column("stop_reason", sa.Text(), comment="Why it stopped."),
        sa.Column("created_at", postgresql.TIMESTAMP(timezone=True), nullable=False, comment="When it was created."),
        sa.Column("created_by", sa.Text(), nullable=False, comment="The role that created it."),
        sa.CheckConstraint("kind IN ('activation_specification', 'listener_port')", name=op.f("ck_listeners_kind")),
        sa.CheckConstraint("max_sessions BETWEEN 1 AND 1000", name=op.f("ck_listeners_max_sessions")),
        sa.CheckConstraint(
            "sequential_failures >= 0 AND failures >= 0 AND total_failures >= failures",
            name=op.f("ck_listeners_failures"),
        ),
        sa.CheckConstraint("status IN ('running', 'stopped')", name=op.f("ck_listeners_status")),
        sa.CheckConstraint("(status = 'stopped') = (stopped_at IS NOT NULL)", name=op.f("ck_listeners_stopped_at")),
        sa.ForeignKeyConstraint(["destination_id"], ["howdah.destinations.id"], name="fk_listeners_destination"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_listeners")),
        schema="howdah",
        comment="Endpoints that receive from a queue in a limited number of sessions and stop when deliveries fail.",
    )
    op.create_index("uq_listeners_name", "listeners", ["name"], unique=True, schema="howdah")
    op.create_index("ix_listeners_destination", "listeners", ["destination_id"], unique=False, schema="howdah")
    op.create_table(
        "listener_marks",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Number of the mark."),
        sa.Column("listener_id", sa.Integer(), nullable=False, comment="The listener."),
        sa.Column(
            "total_failures",
            sa.BigInteger(),
            nullable=False,
            comment="Its total_failures when the message had been handled.",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_listener_marks")),
        schema="howdah",
        comment="How many of a listener's failures lie before a message that it handled. INSERT-only for handling transactions,"
        " so that they lock nothing; the next failure takes the rows away.",
    )
    op.create_index("ix_listener_marks_listener", "listener_marks", ["listener_id"], unique=False, schema="howdah")


def downgrade() -> None:
    """Drop the tables, and the functions that have their row types in their signatures."""
    op.execute("DROP TABLE howdah.listener_marks")
    op.execute("DROP TABLE howdah.listeners CASCADE")
