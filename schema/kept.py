"""Messages that were consumed and stay readable for a time, because their queue keeps bodies."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql import JSONB, UUID

from .base import TIMESTAMPTZ, after_create, metadata

# No primary key: a receive must not fail because of a kept message. The order of columns is by alignment, as in msgs.
kept_messages = Table(
    "kept_messages",
    metadata,
    Column("message_id", BigInteger, nullable=False, comment="The message."),
    Column("kept_at", TIMESTAMPTZ, nullable=False, comment="When it was consumed. Partitions are ranges of this."),
    Column(
        "kept_until",
        TIMESTAMPTZ,
        nullable=False,
        comment="From this time on nobody is shown it. infinity: it stays until somebody deletes it.",
    ),
    Column("sent_at", TIMESTAMPTZ, nullable=False, comment="When send was called."),
    Column("expires_at", TIMESTAMPTZ, comment="When it would have expired. NULL: never."),
    Column("dead_at", TIMESTAMPTZ, comment="When it was moved to an exception destination. NULL: it was not."),
    Column("visible_at", TIMESTAMPTZ, comment="Of a facade: until when its last reader had it. NULL: not known."),
    Column("last_read_at", TIMESTAMPTZ, comment="Of a facade: when it was last read. NULL: not known."),
    Column("destination_id", Integer, nullable=False, comment="The queue that it was consumed from."),
    Column("delivery_count", Integer, nullable=False, comment="How often it was delivered; a facade's count of reads."),
    Column("stage", SmallInteger, nullable=False, comment="How often the message was moved or replayed."),
    Column("priority", SmallInteger, nullable=False, comment="Its priority."),
    Column("reliability", SmallInteger, nullable=False, comment="Its level of reliability, 0 to 4."),
    Column("nonpersistent", Boolean, nullable=False, comment="True: it was a non-persistent message."),
    Column("is_text", Boolean, nullable=False, comment="True: body is UTF-8 text or JSON. False: bytes."),
    Column("content_type", Text, nullable=False, comment="MIME type of the body."),
    Column("body", LargeBinary, nullable=False, comment="The exact bytes of the whole body."),
    Column("headers", JSONB, comment="Application properties, a JSON object. NULL: none."),
    Column("correlation_id", Text, comment="JMSCorrelationID."),
    Column("reply_to", Text, comment="JMSReplyTo."),
    Column("message_type", Text, comment="JMSType."),
    Column("conversation_id", UUID(), comment="The conversation that it belonged to."),
    Column("origin_queue", Text, comment="The queue from which it was moved to an exception destination."),
    Column("dead_reason", Text, comment="Why it was moved to an exception destination."),
    Index("ix_kept_messages_message", "destination_id", "message_id"),
    Index("ix_kept_messages_time", "destination_id", "kept_at", "message_id"),
    Index("ix_kept_messages_until", "kept_until", postgresql_using="brin"),
    postgresql_partition_by="RANGE (kept_at)",
    comment=(
        "Consumed messages of queues with keep_bodies_ms. What consumes the message inserts the row; partitioned by "
        "week."
    ),
)

# Without a default partition a missing week would fail every receive of a queue that keeps bodies.
after_create(kept_messages, "CREATE TABLE howdah.kept_messages_default PARTITION OF howdah.kept_messages DEFAULT")
after_create(
    kept_messages,
    "COMMENT ON TABLE howdah.kept_messages_default IS 'Kept messages of weeks that have no partition of their own.'",
)
