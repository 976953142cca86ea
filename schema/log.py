"""The log of the SQL side: what happened in the engine, and how far workers have written it to their logs."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, Column, Identity, Index, PrimaryKeyConstraint, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB

from .base import TIMESTAMPTZ, metadata

log_events = Table(
    "log_events",
    metadata,
    Column("event_id", BigInteger, Identity(always=True), primary_key=True, comment="Number of the event."),
    Column(
        "transaction",
        BigInteger,
        nullable=False,
        comment=(
            "The transaction (xid8 as a number). A reader takes what its last snapshot did not show and this one does."
        ),
    ),
    Column("at", TIMESTAMPTZ, nullable=False, comment="When it happened."),
    Column("level", Text, nullable=False, comment="ERROR, WARNING or INFO."),
    Column(
        "event", Text, nullable=False, comment="What happened, such as QUEUE_DISABLED. LOG: an application said it."
    ),
    Column("destination", Text, comment="The queue, topic or subscription. NULL: it concerns the whole engine."),
    Column("actor", Text, nullable=False, comment="The role in whose call it happened."),
    Column("text", Text, nullable=False, comment="The same for people, in a few words."),
    Column("details", JSONB, nullable=False, comment="What else is known, as a JSON object."),
    Index("ix_log_events_transaction", "transaction"),
    Index("ix_log_events_at", "at"),
    Index(
        "ix_log_events_state",
        "destination",
        "event_id",
        postgresql_where=text("event IN ('LIMIT_REACHED', 'LIMIT_LEFT', 'RESOURCE_STATE')"),
    ),
    CheckConstraint("level IN ('ERROR', 'WARNING', 'INFO')", name="level"),
    comment="Events of the SQL side for the log. INSERT-only; kept for engine.log_retention_days.",
)

log_readers = Table(
    "log_readers",
    metadata,
    Column("reader", Text, nullable=False, comment="Name of the reader: that of a set of workers."),
    Column("read_as", Text, nullable=False, comment="The role that reads. Each role has readers of its own."),
    Column("position", JSONB, nullable=False, comment="Where it goes on, as howdah.log_since returns it."),
    Column("read_at", TIMESTAMPTZ, nullable=False, comment="When it last got events."),
    PrimaryKeyConstraint("reader", "read_as"),
    comment="How far each set of workers has written events to its log. Kept for engine.log_retention_days.",
)
