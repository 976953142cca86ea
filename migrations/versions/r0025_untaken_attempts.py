"""Show of attempts whether they were taken, and keep a secret by which begin_attempts is known.

Revision: 0025, after 0024.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add both; an attempt that was begun before can no longer be taken, and counts."""
    op.create_table(
        "untaken_attempts",
        sa.Column("attempt_id", postgresql.UUID(), nullable=False, comment="The attempt."),
        sa.Column("message_id", sa.BigInteger(), nullable=False, comment="Its message."),
        sa.Column(
            "begun_in",
            sa.BigInteger(),
            server_default=sa.text("pg_current_xact_id()::text::bigint"),
            nullable=False,
            comment="The transaction that began it (xid8 as a number), which cannot take it.",
        ),
        sa.Column(
            "boot",
            sa.TIMESTAMP(timezone=True),
            server_default=sa.text("pg_postmaster_start_time()"),
            nullable=False,
            comment="Start of the server in which it was begun; no attempt is taken after the next one.",
        ),
        sa.PrimaryKeyConstraint("attempt_id", "message_id", name=op.f("pk_untaken_attempts")),
        schema="howdah",
        prefixes=["UNLOGGED"],
        comment="Attempts that can be taken. Who takes one deletes its row, and the xmax which that leaves shows it even after a rollback. UNLOGGED: a crash of the server ends all of them, and only VACUUM FREEZE or FULL wipes an xmax out.",
    )
    op.add_column(
        "engine",
        sa.Column(
            "attempting_secret",
            postgresql.UUID(),
            server_default=sa.text("gen_random_uuid()"),
            nullable=False,
            comment="By which howdah.receive knows that it is howdah.begin_attempts that calls it for a hardened queue. Nobody but the owner reads it.",
        ),
        schema="howdah",
    )


def downgrade() -> None:
    """Drop both."""
    op.drop_column("engine", "attempting_secret", schema="howdah")
    op.drop_table("untaken_attempts", schema="howdah")
