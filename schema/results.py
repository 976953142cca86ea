"""What became of messages, kept for their senders, and who waits for it."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    Integer,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql import JSONB

from .base import TIMESTAMPTZ, metadata

results = Table(
    "results",
    metadata,
    Column("message_id", BigInteger, nullable=False, comment="The message."),
    Column("finished_at", TIMESTAMPTZ, nullable=False, comment="When it was handled, died or expired."),
    Column("until", TIMESTAMPTZ, nullable=False, comment="From this time on nobody is shown the result."),
    Column("destination_id", Integer, nullable=False, comment="The queue that it was received from."),
    Column("stage", SmallInteger, comment="The stage in which its incidents are to be found. NULL: none are shown."),
    Column("state", Text, nullable=False, comment="done (handled), failed (at its limit) or expired."),
    Column("value", JSONB, comment="What its handler returned. NULL: nothing, or it was not handled."),
    Column("body", Text, comment="The text of a message that failed or expired. NULL: it is bytes, or was handled."),
    PrimaryKeyConstraint("destination_id", "message_id"),
    Index("ix_results_until", "until"),
    CheckConstraint("state IN ('done', 'failed', 'expired')", name="state"),
    comment=(
        "Results of messages of queues with keep_results_ms. The handler's transaction inserts them; maintenance "
        "deletes them."
    ),
)

result_waiters = Table(
    "result_waiters",
    metadata,
    Column("message_id", BigInteger, nullable=False, comment="The message whose result somebody waits for."),
    Column("until", TIMESTAMPTZ, nullable=False, comment="From this time on the request no longer counts."),
    Column("destination_id", Integer, nullable=False, comment="Its queue."),
    PrimaryKeyConstraint("destination_id", "message_id"),
    prefixes=["UNLOGGED"],
    comment="Requests to be notified of a result (howdah.wait_result). Only speed depends on them.",
)
