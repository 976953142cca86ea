"""The record of what became of each message, and its running totals."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import UserDefinedType

from .base import TIMESTAMPTZ, after_create, metadata


class PgSnapshot(UserDefinedType[str]):
    """PostgreSQL's pg_snapshot, which SQLAlchemy does not know."""

    cache_ok = True

    def get_col_spec(self, **options: Any) -> str:
        """The type's name in DDL."""
        return "PG_SNAPSHOT"


EVENTS = ("sent", "consumed", "expired", "discarded", "moved", "replayed", "lost")

journal = Table(
    "journal",
    metadata,
    Column("at", TIMESTAMPTZ, nullable=False, comment="When it happened. Partitions are ranges of this column."),
    Column(
        "xid",
        BigInteger,
        nullable=False,
        server_default=text("pg_current_xact_id()::text::bigint"),
        comment="The transaction (xid8 as a number), so that a reader that goes by snapshots misses no late commit.",
    ),
    Column(
        "destination_id",
        Integer,
        nullable=False,
        comment=("The destination that the messages were in (for sent: came into)."),
    ),
    Column("other_destination_id", Integer, comment="Where moved or replayed messages went."),
    Column(
        "nonpersistent",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="True: the messages were non-persistent.",
    ),
    Column("event", Text, nullable=False, comment="sent, consumed, expired, discarded, moved, replayed or lost."),
    Column(
        "reason",
        Text,
        comment=(
            "For discarded, moved and lost: why. For consumed: held (received before, locked or leased) or selected "
            "(by a selector)."
        ),
    ),
    Column(
        "message_ids",
        ARRAY(BigInteger),
        nullable=False,
        comment="The messages of one call. With a last_id, only the one with the lowest number.",
    ),
    Column(
        "oldest_sent_at",
        TIMESTAMPTZ,
        comment="For consumed: when the oldest message was sent. For sent: when all of them were sent.",
    ),
    Column(
        "expires_at",
        ARRAY(TIMESTAMPTZ),
        comment="For sent: when each of message_ids expires. NULL: none of them does.",
    ),
    Column(
        "group_ids",
        ARRAY(Text),
        comment="For sent without delay into a queue with message_groups: the group of each. NULL: none has one.",
    ),
    Column("priorities", ARRAY(SmallInteger), comment="For sent: the priority of each message."),
    Column(
        "settled_xid",
        BigInteger,
        comment="With group_ids: every transaction with a lower id had ended when they were sent.",
    ),
    Column(
        "last_id",
        BigInteger,
        comment=(
            "For messages read from a topic whose numbers have no gap: the greatest. NULL: message_ids has them all."
        ),
    ),
    Column(
        "digests",
        ARRAY(LargeBinary),
        comment=(
            "For sent: 16 bytes for the content of each message (howdah._digest), so that an audit sees changes to it."
        ),
    ),
    Column(
        "reliability",
        SmallInteger,
        comment=(
            "For sent, discarded and lost: the level of the messages, as in msgs. NULL: the usual one of their mode, "
            "or several levels."
        ),
    ),
    Index("ix_journal_xid", "xid", postgresql_using="brin", postgresql_with={"pages_per_range": 32}),
    postgresql_partition_by="RANGE (at)",
    comment="What became of the messages: one row per call. INSERT-only, partitioned by week.",
)

# Compressing 10,000 numbers takes longer than reading their messages. Partitions inherit it, so it comes first.
after_create(journal, "ALTER TABLE howdah.journal ALTER COLUMN message_ids SET STORAGE EXTERNAL")
# Without a default partition a missing week would fail every receive.
after_create(journal, "CREATE TABLE howdah.journal_default PARTITION OF howdah.journal DEFAULT")
after_create(
    journal, "COMMENT ON TABLE howdah.journal_default IS 'Journal rows of weeks that have no partition of their own.'"
)

journal_totals = Table(
    "journal_totals",
    metadata,
    Column("destination_id", Integer, nullable=False, comment="The destination."),
    Column(
        "event",
        Text,
        nullable=False,
        comment="As in journal; moved_in and replayed_in count at the receiving destination.",
    ),
    Column("messages", BigInteger, nullable=False, comment="Messages counted so far, up to engine.totals_snapshot."),
    PrimaryKeyConstraint("destination_id", "event"),
    comment="The journal summed up for each destination and event, so that statistics need not read it all.",
)

backlog_counts = Table(
    "backlog_counts",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False, comment="Always 1."),
    Column("counted_at", TIMESTAMPTZ, nullable=False, comment="When backlog_figures and dead_figures were counted."),
    Column(
        "boot",
        TIMESTAMPTZ,
        nullable=False,
        comment=("Start of the server at that time; non-persistent messages end with it."),
    ),
    CheckConstraint("id = 1", name="single_row"),
    comment="The last count of the backlog: one row, or none before the first count.",
)

backlog_figures = Table(
    "backlog_figures",
    metadata,
    Column("destination_id", Integer, primary_key=True, autoincrement=False, comment="The destination."),
    Column("live", BigInteger, nullable=False, comment="Messages ready for delivery at backlog_counts.counted_at."),
    Column("parked", BigInteger, nullable=False, comment="Messages waiting for a time at backlog_counts.counted_at."),
    Column("oldest_sent_at", TIMESTAMPTZ, comment="When the oldest ready message was sent."),
    Column("leased", BigInteger, nullable=False, server_default=text("0"), comment="Those of parked that are leased."),
    Column("waiting", BigInteger, nullable=False, comment="Those of live that are not dead messages of another queue."),
    Column("waiting_sent_at", TIMESTAMPTZ, comment="When the oldest of waiting was sent."),
    comment="Counts of the queues that are not empty, refreshed in the background.",
)

dead_figures = Table(
    "dead_figures",
    metadata,
    Column("destination_id", Integer, nullable=False, comment="The exception destination."),
    Column("origin_id", Integer, nullable=False, comment="The destination that its messages came from."),
    Column("dead", BigInteger, nullable=False, comment="The number of messages at backlog_counts.counted_at."),
    PrimaryKeyConstraint("destination_id", "origin_id"),
    comment="Counts of dead messages by exception destination and origin, refreshed in the background.",
)
