"""Let queues tell their consumers apart, keep order in message groups, and remember selectors.

Revision: 0013, after 0012.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

OPTIONS = (
    (
        "message_groups",
        "none",
        "message_groups IN ('none', 'transaction', 'sticky')",
        (
            "Order within groups (header JMSXGroupID, else the conversation): none, transaction (one transaction at a time has a group) or"
            " sticky (one consumer has it until it goes)."
        ),
    ),
    (
        "delivery_policy",
        "shared",
        "delivery_policy IN ('shared', 'single', 'failover', 'round_robin')",
        (
            "Who gets messages: shared (whoever asks), single (one open consumer, no second one), failover (the first open consumer) or"
            " round_robin (open consumers in turn)."
        ),
    ),
)


def upgrade() -> None:
    """Add the tables, the options, the group that a parked message holds up, and the type that receives pass on."""
    op.create_table(
        "consumers",
        sa.Column(
            "id",
            sa.Integer(),
            sa.Identity(always=True),
            nullable=False,
            comment="Number of the consumer, which also orders them: first come, first served.",
        ),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The queue that it receives from."),
        sa.Column(
            "exclusive",
            sa.Boolean(),
            nullable=False,
            comment="True: while it lives, no other consumer of the queue gets messages.",
        ),
        sa.Column(
            "priority",
            sa.Integer(),
            nullable=False,
            comment="Of several exclusive consumers the one with the highest is active, then the first.",
        ),
        sa.Column(
            "own_session",
            sa.Boolean(),
            nullable=False,
            comment="True: it lives as long as the database session that opened it.",
        ),
        sa.Column(
            "timeout_ms",
            sa.BigInteger(),
            nullable=False,
            comment="Milliseconds of silence after which it counts as gone, unless it has a session of its own or an open transaction.",
        ),
        sa.Column("opened_at", postgresql.TIMESTAMP(timezone=True), nullable=False, comment="When it was opened."),
        sa.Column("opened_by", sa.Text(), nullable=False, comment="The role that opened it."),
        sa.Column(
            "opened_position",
            sa.BigInteger(),
            nullable=False,
            comment="The queue's last position then: where round-robin begins to count.",
        ),
        sa.Column(
            "seen_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="When it last received, to within a quarter of timeout_ms.",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_consumers")),
        schema="howdah",
        comment="Open consumers of queues that tell their consumers apart: exclusive ones, single, failover and round-robin queues, sticky message groups.",
    )
    op.create_index(op.f("ix_consumers_destination_id"), "consumers", ["destination_id"], unique=False, schema="howdah")
    op.create_table(
        "selections",
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The queue."),
        sa.Column("digest", sa.UUID(), nullable=False, comment="MD5 of the selector."),
        sa.Column("rank", sa.SmallInteger(), nullable=False, comment="The lane, as lanes.rank."),
        sa.Column("selector", sa.Text(), nullable=False, comment="The selector."),
        sa.Column("condition", sa.Text(), nullable=False, comment="The selector compiled to SQL."),
        sa.Column(
            "head",
            postgresql.REGCLASS(),
            nullable=True,
            comment="A sequence, a hint: no message that the selector selects lies before this position. NULL: none needed yet.",
        ),
        sa.Column("search", postgresql.REGCLASS(), nullable=True, comment="A sequence, a hint: as lanes.search."),
        sa.Column(
            "used_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="When it was last used, to within an hour.",
        ),
        sa.PrimaryKeyConstraint("destination_id", "digest", "rank", name=op.f("pk_selections")),
        schema="howdah",
        comment="Selectors that receives use: compiled once, and where each goes on looking.",
    )
    op.create_table(
        "group_owners",
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The queue."),
        sa.Column("group_id", sa.Text(), nullable=False, comment="The group: header JMSXGroupID, or the conversation."),
        sa.Column(
            "consumer_id",
            sa.Integer(),
            nullable=False,
            comment="The consumer that gets the group's messages until it goes.",
        ),
        sa.Column("owned_since", postgresql.TIMESTAMP(timezone=True), nullable=False, comment="Since when."),
        sa.ForeignKeyConstraint(
            ["consumer_id"], ["howdah.consumers.id"], name="fk_group_owners_consumer", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("destination_id", "group_id", name=op.f("pk_group_owners")),
        schema="howdah",
        comment="Sticky message groups: which consumer each belongs to. One row a group, none a message.",
    )
    op.create_index(op.f("ix_group_owners_consumer_id"), "group_owners", ["consumer_id"], unique=False, schema="howdah")
    for name, default, check, comment in OPTIONS:
        op.add_column(
            "destinations",
            sa.Column(name, sa.Text(), server_default=default, nullable=False, comment=comment),
            schema="howdah",
        )
        op.create_check_constraint(op.f(f"ck_destinations_{name}"), "destinations", check, schema="howdah")
    op.add_column(
        "parked",
        sa.Column(
            "group_id",
            sa.Text(),
            nullable=True,
            comment="The message group that is held up while the message waits (after a failure, under a lease). NULL: none.",
        ),
        schema="howdah",
    )
    op.create_index(
        "ix_parked_group",
        "parked",
        ["destination_id", "group_id"],
        schema="howdah",
        postgresql_where=sa.text("group_id IS NOT NULL"),
    )
    op.execute(
        "CREATE TYPE howdah.walk AS"
        " (admitted boolean, groups text, consumer integer, selector text, condition text, share text, hold boolean)"
    )
    op.execute(
        "COMMENT ON TYPE howdah.walk IS 'How a receive goes through a queue that it may not simply take from in order:"
        " by message groups, a selector, a consumer. Internal.'"
    )


def downgrade() -> None:
    """Remove them again."""
    op.execute("DROP TYPE howdah.walk CASCADE")  # and the functions that use it, which are replaced as a whole
    op.drop_index("ix_parked_group", table_name="parked", schema="howdah")
    op.drop_column("parked", "group_id", schema="howdah")
    for name, *_ in OPTIONS:
        op.drop_column("destinations", name, schema="howdah")
    for table in ("group_owners", "selections", "consumers"):
        op.drop_table(table, schema="howdah")
