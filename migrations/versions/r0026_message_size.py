"""Add a largest message of the whole engine, and keep beside it what each destination was given as its own.

Revision: 0026, after 0025.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

BEFORE = "Largest body in bytes; the default of 70 MiB is Sun ONE MQ's."
NOW = "Largest body in bytes that a send may bring: the lesser of own_max_message_bytes and the engine's max_message_bytes."


def upgrade() -> None:
    """Add the columns; until the engine has such a limit each destination's own holds."""
    op.add_column(
        "destinations",
        sa.Column(
            "own_max_message_bytes",
            sa.BigInteger(),
            nullable=False,
            server_default="73400320",
            comment="The option max_message_bytes as it was given; the default of 70 MiB is Sun ONE MQ's.",
        ),
        schema="howdah",
    )
    op.execute(
        "UPDATE howdah.destinations SET own_max_message_bytes = max_message_bytes WHERE max_message_bytes <> 73400320"
    )
    op.alter_column("destinations", "max_message_bytes", comment=NOW, existing_comment=BEFORE, schema="howdah")
    op.create_check_constraint(
        op.f("ck_destinations_own_max_message_bytes"), "destinations", "own_max_message_bytes > 0", schema="howdah"
    )
    op.add_column(
        "engine",
        sa.Column(
            "max_message_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="Largest body in bytes that any queue or topic takes, whatever its own option says. NULL: each its own.",
        ),
        schema="howdah",
    )
    op.create_check_constraint(op.f("ck_engine_max_message_bytes"), "engine", "max_message_bytes > 0", schema="howdah")


def downgrade() -> None:
    """Drop them again; each destination's own holds."""
    op.drop_constraint(op.f("ck_engine_max_message_bytes"), "engine", schema="howdah")
    op.drop_column("engine", "max_message_bytes", schema="howdah")
    op.execute(
        "UPDATE howdah.destinations SET max_message_bytes = own_max_message_bytes"
        " WHERE max_message_bytes <> own_max_message_bytes"
    )
    op.drop_constraint(op.f("ck_destinations_own_max_message_bytes"), "destinations", schema="howdah")
    op.alter_column("destinations", "max_message_bytes", comment=BEFORE, existing_comment=NOW, schema="howdah")
    op.drop_column("destinations", "own_max_message_bytes", schema="howdah")
