"""The policies of poison messages as columns, attempts that are counted beforehand, limits of queues, policies by wildcard.

Revision: 0002, after 0001.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

CHANGED = (
    ("destinations", "max_failed_deliveries", "max_failed_deliveries >= 0", "max_failed_deliveries >= -1"),
    (
        "destinations",
        "exception_mode",
        "exception_mode IN ('system', 'named', 'none')",
        "exception_mode IN ('system', 'named', 'none', 'dead_letter', 'shared', 'individual')",
    ),
    (
        "destinations",
        "delays",
        "redelivery_delay_ms >= 0 AND blocked_retry_ms >= 0",
        "redelivery_delay_ms >= 0 AND initial_redelivery_delay_ms >= 0 AND blocked_retry_ms >= -1",
    ),
    (
        "destination_grants",
        "verb",
        "verb IN ('send', 'receive', 'browse', 'admin')",
        "verb IN ('send', 'receive', 'browse', 'admin', 'pass_all', 'set_all')",
    ),
    (
        "poison_details",
        "outcome",
        "outcome IN ('returned', 'delayed', 'blocked', 'moved', 'held', 'gone')",
        "outcome IN ('returned', 'delayed', 'blocked', 'moved', 'held', 'gone', 'discarded', 'quarantined', 'ended')",
    ),
    (
        "parked",
        "reason",
        "parked_reason IN ('delay', 'redelivery', 'blocked')",
        "parked_reason IN ('delay', 'redelivery', 'blocked', 'quarantine')",
    ),
)
"""Table, constraint, its condition before and after."""

ADDED = (
    ("destinations", "preset", "preset IN ('howdah', 'websphere', 'websphere_mq', 'service_broker', 'activemq')"),
    ("destinations", "comparison", "limit_comparison IN ('reached', 'exceeded')"),
    (
        "destinations",
        "counting",
        "count_by IN ('message', 'conversation') AND backout_count IN ('volatile', 'recorded', 'hardened')",
    ),
    ("destinations", "decided_at", "decided_at IN ('failure', 'receive')"),
    ("destinations", "at_limit", "at_limit IN ('move', 'discard', 'quarantine', 'end_conversation')"),
    ("destinations", "exception_fallback", "exception_fallback IN ('system', 'dead_letter')"),
    (
        "destinations",
        "backoff",
        "backoff_multiplier >= 1 AND collision_avoidance_factor BETWEEN 0 AND 1 AND max_redelivery_delay_ms >= -1",
    ),
    ("destinations", "quarantine", "quarantine_ms >= 0 AND quarantine_times >= 0 AND disable_after >= 0"),
    ("destinations", "room", "message_limit > 0 AND byte_limit > 0"),
    ("engine", "default_blocked_retry_ms", "default_blocked_retry_ms >= 0"),
)
"""Table, constraint, condition."""


def upgrade() -> None:
    """Change the tables; procedures are installed afterwards, as a whole."""
    for table, name, _, _after in CHANGED:
        op.drop_constraint(op.f(f"ck_{table}_{name}"), table, schema="howdah")
    op.create_table(
        "attempts",
        sa.Column(
            "attempt_id",
            sa.UUID(),
            nullable=False,
            comment="Identity of the attempt; its incident has it as failure_key.",
        ),
        sa.Column("message_id", sa.BigInteger(), nullable=False, comment="The message to be delivered."),
        sa.Column(
            "begun_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="When the attempt was committed, before its handler began.",
        ),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The destination it lies in."),
        sa.Column("backend", sa.Integer(), nullable=False, comment="Process id of the session that is to receive it."),
        sa.Column("rank", sa.SmallInteger(), nullable=False, comment="9 minus the message's priority."),
        sa.Column(
            "stage", sa.SmallInteger(), nullable=False, comment="The message's stage; attempts count within a stage."
        ),
        sa.Column("seq", sa.BigInteger(), nullable=False, comment="The message's position."),
        sa.Column("conversation_id", sa.UUID(), nullable=True, comment="The message's conversation."),
        sa.PrimaryKeyConstraint("attempt_id", "message_id", name=op.f("pk_attempts")),
        schema="howdah",
        comment="Attempts at delivery of hardened queues, committed before the handler starts, so that no death goes uncounted. Never updated; an attempt is deleted by the transaction that takes its message.",
    )
    op.create_index("ix_attempts_begun", "attempts", ["destination_id", "begun_at"], unique=False, schema="howdah")
    op.create_index(
        "ix_attempts_message", "attempts", ["message_id", "stage", "destination_id"], unique=False, schema="howdah"
    )
    op.create_table(
        "destination_policies",
        sa.Column(
            "pattern",
            sa.Text(collation="C"),
            nullable=False,
            comment="Names it holds for: * stands for one part between dots, > at the end for all the rest.",
        ),
        sa.Column(
            "options",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="Options as of create_queue, a JSON object.",
        ),
        sa.Column("set_at", postgresql.TIMESTAMP(timezone=True), nullable=False, comment="When it was set."),
        sa.Column("set_by", sa.Text(), nullable=False, comment="The role that set it."),
        sa.PrimaryKeyConstraint("pattern", name=op.f("pk_destination_policies")),
        schema="howdah",
        comment="Options of queues by wildcard; the most specific pattern holds.",
    )
    op.create_table(
        "ended_conversations",
        sa.Column(
            "conversation_id", sa.UUID(), nullable=False, comment="The conversation: no more messages are sent in it."
        ),
        sa.Column("ended_at", postgresql.TIMESTAMP(timezone=True), nullable=False, comment="When it was ended."),
        sa.Column("ended_by", sa.Text(), nullable=False, comment="The role that ended it."),
        sa.Column(
            "error", sa.Integer(), nullable=True, comment="Number of the error it was ended with, positive. NULL: none."
        ),
        sa.Column("error_text", sa.Text(), nullable=True, comment="What the other side was told."),
        sa.PrimaryKeyConstraint("conversation_id", name=op.f("pk_ended_conversations")),
        schema="howdah",
        comment="Conversations that were ended.",
    )
    op.create_table(
        "poison_log",
        sa.Column("log_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Number of the entry."),
        sa.Column(
            "logged_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="When the message reached its limit.",
        ),
        sa.Column("outcome", sa.Text(), nullable=False, comment="What became of the message itself."),
        sa.Column(
            "seq", sa.BigInteger(), nullable=False, comment="Position in the queue, from the destination's sequence."
        ),
        sa.Column(
            "message_id",
            sa.BigInteger(),
            nullable=False,
            comment="Identity of the message for its whole life: its first position times 1,000,000 plus its first destination_id.",
        ),
        sa.Column(
            "sent_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=False,
            comment="When send was called (JMSTimestamp).",
        ),
        sa.Column(
            "expires_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="Never delivered at or after this time (JMSExpiration). NULL: never expires.",
        ),
        sa.Column(
            "dead_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="When the message was moved to an exception destination. NULL: it was not.",
        ),
        sa.Column(
            "destination_id", sa.Integer(), nullable=False, comment="The destination that holds the message now."
        ),
        sa.Column(
            "origin_id",
            sa.Integer(),
            nullable=True,
            comment="The destination it was moved from to an exception destination. NULL: never moved.",
        ),
        sa.Column(
            "rank",
            sa.SmallInteger(),
            nullable=False,
            comment="9 minus the priority, so that ascending order is delivery order.",
        ),
        sa.Column(
            "stage",
            sa.SmallInteger(),
            server_default="0",
            nullable=False,
            comment="How often the message was moved or replayed. Failures count within a stage.",
        ),
        sa.Column(
            "is_text",
            sa.Boolean(),
            nullable=False,
            comment="True: body is UTF-8 text or JSON and is returned as text. False: bytes.",
        ),
        sa.Column("content_type", sa.Text(), nullable=False, comment="MIME type of the body."),
        sa.Column(
            "body", sa.LargeBinary(), nullable=False, comment="The exact bytes of the body; text is stored as UTF-8."
        ),
        sa.Column(
            "headers",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=True,
            comment="Application properties, a JSON object. NULL: none.",
        ),
        sa.Column("correlation_id", sa.Text(), nullable=True, comment="JMSCorrelationID."),
        sa.Column("reply_to", sa.Text(), nullable=True, comment="JMSReplyTo: name of the destination for answers."),
        sa.Column("message_type", sa.Text(), nullable=True, comment="JMSType; workers choose the handler by it."),
        sa.Column(
            "conversation_id", sa.UUID(), nullable=True, comment="The conversation (dialog) the message belongs to."
        ),
        sa.Column(
            "dead_reason", sa.Text(), nullable=True, comment="Why the message was moved to an exception destination."
        ),
        sa.PrimaryKeyConstraint("log_id", name=op.f("pk_poison_log")),
        schema="howdah",
        comment="Copies of messages that reached their limit, of queues with log_table.",
    )
    op.alter_column(
        "destination_grants",
        "verb",
        existing_type=sa.TEXT(),
        comment="What is allowed: send, receive, browse, admin, pass_all or set_all.",
        existing_comment="What is allowed: send, receive, browse or admin.",
        existing_nullable=False,
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "preset",
            sa.Text(),
            server_default="howdah",
            nullable=False,
            comment="Preset last applied: howdah, websphere, websphere_mq, service_broker or activemq.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "limit_comparison",
            sa.Text(),
            server_default="reached",
            nullable=False,
            comment="When a message is at its limit: reached (failures >= max_failed_deliveries) or exceeded (>).",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "count_by",
            sa.Text(),
            server_default="message",
            nullable=False,
            comment="What failures are counted for: message, or conversation (all messages of one add up).",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "decided_at",
            sa.Text(),
            server_default="failure",
            nullable=False,
            comment="When a message at its limit is disposed of: failure (at once if it is free) or receive (when it is met the next time).",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "backout_count",
            sa.Text(),
            server_default="recorded",
            nullable=False,
            comment="Which failures count: volatile (since the server's start), recorded (all incidents) or hardened (every attempt, committed before it begins).",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "dispose_at",
            sa.Integer(),
            server_default=sa.text("5"),
            nullable=False,
            comment="Failures at which a receive disposes of a message; follows from the other columns. 1000000: never.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "initial_redelivery_delay_ms",
            sa.BigInteger(),
            nullable=True,
            comment="Milliseconds before the first redelivery. NULL: as redelivery_delay_ms.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "use_exponential_backoff",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="True: each delay is backoff_multiplier times the one before.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "backoff_multiplier",
            sa.DOUBLE_PRECISION(),
            server_default=sa.text("5"),
            nullable=False,
            comment="Factor between one delay and the next; ActiveMQ's default is 5.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "max_redelivery_delay_ms",
            sa.BigInteger(),
            server_default=sa.text("-1"),
            nullable=False,
            comment="Milliseconds that no delay exceeds. -1: no bound.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "use_collision_avoidance",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="True: delays are spread by collision_avoidance_factor.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "collision_avoidance_factor",
            sa.DOUBLE_PRECISION(),
            server_default=sa.text("0.15"),
            nullable=False,
            comment="Share of a delay by which it is at most made longer or shorter, at random.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "override_blocked_retry",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="True: blocked_retry_ms holds for this queue; false: engine.default_blocked_retry_ms.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "strict_order",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="True: one consumer at a time, and no message before one that waits for its redelivery.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "at_limit",
            sa.Text(),
            server_default="move",
            nullable=False,
            comment="What becomes of a message at its limit: move (exception_mode says where), discard, quarantine or end_conversation.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "exception_fallback",
            sa.Text(),
            server_default="system",
            nullable=False,
            comment="Where it goes if its exception destination is missing, full or not permitted: system or dead_letter.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "exception_prefix",
            sa.Text(),
            server_default="ActiveMQ.DLQ.Queue.",
            nullable=False,
            comment="What stands before the queue's name in the name of its individual dead-letter queue.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "check_rights",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="True: a message is moved only if the consumer's role may receive, browse, send, pass_all and set_all there.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "process_non_persistent",
            sa.Boolean(),
            server_default=sa.text("true"),
            nullable=False,
            comment="False: non-persistent messages at their limit are discarded, not moved.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "log_table",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="True: a message at its limit is copied into the table poison_log.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "log_queue",
            sa.Text(),
            nullable=True,
            comment="Name of a queue that gets a copy of each message at its limit. NULL: none.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "quarantine_ms",
            sa.BigInteger(),
            server_default=sa.text("3600000"),
            nullable=False,
            comment="Milliseconds in quarantine, after which the message returns and its failures count anew.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "quarantine_times",
            sa.Integer(),
            server_default=sa.text("1"),
            nullable=False,
            comment="How often a message is put into quarantine before exception_mode says where it goes.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "error_reply",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="True: an error message goes to reply_to of each message at its limit.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "notify_admin",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="True: a message at its limit is reported to the queue _SYSTEM.Advisory.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "clean_incidents",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="True: the incidents of a message (or conversation) at its limit are deleted when it is disposed of.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "poison_handling",
            sa.Boolean(),
            server_default=sa.text("true"),
            nullable=False,
            comment="False: the queue is never disabled, whatever disable_after says. Service Broker's POISON_MESSAGE_HANDLING.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "disable_after",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="Failures in a row after which the queue is disabled; 0: never. Service Broker's is 5.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "disabled_at",
            postgresql.TIMESTAMP(timezone=True),
            nullable=True,
            comment="When failures in a row disabled the queue; receives raise HD016 until howdah.resume. NULL: it is not disabled.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "message_limit",
            sa.BigInteger(),
            nullable=True,
            comment="Messages at most that may lie in the queue. NULL: any number.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "byte_limit",
            sa.BigInteger(),
            nullable=True,
            comment="Bytes of bodies at most that may lie in the queue. NULL: any number.",
        ),
        schema="howdah",
    )
    op.add_column(
        "destinations",
        sa.Column(
            "streak_from",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="Incidents up to this number no longer count as failures in a row.",
        ),
        schema="howdah",
    )
    op.alter_column(
        "destinations",
        "exception_mode",
        existing_type=sa.TEXT(),
        comment="Where a message goes at the limit: system, named (exception_queue), dead_letter, shared, individual or none (it stays).",
        existing_comment="Where a message goes at the limit: system, named (exception_queue) or none (it stays).",
        existing_nullable=False,
        existing_server_default=sa.text("'system'::text"),
        schema="howdah",
    )
    op.alter_column(
        "destinations",
        "blocked_retry_ms",
        existing_type=sa.BIGINT(),
        comment="Milliseconds between retries past the limit when exception_mode is none, if override_blocked_retry is set. -1: none until howdah.retry.",
        existing_comment="Milliseconds between retries past the limit when exception_mode is none.",
        existing_nullable=False,
        existing_server_default=sa.text("'5000'::bigint"),
        server_default=sa.text("-1"),
        schema="howdah",
    )
    op.add_column(
        "engine",
        sa.Column(
            "default_blocked_retry_ms",
            sa.BigInteger(),
            server_default=sa.text("5000"),
            nullable=False,
            comment="Milliseconds between retries of a blocked message, where its queue says nothing else. WebSphere's default.",
        ),
        schema="howdah",
    )
    op.alter_column(
        "parked",
        "parked_reason",
        existing_type=sa.TEXT(),
        comment="delay (sent so), redelivery (after a failure), blocked (past its limit) or quarantine.",
        existing_comment="delay (sent so), redelivery (after a failure) or blocked (past its limit).",
        existing_nullable=False,
        schema="howdah",
    )
    op.add_column(
        "poison_details",
        sa.Column(
            "boot",
            postgresql.TIMESTAMP(timezone=True),
            server_default=sa.text("pg_postmaster_start_time()"),
            nullable=False,
            comment="Start of the server that recorded it; a volatile count forgets those of others.",
        ),
        schema="howdah",
    )
    op.alter_column(
        "poison_details",
        "outcome",
        existing_type=sa.TEXT(),
        comment="What followed: returned, delayed, blocked, moved, discarded, quarantined, ended, held (another session has it) or gone.",
        existing_comment="What followed: returned, delayed, blocked, moved, held (another session has it) or gone.",
        existing_nullable=False,
        schema="howdah",
    )
    op.execute(
        "UPDATE howdah.destinations SET override_blocked_retry = blocked_retry_ms <> 5000,"
        " blocked_retry_ms = CASE WHEN blocked_retry_ms = 5000 THEN -1 ELSE blocked_retry_ms END,"
        " dispose_at = CASE WHEN exception_mode <> 'none' AND max_failed_deliveries > 0"
        " THEN max_failed_deliveries ELSE 1000000 END"
    )
    op.create_table(
        "quarantines",
        sa.Column("message_id", sa.BigInteger(), nullable=False, comment="The message that was put into quarantine."),
        sa.Column("destination_id", sa.Integer(), nullable=False, comment="The destination it is in."),
        sa.Column("stage", sa.SmallInteger(), nullable=False, comment="The message's stage before."),
        sa.Column("at", postgresql.TIMESTAMP(timezone=True), nullable=False, comment="When it was put there."),
        sa.PrimaryKeyConstraint("message_id", "destination_id", "stage", name=op.f("pk_quarantines")),
        schema="howdah",
        comment="Quarantines of messages that have not been moved since.",
    )
    for table, name, _, after in CHANGED:
        op.create_check_constraint(op.f(f"ck_{table}_{name}"), table, after, schema="howdah")
    for table, name, condition in ADDED:
        op.create_check_constraint(op.f(f"ck_{table}_{name}"), table, condition, schema="howdah")


def downgrade() -> None:
    """Undo upgrade; what only the new columns could say is lost, and copies and attempts with it."""
    # Reads dispose_at; without a checksum the procedures are installed anew by the next migration.
    op.execute("DROP VIEW IF EXISTS howdah.audit_destinations, howdah.audit_poison_log")
    op.execute("UPDATE howdah.engine SET procedures_checksum = ''")
    for table, name, _condition in ADDED:
        op.drop_constraint(op.f(f"ck_{table}_{name}"), table, schema="howdah")
    for table, name, _, _after in CHANGED:
        op.drop_constraint(op.f(f"ck_{table}_{name}"), table, schema="howdah")
    op.execute(
        "UPDATE howdah.destinations SET exception_mode = 'system' WHERE exception_mode NOT IN ('system', 'named', 'none')"
    )
    op.execute(
        "UPDATE howdah.destinations SET blocked_retry_ms = 5000 WHERE NOT override_blocked_retry OR blocked_retry_ms < 0"
    )
    op.execute("DELETE FROM howdah.destination_grants WHERE verb IN ('pass_all', 'set_all')")
    op.execute(
        "UPDATE howdah.poison_details SET outcome = 'gone' WHERE outcome IN ('discarded', 'quarantined', 'ended')"
    )
    op.drop_table("quarantines", schema="howdah")
    op.execute("UPDATE howdah.destinations SET max_failed_deliveries = 0 WHERE max_failed_deliveries < 0")
    op.execute("UPDATE howdah.parked SET parked_reason = 'blocked' WHERE parked_reason = 'quarantine'")
    op.alter_column(
        "poison_details",
        "outcome",
        existing_type=sa.TEXT(),
        comment="What followed: returned, delayed, blocked, moved, held (another session has it) or gone.",
        existing_comment="What followed: returned, delayed, blocked, moved, discarded, quarantined, ended, held (another session has it) or gone.",
        existing_nullable=False,
        schema="howdah",
    )
    op.drop_column("poison_details", "boot", schema="howdah")
    op.alter_column(
        "parked",
        "parked_reason",
        existing_type=sa.TEXT(),
        comment="delay (sent so), redelivery (after a failure) or blocked (past its limit).",
        existing_comment="delay (sent so), redelivery (after a failure), blocked (past its limit) or quarantine.",
        existing_nullable=False,
        schema="howdah",
    )
    op.drop_column("engine", "default_blocked_retry_ms", schema="howdah")
    op.alter_column(
        "destinations",
        "blocked_retry_ms",
        existing_type=sa.BIGINT(),
        comment="Milliseconds between retries past the limit when exception_mode is none.",
        existing_comment="Milliseconds between retries past the limit when exception_mode is none, if override_blocked_retry is set. -1: none until howdah.retry.",
        existing_nullable=False,
        existing_server_default=sa.text("-1"),
        server_default=sa.text("5000"),
        schema="howdah",
    )
    op.alter_column(
        "destinations",
        "exception_mode",
        existing_type=sa.TEXT(),
        comment="Where a message goes at the limit: system, named (exception_queue) or none (it stays).",
        existing_comment="Where a message goes at the limit: system, named (exception_queue), dead_letter, shared, individual or none (it stays).",
        existing_nullable=False,
        existing_server_default=sa.text("'system'::text"),
        schema="howdah",
    )
    op.drop_column("destinations", "streak_from", schema="howdah")
    op.drop_column("destinations", "byte_limit", schema="howdah")
    op.drop_column("destinations", "message_limit", schema="howdah")
    op.drop_column("destinations", "disabled_at", schema="howdah")
    op.drop_column("destinations", "disable_after", schema="howdah")
    op.drop_column("destinations", "poison_handling", schema="howdah")
    op.drop_column("destinations", "clean_incidents", schema="howdah")
    op.drop_column("destinations", "notify_admin", schema="howdah")
    op.drop_column("destinations", "error_reply", schema="howdah")
    op.drop_column("destinations", "quarantine_times", schema="howdah")
    op.drop_column("destinations", "quarantine_ms", schema="howdah")
    op.drop_column("destinations", "log_queue", schema="howdah")
    op.drop_column("destinations", "log_table", schema="howdah")
    op.drop_column("destinations", "process_non_persistent", schema="howdah")
    op.drop_column("destinations", "check_rights", schema="howdah")
    op.drop_column("destinations", "exception_prefix", schema="howdah")
    op.drop_column("destinations", "exception_fallback", schema="howdah")
    op.drop_column("destinations", "at_limit", schema="howdah")
    op.drop_column("destinations", "strict_order", schema="howdah")
    op.drop_column("destinations", "override_blocked_retry", schema="howdah")
    op.drop_column("destinations", "collision_avoidance_factor", schema="howdah")
    op.drop_column("destinations", "use_collision_avoidance", schema="howdah")
    op.drop_column("destinations", "max_redelivery_delay_ms", schema="howdah")
    op.drop_column("destinations", "backoff_multiplier", schema="howdah")
    op.drop_column("destinations", "use_exponential_backoff", schema="howdah")
    op.drop_column("destinations", "initial_redelivery_delay_ms", schema="howdah")
    op.drop_column("destinations", "dispose_at", schema="howdah")
    op.drop_column("destinations", "backout_count", schema="howdah")
    op.drop_column("destinations", "decided_at", schema="howdah")
    op.drop_column("destinations", "count_by", schema="howdah")
    op.drop_column("destinations", "limit_comparison", schema="howdah")
    op.drop_column("destinations", "preset", schema="howdah")
    op.alter_column(
        "destination_grants",
        "verb",
        existing_type=sa.TEXT(),
        comment="What is allowed: send, receive, browse or admin.",
        existing_comment="What is allowed: send, receive, browse, admin, pass_all or set_all.",
        existing_nullable=False,
        schema="howdah",
    )
    op.drop_table("poison_log", schema="howdah")
    op.drop_table("ended_conversations", schema="howdah")
    op.drop_table("destination_policies", schema="howdah")
    op.drop_index("ix_attempts_message", table_name="attempts", schema="howdah")
    op.drop_index("ix_attempts_begun", table_name="attempts", schema="howdah")
    op.drop_table("attempts", schema="howdah")
    for table, name, before, _ in CHANGED:
        op.create_check_constraint(op.f(f"ck_{table}_{name}"), table, before, schema="howdah")
