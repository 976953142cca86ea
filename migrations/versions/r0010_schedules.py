"""Let messages be sent by the clock, and expired ones be reclaimed and moved.

Revision: 0010, after 0009.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables of schedules, and the columns."""
    op.create_table(
        "schedules",
        sa.Column(
            "id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="Number of the schedule, from the numbers of its destination's messages; the header scheduledJobId of what it sends.",
        ),
        sa.Column(
            "parent_id",
            sa.BigInteger(),
            nullable=True,
            comment="The cron schedule whose firing began this series. NULL: none.",
        ),
        sa.Column(
            "next_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="The time of the next firing. NULL: there is none, or it is not computed yet.",
        ),
        sa.Column(
            "due_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="When a scheduler looks at it: at next_at, or later after a firing that failed. NULL: never.",
        ),
        sa.Column(
            "starts_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="No firing before this time. NULL: from the beginning.",
        ),
        sa.Column(
            "ends_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="No firing after this time. NULL: for ever.",
        ),
        sa.Column(
            "created_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="When it was made, or last replaced.",
        ),
        sa.Column(
            "changed_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="When it last came into its state.",
        ),
        sa.Column(
            "last_fired_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="When it last sent a message. NULL: never.",
        ),
        sa.Column(
            "period_ms", sa.BigInteger(), nullable=True, comment="Milliseconds between two firings. NULL: no period."
        ),
        sa.Column(
            "delay_ms",
            sa.BigInteger(),
            nullable=True,
            comment="Milliseconds before the first firing of a series. NULL: as long as its period.",
        ),
        sa.Column(
            "misfire_grace_ms",
            sa.BigInteger(),
            nullable=True,
            comment="A firing later than this is left out. NULL: however late.",
        ),
        sa.Column(
            "time_to_live_ms",
            sa.BigInteger(),
            nullable=True,
            comment="Milliseconds that each message lives from its firing. NULL: default.",
        ),
        sa.Column(
            "fired", sa.BigInteger(), server_default=sa.text("0"), nullable=False, comment="Messages it has sent."
        ),
        sa.Column(
            "missed",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="Firings that were left out.",
        ),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The queue or topic it sends to."),
        sa.Column(
            "remaining",
            sa.Integer(),
            nullable=True,
            comment="Firings still to come, with a cron expression those of each series. NULL: no end.",
        ),
        sa.Column(
            "repeats", sa.Integer(), nullable=True, comment="Firings after the first one, as it was made. NULL: no end."
        ),
        sa.Column(
            "priority",
            sa.SmallInteger(),
            nullable=True,
            comment="Priority of its messages. NULL: the destination's default.",
        ),
        sa.Column(
            "catch_up",
            sa.Boolean(),
            nullable=False,
            comment="True: each missed firing is made up for. False: one for all.",
        ),
        sa.Column("is_text", sa.Boolean(), nullable=False, comment="True: body is UTF-8 text or JSON. False: bytes."),
        sa.Column("nonpersistent", sa.Boolean(), nullable=False, comment="Its messages are non-persistent ones."),
        sa.Column(
            "state",
            sa.Text(),
            server_default="active",
            nullable=False,
            comment="active, paused, ended, cancelled or failed.",
        ),
        sa.Column("name", sa.Text(), nullable=True, comment="Name, by which it can be replaced. NULL: none."),
        sa.Column("cron", sa.Text(), nullable=True, comment="Cron expression of five fields. NULL: none."),
        sa.Column(
            "time_zone", sa.Text(), server_default="UTC", nullable=False, comment="Time zone that cron is read in."
        ),
        sa.Column("content_type", sa.Text(), nullable=False, comment="MIME type of the body."),
        sa.Column("body", sa.LargeBinary(), nullable=False, comment="Body of each message."),
        sa.Column(
            "headers",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=True,
            comment="Headers of each message, beside its own. NULL: none.",
        ),
        sa.Column("correlation_id", sa.Text(), nullable=True, comment="JMSCorrelationID of each message."),
        sa.Column("reply_to", sa.Text(), nullable=True, comment="JMSReplyTo of each message."),
        sa.Column("message_type", sa.Text(), nullable=True, comment="JMSType of each message."),
        sa.Column("conversation_id", sa.UUID(), nullable=True, comment="The conversation its messages belong to."),
        sa.Column(
            "created_by",
            sa.Text(),
            nullable=False,
            comment="The role that made it, whose right to send is looked at anew at each firing.",
        ),
        sa.Column("last_error", sa.Text(), nullable=True, comment="Why its last firing failed. NULL: it did not."),
        sa.CheckConstraint(
            "state IN ('active', 'paused', 'ended', 'cancelled', 'failed')", name=op.f("ck_schedules_state")
        ),
        sa.CheckConstraint(
            "period_ms > 0 AND delay_ms >= 0 AND misfire_grace_ms > 0 AND time_to_live_ms > 0",
            name=op.f("ck_schedules_lengths"),
        ),
        sa.CheckConstraint("remaining >= 0", name=op.f("ck_schedules_remaining")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedules")),
        schema="howdah",
        comment="What is sent by the clock: by cron expression, or so often with a period between.",
    )
    op.create_index("ix_schedules_destination", "schedules", ["destination_id"], unique=False, schema="howdah")
    op.create_index(
        "ix_schedules_due",
        "schedules",
        ["due_at"],
        unique=False,
        schema="howdah",
        postgresql_where=sa.text("due_at IS NOT NULL"),
    )
    op.create_index(
        "uq_schedules_name",
        "schedules",
        ["name"],
        unique=True,
        schema="howdah",
        postgresql_where=sa.text("name IS NOT NULL AND state <> 'cancelled'"),
    )
    op.create_table(
        "schedule_runs",
        sa.Column("schedule_id", sa.BigInteger(), nullable=False, comment="The schedule."),
        sa.Column(
            "planned_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="The time for which the firing was planned.",
        ),
        sa.Column("fired_at", postgresql.TIMESTAMP(timezone=True), nullable=False, comment="When it took place."),
        sa.Column("message_id", sa.BigInteger(), nullable=True, comment="The message sent. NULL: it began a series."),
        sa.Column(
            "series_id",
            sa.BigInteger(),
            nullable=True,
            comment="The series that it began, a schedule of its own. NULL: it sent a message.",
        ),
        sa.ForeignKeyConstraint(
            ["schedule_id"], ["howdah.schedules.id"], name="fk_schedule_runs_schedule", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("schedule_id", "planned_at", name=op.f("pk_schedule_runs")),
        schema="howdah",
        comment="One row for each firing; the key forbids a second one for the same time.",
    )
    op.create_index(
        "ix_schedules_parent",
        "schedules",
        ["parent_id"],
        schema="howdah",
        postgresql_where=sa.text("parent_id IS NOT NULL"),
    )
    op.create_index("ix_schedule_runs_fired", "schedule_runs", ["fired_at"], schema="howdah", postgresql_using="brin")
    op.add_column(
        "destinations",
        sa.Column(
            "process_expired",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="True: expired messages go to the exception destination. False: they are gone.",
        ),
        schema="howdah",
    )
    op.add_column(
        "engine",
        sa.Column(
            "expiration_interval_seconds",
            sa.Integer(),
            server_default="60",
            nullable=False,
            comment="Seconds between two searches for expired messages; 0: none. OpenMQ's default.",
        ),
        schema="howdah",
    )
    op.add_column(
        "engine",
        sa.Column(
            "expired_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="When the last search for expired messages began.",
        ),
        schema="howdah",
    )
    op.add_column(
        "engine",
        sa.Column(
            "autorollback",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="True: upkeep rolls back transactions of ours that were prepared before the server's start. OpenMQ's default is false.",
        ),
        schema="howdah",
    )
    op.add_column(
        "engine",
        sa.Column(
            "redelivered_optimization",
            sa.Boolean(),
            server_default=sa.text("true"),
            nullable=False,
            comment="True: messages of a lease that ran out come again as redelivered ones. False: only those that howdah.handed proved. OpenMQ's default is true.",
        ),
        schema="howdah",
    )
    op.create_table(
        "handed",
        sa.Column("lease_id", sa.BigInteger(), nullable=False, comment="The lease."),
        sa.Column("message_id", sa.BigInteger(), nullable=False, comment="The message."),
        sa.Column("handed_at", postgresql.TIMESTAMP(timezone=True), nullable=False, comment="When it was said."),
        sa.PrimaryKeyConstraint("lease_id", "message_id", name=op.f("pk_handed")),
        schema="howdah",
        comment="Proofs that leased messages were handed to the application, for engines without redelivered_optimization.",
    )
    op.create_check_constraint(
        op.f("ck_engine_expiration_interval_seconds"), "engine", "expiration_interval_seconds >= 0", schema="howdah"
    )
    op.execute("CREATE SEQUENCE howdah.expiry_walk MINVALUE 0 START 0")


def downgrade() -> None:
    """Drop them again; schedules are lost."""
    op.execute("DROP SEQUENCE howdah.expiry_walk")
    op.drop_table("handed", schema="howdah")
    op.drop_column("engine", "redelivered_optimization", schema="howdah")
    op.drop_column("engine", "autorollback", schema="howdah")
    op.drop_column("engine", "expired_at", schema="howdah")
    op.drop_column("engine", "expiration_interval_seconds", schema="howdah")
    op.drop_column("destinations", "process_expired", schema="howdah")
    op.execute("DROP TABLE howdah.schedule_runs, howdah.schedules CASCADE")
