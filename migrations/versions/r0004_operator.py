"""Add fingerprints to incidents, the acts of operators, their parking, and the retention of incidents.

Revision: 0004, after 0003.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from howdah.procedures import source

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

REASONS = "parked_reason IN ('delay', 'redelivery', 'blocked', 'quarantine', 'operator')"
REASONS_BEFORE = "parked_reason IN ('delay', 'redelivery', 'blocked', 'quarantine')"
REASON_COMMENT = (
    "delay (sent so), redelivery (after a failure), blocked (past its limit), quarantine, or operator (park_messages)."
)
REASON_COMMENT_BEFORE = "delay (sent so), redelivery (after a failure), blocked (past its limit) or quarantine."


def _check_reasons(condition: str, comment: str) -> None:
    op.drop_constraint(op.f("ck_parked_reason"), "parked", schema="howdah", type_="check")
    op.create_check_constraint(op.f("ck_parked_reason"), "parked", condition, schema="howdah")
    op.alter_column("parked", "parked_reason", schema="howdah", comment=comment)


def upgrade() -> None:
    """Add them; incidents recorded before get their fingerprints."""
    op.add_column(
        "poison_details",
        sa.Column(
            "fingerprint",
            sa.Text(),
            nullable=True,
            comment="Hash of class, SQLSTATE and the error's text without its values: equal for errors of one cause.",
        ),
        schema="howdah",
    )
    # The function that goes on to be used, not a copy of it: else old and new errors of one cause would have two fingerprints.
    op.get_bind().exec_driver_sql(source("failure/_fingerprint").replace("%", "%%"))
    op.execute("UPDATE howdah.poison_details SET fingerprint = howdah._fingerprint(error_class, error_text, sqlstate)")
    op.create_index("ix_poison_details_queue", "poison_details", ["destination_id", "incident_id"], schema="howdah")
    op.create_index(
        "ix_poison_details_recorded", "poison_details", ["recorded_at"], schema="howdah", postgresql_using="brin"
    )
    op.create_table(
        "operator_acts",
        sa.Column("act_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Number of the act."),
        sa.Column("at", postgresql.TIMESTAMP(timezone=True), nullable=False, comment="When it was done."),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The destination the messages were in."),
        sa.Column(
            "other_destination_id",
            sa.Integer(),
            nullable=True,
            comment="Where replayed, edited or moved messages went.",
        ),
        sa.Column("actor", sa.Text(), nullable=False, comment="The role that did it."),
        sa.Column(
            "act", sa.Text(), nullable=False, comment="replayed, edited, moved, parked, retried, discarded or purged."
        ),
        sa.Column("reason", sa.Text(), nullable=True, comment="Why, in the operator's words."),
        sa.Column(
            "message_ids",
            postgresql.ARRAY(sa.BigInteger()),
            nullable=False,
            comment="The messages of one call; for edited the original and its copy.",
        ),
        sa.CheckConstraint(
            "act IN ('replayed', 'edited', 'moved', 'parked', 'retried', 'discarded', 'purged')",
            name=op.f("ck_operator_acts_act"),
        ),
        sa.PrimaryKeyConstraint("act_id", name=op.f("pk_operator_acts")),
        schema="howdah",
        comment="What operators did with messages, and who it was. INSERT-only; kept for engine.journal_retention_days.",
    )
    op.add_column(
        "engine",
        sa.Column(
            "incident_retention_days",
            sa.Integer(),
            server_default="90",
            nullable=False,
            comment="Days that incidents of messages that are gone are kept, at least.",
        ),
        schema="howdah",
    )
    op.create_check_constraint(
        op.f("ck_engine_incident_retention_days"), "engine", "incident_retention_days > 0", schema="howdah"
    )
    _check_reasons(REASONS, REASON_COMMENT)
    # Its result has a column more.
    op.execute("DROP FUNCTION IF EXISTS howdah.incidents(text, bigint, integer)")


def downgrade() -> None:
    """Remove them; messages that an operator parked are delayed ones, with the same time."""
    op.execute("UPDATE howdah.parked SET parked_reason = 'delay' WHERE parked_reason = 'operator'")
    _check_reasons(REASONS_BEFORE, REASON_COMMENT_BEFORE)
    op.drop_column("engine", "incident_retention_days", schema="howdah")
    # The procedures use what goes; without a checksum they are installed anew by the next migration, whatever its release.
    op.execute("UPDATE howdah.engine SET procedures_checksum = ''")
    op.execute("DROP VIEW IF EXISTS howdah.audit_acts, howdah.audit_incidents")
    op.drop_table("operator_acts", schema="howdah")
    op.drop_index("ix_poison_details_recorded", "poison_details", schema="howdah")
    op.drop_index("ix_poison_details_queue", "poison_details", schema="howdah")
    op.drop_column("poison_details", "fingerprint", schema="howdah")
