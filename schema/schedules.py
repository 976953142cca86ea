"""What is to be sent later, again and again."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, UUID

from .base import TIMESTAMPTZ, metadata

schedules = Table(
    "schedules",
    metadata,
    Column(
        "id",
        BigInteger,
        primary_key=True,
        autoincrement=False,
        comment=(
            "Number of the schedule, taken from the numbers of its destination's messages; the header scheduledJobId "
            "of its messages."
        ),
    ),
    Column("parent_id", BigInteger, comment="The cron schedule whose firing began this series. NULL: none."),
    Column(
        "next_at", TIMESTAMPTZ, comment="The time of the next firing. NULL: there is none, or it is not computed yet."
    ),
    Column(
        "due_at",
        TIMESTAMPTZ,
        comment="When a scheduler looks at it: at next_at, or later after a firing that failed. NULL: never.",
    ),
    Column("starts_at", TIMESTAMPTZ, comment="No firing before this time. NULL: from the beginning."),
    Column("ends_at", TIMESTAMPTZ, comment="No firing after this time. NULL: forever."),
    Column("created_at", TIMESTAMPTZ, nullable=False, comment="When it was created or last replaced."),
    Column("changed_at", TIMESTAMPTZ, nullable=False, comment="When it last changed its state."),
    Column("last_fired_at", TIMESTAMPTZ, comment="When it last sent a message. NULL: never."),
    Column("period_ms", BigInteger, comment="Milliseconds between two firings. NULL: no period."),
    Column("delay_ms", BigInteger, comment="Milliseconds before the first firing of a series. NULL: one period."),
    Column(
        "misfire_grace_ms",
        BigInteger,
        comment=("A firing later than this is left out. NULL: however late, it takes place."),
    ),
    Column(
        "time_to_live_ms",
        BigInteger,
        comment=("Milliseconds that each message lives from its firing. NULL: the default."),
    ),
    Column("fired", BigInteger, nullable=False, server_default=text("0"), comment="Messages it has sent."),
    Column("missed", BigInteger, nullable=False, server_default=text("0"), comment="Firings that were left out."),
    Column("destination_id", Integer, nullable=False, comment="The queue or topic that it sends to."),
    Column(
        "remaining",
        Integer,
        comment="Firings still to come; with a cron expression, those of each series. NULL: no end.",
    ),
    Column("repeats", Integer, comment="Firings after the first one, as given. NULL: no end."),
    Column("priority", SmallInteger, comment="Priority of its messages. NULL: the destination's default."),
    Column(
        "catch_up",
        Boolean,
        nullable=False,
        comment=("True: each missed firing takes place late. False: one firing stands for all."),
    ),
    Column("is_text", Boolean, nullable=False, comment="True: body is UTF-8 text or JSON. False: bytes."),
    Column(
        "reliability",
        Text,
        comment="The level or delivery mode that its messages ask for. NULL: the default of the queue or topic.",
    ),
    Column(
        "state", Text, nullable=False, server_default="active", comment="active, paused, ended, cancelled or failed."
    ),
    Column("name", Text, comment="Name, by which it can be replaced. NULL: none."),
    Column(
        "alias",
        Text,
        comment=(
            "The alias that was named in place of the destination. Its levels hold at each firing, while it stands for "
            "the destination. NULL: none."
        ),
    ),
    Column("cron", Text, comment="Cron expression of five fields. NULL: none."),
    Column("time_zone", Text, nullable=False, server_default="UTC", comment="Time zone that cron is read in."),
    Column("content_type", Text, nullable=False, comment="MIME type of the body."),
    Column("body", LargeBinary, nullable=False, comment="Body of each message."),
    Column("headers", JSONB, comment="Headers of each message, besides its own. NULL: none."),
    Column("correlation_id", Text, comment="JMSCorrelationID of each message."),
    Column("reply_to", Text, comment="JMSReplyTo of each message."),
    Column("message_type", Text, comment="JMSType of each message."),
    Column("conversation_id", UUID(), comment="The conversation that its messages belong to."),
    Column(
        "created_by",
        Text,
        nullable=False,
        comment="The role that created it. Its right to send is checked at each firing.",
    ),
    Column("last_error", Text, comment="Why its last firing failed. NULL: it did not."),
    CheckConstraint("state IN ('active', 'paused', 'ended', 'cancelled', 'failed')", name="state"),
    CheckConstraint("period_ms > 0 AND delay_ms >= 0 AND misfire_grace_ms > 0 AND time_to_live_ms > 0", name="lengths"),
    CheckConstraint("remaining >= 0", name="remaining"),
    Index("uq_schedules_name", "name", unique=True, postgresql_where=text("name IS NOT NULL AND state <> 'cancelled'")),
    Index("ix_schedules_due", "due_at", postgresql_where=text("due_at IS NOT NULL")),
    Index("ix_schedules_destination", "destination_id"),
    Index("ix_schedules_parent", "parent_id", postgresql_where=text("parent_id IS NOT NULL")),
    comment="What is sent by the clock: by a cron expression, or several times with a period between.",
)

schedule_runs = Table(
    "schedule_runs",
    metadata,
    Column(
        "schedule_id",
        BigInteger,
        ForeignKey(schedules.c.id, name="fk_schedule_runs_schedule", ondelete="CASCADE"),
        primary_key=True,
        comment="The schedule.",
    ),
    Column("planned_at", TIMESTAMPTZ, primary_key=True, comment="The time for which the firing was planned."),
    Column("fired_at", TIMESTAMPTZ, nullable=False, comment="When it took place."),
    Column("message_id", BigInteger, comment="The message sent. NULL: it began a series."),
    Column(
        "series_id", BigInteger, comment="The series that it began, a schedule of its own. NULL: it sent a message."
    ),
    Index("ix_schedule_runs_fired", "fired_at", postgresql_using="brin"),
    comment="One row for each firing; the key forbids a second one for the same time.",
)
