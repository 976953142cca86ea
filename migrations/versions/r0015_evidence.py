"""Record what an audit needs to judge expiry, the order of groups, and fencing.

Revision: 0015, after 0014.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

REASON = "Why, for discarded, moved and lost"
TIMESTAMPTZ = postgresql.TIMESTAMP(timezone=True)

COLUMNS = (
    ("oldest_sent_at", TIMESTAMPTZ, "When the oldest of the consumed messages was sent."),
    (
        "expires_at",
        postgresql.ARRAY(TIMESTAMPTZ),
        "Of sent: when each of message_ids expires. NULL: none of them does.",
    ),
    (
        "group_ids",
        postgresql.ARRAY(sa.Text()),
        "Of sent into a queue with message_groups, without delay: the group of each. NULL: none has one.",
    ),
    ("priorities", postgresql.ARRAY(sa.SmallInteger()), "Where there are group_ids: the priority of each message."),
    (
        "settled_xid",
        sa.BigInteger(),
        "Where there are group_ids: every transaction with a lower number had ended when they were sent.",
    ),
)


def upgrade() -> None:
    """Add columns to the journal, all NULL, and so to each of its partitions; the history of locks begins with the present holders."""
    for name, kind, comment in COLUMNS:
        op.add_column("journal", sa.Column(name, kind, nullable=True, comment=comment), schema="howdah")
    _reason(
        f"{REASON}; of consumed: held (received before, locked or leased) or selected (by a selector).", f"{REASON}."
    )
    op.add_column(
        "destinations",
        sa.Column(
            "groups_at",
            TIMESTAMPTZ,
            nullable=True,
            comment="When message_groups or delivery_policy was last changed: an audit expects order of what was sent since. NULL: never.",
        ),
        schema="howdah",
    )
    op.create_table(
        "lock_epochs",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="Number of the change of holder.",
        ),
        sa.Column("acquired_at", TIMESTAMPTZ, nullable=False, comment="When the holder got the lease."),
        sa.Column("epoch", sa.BigInteger(), nullable=False, comment="The fencing token it got."),
        sa.Column(
            "xid",
            sa.BigInteger(),
            server_default=sa.text("pg_current_xact_id()::text::bigint"),
            nullable=False,
            comment="The transaction (xid8 as a number).",
        ),
        sa.Column("name", sa.Text(), nullable=False, comment="Name of the lease."),
        sa.Column("holder", sa.Text(), nullable=True, comment="Who got it."),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lock_epochs")),
        schema="howdah",
        comment="Who held each named lease, one row for each change of holder. INSERT-only; kept for engine.journal_retention_days, the last of a name always.",
    )
    op.create_index("ix_lock_epochs_name", "lock_epochs", ["name", "id"], schema="howdah")
    op.execute(
        "INSERT INTO howdah.lock_epochs (acquired_at, epoch, name, holder)"
        " SELECT clock_timestamp(), l.epoch, l.name, l.holder FROM howdah.lock l WHERE l.epoch > 0 ORDER BY l.id"
    )


def _reason(comment: str, before: str) -> None:
    op.alter_column(
        "journal",
        "reason",
        existing_type=sa.Text(),
        existing_nullable=True,
        comment=comment,
        existing_comment=before,
        schema="howdah",
    )


def downgrade() -> None:
    """Drop them again, with the views made for them."""
    op.execute("DROP TABLE howdah.lock_epochs CASCADE")
    op.execute("DROP VIEW IF EXISTS howdah.audit_journal, howdah.audit_destinations")
    op.execute("UPDATE howdah.engine SET procedures_checksum = ''")  # so that the next migration makes them again
    op.drop_column("destinations", "groups_at", schema="howdah")
    _reason(
        f"{REASON}.", f"{REASON}; of consumed: held (received before, locked or leased) or selected (by a selector)."
    )
    for name, _, _ in reversed(COLUMNS):
        op.drop_column("journal", name, schema="howdah")
