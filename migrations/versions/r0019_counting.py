"""Let queues tell of dead messages and stopped listeners by NOTIFY, and count failures by message group.

Revision: 0019, after 0018.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

BEFORE = "What failures are counted for: message, or conversation (all messages of one add up)."
AFTER = "What failures are counted for: message, or conversation or group (all messages of one add up)."
COUNTING = "count_by IN (%s) AND backout_count IN ('volatile', 'recorded', 'hardened')"


def _let_count_by(what: str, comment: str) -> None:
    op.drop_constraint(op.f("ck_destinations_counting"), "destinations", schema="howdah")
    op.create_check_constraint(op.f("ck_destinations_counting"), "destinations", COUNTING % what, schema="howdah")
    op.alter_column("destinations", "count_by", comment=comment, schema="howdah")


def upgrade() -> None:
    """Add the options and the group of an incident; procedures are installed afterwards, as a whole."""
    _let_count_by("'message', 'conversation', 'group'", AFTER)
    op.add_column(
        "poison_details",
        sa.Column(
            "message_group",
            sa.Text(),
            nullable=True,
            comment="The group of the message: its header JMSXGroupID, else its conversation.",
        ),
        schema="howdah",
    )
    op.create_index(
        "ix_poison_details_group", "poison_details", ["message_group"], schema="howdah", postgresql_using="hash"
    )
    op.add_column(
        "destinations",
        sa.Column(
            "notify_events",
            sa.Boolean(),
            nullable=False,
            server_default=sa.text("false"),
            comment="True: dead messages and stopped listeners are told of by NOTIFY, on the channel howdah_events.",
        ),
        schema="howdah",
    )


def downgrade() -> None:
    """Drop them again, and the view made for them; queues that count by group count by message."""
    op.execute("DROP VIEW IF EXISTS howdah.archive_incidents")
    op.drop_column("destinations", "notify_events", schema="howdah")
    op.drop_index("ix_poison_details_group", "poison_details", schema="howdah")
    op.drop_column("poison_details", "message_group", schema="howdah")
    op.execute("UPDATE howdah.destinations SET count_by = 'message' WHERE count_by = 'group'")
    _let_count_by("'message', 'conversation'", BEFORE)
