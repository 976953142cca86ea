"""The evidence of failed deliveries, written outside the receiving transaction."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Identity,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, UUID

from .base import TIMESTAMPTZ, message_columns, metadata

poison_details = Table(
    "poison_details",
    metadata,
    Column("incident_id", BigInteger, Identity(always=True), primary_key=True, comment="Number of the incident."),
    Column("message_id", BigInteger, nullable=False, comment="The message whose delivery failed."),
    Column("recorded_at", TIMESTAMPTZ, nullable=False, comment="When the failure was recorded."),
    Column("destination_id", Integer, nullable=False, comment="The destination it was received from."),
    Column("attempt", Integer, nullable=False, comment="Which failed delivery of this stage it was, from 1."),
    Column("duration_ms", Integer, comment="How long the handler ran, in milliseconds."),
    Column(
        "stage",
        SmallInteger,
        nullable=False,
        comment="The message's stage at that time; failures count within a stage.",
    ),
    Column(
        "outcome",
        Text,
        nullable=False,
        comment=(
            "What followed: returned, delayed, blocked, moved, discarded, quarantined, ended, held (another session "
            "has it) or gone."
        ),
    ),
    Column("conversation_id", UUID(), comment="The conversation of the message."),
    Column(
        "failure_key", UUID(), comment="Chosen by the recorder, so that recording the same failure twice counts once."
    ),
    Column("error_class", Text, comment="Class of the error, such as ValueError."),
    Column("error_text", Text, comment="The error's message."),
    Column("sqlstate", Text, comment="SQLSTATE, where the error came from PostgreSQL."),
    Column("traceback", Text, comment="Where the error was raised."),
    Column("worker", Text, comment="Name of the worker that failed."),
    Column("recorded_by", Text, nullable=False, comment="The role that recorded the failure."),
    Column("details", JSONB, comment="Anything else that the recorder wants to keep, as a JSON object."),
    Column(
        "boot",
        TIMESTAMPTZ,
        nullable=False,
        server_default=text("pg_postmaster_start_time()"),
        comment="Start of the server that recorded it. A volatile count ignores incidents of other starts.",
    ),
    Column(
        "fingerprint",
        Text,
        comment="Hash of class, SQLSTATE and the error's text without its values; equal for errors of one cause.",
    ),
    Column(
        "rejected",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="The handler asked for no more tries: the message counts as having reached any limit.",
    ),
    Column("delay_ms", BigInteger, comment="The delay asked for in place of the queue's, in milliseconds."),
    Column(
        "uncounted",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment=(
            "The limit does not count it: a session that died held the message ahead, and probably did not have it in "
            "hand."
        ),
    ),
    Column(
        "xid",
        BigInteger,
        nullable=False,
        server_default=text("pg_current_xact_id()::text::bigint"),
        comment="The transaction (xid8 as a number), so that a reader that goes by snapshots misses no late commit.",
    ),
    Column(
        "message_group", Text, comment="The group of the message: its header JMSXGroupID, or else its conversation."
    ),
    Column(
        "dispose_at",
        Integer,
        comment=(
            "The number of failures at which the queue disposed of messages, which decided the outcome. NULL: "
            "something else decided, or it was not recorded."
        ),
    ),
    Column(
        "due_at",
        TIMESTAMPTZ,
        comment=(
            "No receive delivers the message before this time, unless an operator retries it. NULL: the failure asked "
            "for no delay."
        ),
    ),
    Column(
        "digest",
        LargeBinary,
        comment=(
            "16 bytes for the message, the time and the error (howdah._seal), so that an audit sees changes to them."
        ),
    ),
    CheckConstraint(
        "outcome IN ('returned', 'delayed', 'blocked', 'moved', 'held', 'gone', 'discarded', 'quarantined', 'ended')",
        name="outcome",
    ),
    Index("ix_poison_details_message", "message_id", "stage", "destination_id"),
    Index("ix_poison_details_conversation", "conversation_id"),
    Index("ix_poison_details_group", "message_group", postgresql_using="hash"),
    Index("ix_poison_details_queue", "destination_id", "incident_id"),
    Index("ix_poison_details_recorded", "recorded_at", postgresql_using="brin"),
    Index("ix_poison_details_xid", "xid", postgresql_using="brin", postgresql_with={"pages_per_range": 32}),
    Index("ix_poison_details_due", "destination_id", "due_at", postgresql_where=text("due_at IS NOT NULL")),
    Index("uq_poison_details_failure_key", "failure_key", unique=True),
    comment=(
        "One row per failed delivery. INSERT-only; written in a transaction of its own, so that no rollback erases it."
    ),
)

attempts = Table(
    "attempts",
    metadata,
    Column(
        "attempt_id", UUID(), nullable=False, comment="Identity of the attempt; its incident has it as failure_key."
    ),
    Column("message_id", BigInteger, nullable=False, comment="The message to be delivered."),
    Column(
        "begun_at",
        TIMESTAMPTZ,
        nullable=False,
        comment="When the attempt was begun; it is committed before its handler begins.",
    ),
    Column("destination_id", Integer, nullable=False, comment="The destination it lies in."),
    Column("backend", Integer, nullable=False, comment="Process id of the session that will receive it."),
    Column("rank", SmallInteger, nullable=False, comment="9 minus the message's priority."),
    Column("stage", SmallInteger, nullable=False, comment="The message's stage; attempts count within a stage."),
    Column("seq", BigInteger, nullable=False, comment="The message's position."),
    Column("conversation_id", UUID(), comment="The message's conversation."),
    PrimaryKeyConstraint("attempt_id", "message_id"),
    Index("ix_attempts_message", "message_id", "stage", "destination_id"),
    Index("ix_attempts_begun", "destination_id", "begun_at"),
    comment=(
        "Attempts at delivery from hardened queues. They are committed before the handler starts, so that no death "
        "goes uncounted. A row is never updated; the transaction that takes the message deletes it."
    ),
)

untaken_attempts = Table(
    "untaken_attempts",
    metadata,
    Column("attempt_id", UUID(), nullable=False, comment="The attempt."),
    Column("message_id", BigInteger, nullable=False, comment="Its message."),
    Column(
        "begun_in",
        BigInteger,
        nullable=False,
        server_default=text("pg_current_xact_id()::text::bigint"),
        comment="The transaction that began it (xid8 as a number), which cannot take it.",
    ),
    Column(
        "boot",
        TIMESTAMPTZ,
        nullable=False,
        server_default=text("pg_postmaster_start_time()"),
        comment="Start of the server in which it was begun. After the next start the attempt cannot be taken.",
    ),
    PrimaryKeyConstraint("attempt_id", "message_id"),
    prefixes=["UNLOGGED"],
    comment=(
        "Attempts that can be taken. Taking one deletes its row, and the xmax left behind shows it even after a "
        "rollback. UNLOGGED: a crash of the server ends all of them, and only VACUUM FREEZE or FULL removes an xmax."
    ),
)

poison_log = Table(
    "poison_log",
    metadata,
    Column("log_id", BigInteger, Identity(always=True), primary_key=True, comment="Number of the entry."),
    Column("logged_at", TIMESTAMPTZ, nullable=False, comment="When the message reached its limit."),
    Column("outcome", Text, nullable=False, comment="What became of the message."),
    *message_columns(),
    comment="Copies of messages that reached their limit, of queues with log_table.",
)

ended_conversations = Table(
    "ended_conversations",
    metadata,
    Column(
        "conversation_id", UUID(), primary_key=True, comment="The conversation, in which no more messages are sent."
    ),
    Column("ended_at", TIMESTAMPTZ, nullable=False, comment="When it was ended."),
    Column("ended_by", Text, nullable=False, comment="The role that ended it."),
    Column("error", Integer, comment="Number of the error with which it was ended, positive. NULL: none."),
    Column("error_text", Text, comment="What the other side was told."),
    comment="Conversations that were ended.",
)

operator_acts = Table(
    "operator_acts",
    metadata,
    Column("act_id", BigInteger, Identity(always=True), primary_key=True, comment="Number of the act."),
    Column("at", TIMESTAMPTZ, nullable=False, comment="When it was done."),
    Column("destination_id", Integer, comment="The destination the messages were in. NULL: it was done to the engine."),
    Column("other_destination_id", Integer, comment="Where replayed, edited or moved messages went."),
    Column("actor", Text, nullable=False, comment="The role that did it."),
    Column(
        "act",
        Text,
        nullable=False,
        comment=(
            "Messages: sent (by hand), replayed, edited, resent (kept), moved, parked, retried, discarded, purged. "
            "Queues, schedules and links: paused, resumed. Schedules: cancelled, fired (by hand). Subscriptions: "
            "sought. Somebody else's consumer: ended. The engine: paused, quiesced, stopped, resumed."
        ),
    ),
    Column("reason", Text, comment="Why, in the operator's words."),
    Column(
        "message_ids",
        ARRAY(BigInteger),
        nullable=False,
        comment="The messages of one call. For edited and resent, originals and their copies.",
    ),
    Column("incident_id", BigInteger, comment="The last incident of any message before the act. NULL: there was none."),
    CheckConstraint(
        "CASE WHEN destination_id IS NULL THEN act IN ('paused', 'quiesced', 'stopped', 'resumed')"
        " ELSE act IN ('sent', 'replayed', 'edited', 'resent', 'moved', 'parked', 'retried', 'discarded', 'purged',"
        " 'paused', 'resumed', 'cancelled', 'fired', 'sought', 'ended') END",
        name="act",
    ),
    comment=(
        "What operators did with messages, queues, schedules and so on, and who they were. INSERT-only; kept for "
        "engine.journal_retention_days."
    ),
)

quarantines = Table(
    "quarantines",
    metadata,
    Column("message_id", BigInteger, nullable=False, comment="The message that was put into quarantine."),
    Column("destination_id", Integer, nullable=False, comment="The destination that it is in."),
    Column("stage", SmallInteger, nullable=False, comment="The message's stage before."),
    Column("at", TIMESTAMPTZ, nullable=False, comment="When it was put there."),
    PrimaryKeyConstraint("message_id", "destination_id", "stage"),
    comment="Quarantines of messages that have not been moved since.",
)
