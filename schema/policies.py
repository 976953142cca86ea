"""The policy of poison messages: columns of each destination, and options by wildcard."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, JSONB

from .base import TIMESTAMPTZ, metadata


def policy_columns() -> list[Column[object]]:
    """What a destination's policy says beyond its limit, its exception destination and its first delays."""
    return [
        Column(
            "limit_comparison",
            Text,
            nullable=False,
            server_default="reached",
            comment="When a message is at its limit: reached (failures >= max_failed_deliveries) or exceeded (>).",
        ),
        Column(
            "count_by",
            Text,
            nullable=False,
            server_default="message",
            comment=(
                "What failures are counted for: message, or conversation or group (failures of all its messages add "
                "up)."
            ),
        ),
        Column(
            "decided_at",
            Text,
            nullable=False,
            server_default="failure",
            comment=(
                "When a message at its limit is disposed of: failure (at once, if it is free) or receive (when a "
                "receive next finds it)."
            ),
        ),
        Column(
            "backout_count",
            Text,
            nullable=False,
            server_default="recorded",
            comment=(
                "Which failures count: volatile (since the server's start), recorded (all incidents) or hardened "
                "(every attempt, committed before it begins)."
            ),
        ),
        Column(
            "initial_redelivery_delay_ms",
            BigInteger,
            comment="Milliseconds before the first redelivery. NULL: as redelivery_delay_ms.",
        ),
        Column(
            "use_exponential_backoff",
            Boolean,
            nullable=False,
            server_default=text("false"),
            comment="True: each delay is backoff_multiplier times the one before.",
        ),
        Column(
            "backoff_multiplier",
            DOUBLE_PRECISION,
            nullable=False,
            server_default=text("5"),
            comment="Factor between one delay and the next; ActiveMQ's default is 5.",
        ),
        Column(
            "max_redelivery_delay_ms",
            BigInteger,
            nullable=False,
            server_default=text("-1"),
            comment="Milliseconds that no delay exceeds. -1: no bound.",
        ),
        Column(
            "use_collision_avoidance",
            Boolean,
            nullable=False,
            server_default=text("false"),
            comment="True: delays are spread by collision_avoidance_factor.",
        ),
        Column(
            "collision_avoidance_factor",
            DOUBLE_PRECISION,
            nullable=False,
            server_default=text("0.15"),
            comment="The largest share by which a delay is lengthened or shortened at random.",
        ),
        Column(
            "override_blocked_retry",
            Boolean,
            nullable=False,
            server_default=text("false"),
            comment="True: blocked_retry_ms applies to this queue. False: engine.default_blocked_retry_ms does.",
        ),
        Column(
            "strict_order",
            Boolean,
            nullable=False,
            server_default=text("false"),
            comment="True: one consumer at a time, and no message before one that waits for its redelivery.",
        ),
        Column(
            "at_limit",
            Text,
            nullable=False,
            server_default="move",
            comment=(
                "What becomes of a message at its limit: move (exception_mode says where), discard, quarantine or "
                "end_conversation."
            ),
        ),
        Column(
            "exception_fallback",
            Text,
            nullable=False,
            server_default="system",
            comment=(
                "Where it goes if its exception destination is missing, full or not permitted: system or dead_letter."
            ),
        ),
        Column(
            "exception_prefix",
            Text,
            nullable=False,
            server_default="ActiveMQ.DLQ.Queue.",
            comment="The prefix of the queue's name in the name of its individual dead-letter queue.",
        ),
        Column(
            "check_rights",
            Boolean,
            nullable=False,
            server_default=text("false"),
            comment=(
                "True: a message is moved only if the consumer's role may receive, browse, send, pass_all and set_all "
                "there."
            ),
        ),
        Column(
            "process_non_persistent",
            Boolean,
            nullable=False,
            server_default=text("true"),
            comment="False: non-persistent messages at their limit are discarded, not moved.",
        ),
        Column(
            "log_table",
            Boolean,
            nullable=False,
            server_default=text("false"),
            comment="True: a message at its limit is copied to the table poison_log.",
        ),
        Column("log_queue", Text, comment="Name of a queue that gets a copy of each message at its limit. NULL: none."),
        Column(
            "quarantine_ms",
            BigInteger,
            nullable=False,
            server_default=text("3600000"),
            comment="Milliseconds in quarantine. Afterwards the message returns, and its failures count from zero.",
        ),
        Column(
            "quarantine_times",
            Integer,
            nullable=False,
            server_default=text("1"),
            comment="How often a message is quarantined before exception_mode says where it goes.",
        ),
        Column(
            "error_reply",
            Boolean,
            nullable=False,
            server_default=text("false"),
            comment="True: an error message goes to reply_to of each message at its limit.",
        ),
        Column(
            "notify_admin",
            Boolean,
            nullable=False,
            server_default=text("false"),
            comment="True: a message at its limit is reported to the queue _SYSTEM.Advisory.",
        ),
        Column(
            "clean_incidents",
            Boolean,
            nullable=False,
            server_default=text("false"),
            comment=(
                "True: the incidents of a message (or conversation) at its limit are deleted when it is disposed of."
            ),
        ),
        Column(
            "poison_handling",
            Boolean,
            nullable=False,
            server_default=text("true"),
            comment=(
                "False: the queue is never disabled, whatever disable_after says. This is Service Broker's "
                "POISON_MESSAGE_HANDLING."
            ),
        ),
        Column(
            "disable_after",
            Integer,
            nullable=False,
            server_default=text("0"),
            comment="Failures in a row after which the queue is disabled; 0: never. Service Broker's is 5.",
        ),
        Column(
            "disabled_at",
            TIMESTAMPTZ,
            comment=(
                "When failures in a row disabled the queue. Receives raise HD016 until howdah.resume. NULL: it is not "
                "disabled."
            ),
        ),
        Column("message_limit", BigInteger, comment="The most messages that the queue may hold. NULL: any number."),
        Column("byte_limit", BigInteger, comment="The most bytes of bodies that the queue may hold. NULL: any number."),
        Column(
            "streak_from",
            BigInteger,
            nullable=False,
            server_default=text("0"),
            comment="Incidents up to this number no longer count as failures in a row.",
        ),
    ]


def limit_columns() -> list[Column[object]]:
    """What a destination does at its limits, and for how long it knows deduplication keys."""
    return [
        Column(
            "limit_behaviour",
            Text,
            nullable=False,
            server_default="reject",
            comment=(
                "What a send to a full queue does: reject, remove_oldest, remove_lowest_priority or block (up to "
                "send_timeout_ms)."
            ),
        ),
        Column(
            "send_timeout_ms",
            BigInteger,
            nullable=False,
            server_default=text("30000"),
            comment="Milliseconds that a send waits for room if limit_behaviour is block.",
        ),
        Column(
            "deduplication_window_ms",
            BigInteger,
            nullable=False,
            server_default=text("300000"),
            comment="Milliseconds for which a deduplication key is remembered. Amazon SQS has five minutes.",
        ),
        Column(
            "keep_results_ms",
            BigInteger,
            comment="Milliseconds for which the results of its messages are kept. NULL: they are not kept.",
        ),
    ]


def permit_columns() -> list[Column[object]]:
    """How many of a destination's messages all its consumers together may have in hand, and how fast they may go."""
    return [
        Column("max_concurrent", Integer, comment="Most messages in hand at a time, received or leased. NULL: any."),
        Column(
            "rate_limit",
            Text,
            comment="Most messages given out in a period, such as 100/1s or 100/1m burst 10. NULL: any number.",
        ),
        Column("limit_key", Text, comment="The header whose value is a message's key. NULL: no limit by key."),
        Column("max_concurrent_per_key", Integer, comment="As max_concurrent, for each key. NULL: any."),
        Column("rate_limit_per_key", Text, comment="As rate_limit, for each key. NULL: any number."),
        Column(
            "rate_keys",
            Integer,
            nullable=False,
            server_default=text("100"),
            comment="For how many keys at a time rate_limit_per_key is kept; messages of further keys wait.",
        ),
    ]


def policy_checks() -> list[CheckConstraint]:
    """What policy_columns() may hold."""
    return [
        CheckConstraint(
            "preset IN ('howdah', 'websphere', 'websphere_mq', 'service_broker', 'activemq', 'sun_mq')", name="preset"
        ),
        CheckConstraint("limit_comparison IN ('reached', 'exceeded')", name="comparison"),
        CheckConstraint(
            "count_by IN ('message', 'conversation', 'group') "
            "AND backout_count IN ('volatile', 'recorded', 'hardened')",
            name="counting",
        ),
        CheckConstraint("decided_at IN ('failure', 'receive')", name="decided_at"),
        CheckConstraint("at_limit IN ('move', 'discard', 'quarantine', 'end_conversation')", name="at_limit"),
        CheckConstraint("exception_fallback IN ('system', 'dead_letter')", name="exception_fallback"),
        CheckConstraint(
            "backoff_multiplier >= 1 AND collision_avoidance_factor BETWEEN 0 AND 1 AND max_redelivery_delay_ms >= -1",
            name="backoff",
        ),
        CheckConstraint("quarantine_ms >= 0 AND quarantine_times >= 0 AND disable_after >= 0", name="quarantine"),
        CheckConstraint("message_limit > 0 AND byte_limit > 0", name="room"),
        CheckConstraint(
            "limit_behaviour IN ('reject', 'remove_oldest', 'remove_lowest_priority', 'block') "
            "AND send_timeout_ms >= 0",
            name="limit_behaviour",
        ),
        CheckConstraint("deduplication_window_ms > 0", name="deduplication_window_ms"),
        CheckConstraint("keep_results_ms > 0", name="keep_results_ms"),
        CheckConstraint(
            "max_concurrent BETWEEN 1 AND 1000 AND max_concurrent_per_key BETWEEN 1 AND 1000"
            " AND rate_keys BETWEEN 1 AND 10000",
            name="permits",
        ),
    ]


destination_policies = Table(
    "destination_policies",
    metadata,
    Column(
        "pattern",
        Text(collation="C"),
        primary_key=True,
        comment="The names it applies to: * stands for one part between dots, > at the end for all the rest.",
    ),
    Column("options", JSONB, nullable=False, comment="The options, as in create_queue, as a JSON object."),
    Column("set_at", TIMESTAMPTZ, nullable=False, comment="When it was set."),
    Column("set_by", Text, nullable=False, comment="The role that set it."),
    comment="Options of queues by wildcard. The most specific pattern applies.",
)

redactions = Table(
    "redactions",
    metadata,
    Column(
        "pattern",
        Text(collation="C"),
        nullable=False,
        comment="The names of the queues and topics that it applies to, as in destination_policies.",
    ),
    Column(
        "path",
        Text(collation="C"),
        nullable=False,
        comment="What it hides in their bodies: a JSON path; * stands for any name or element, $ for the whole body.",
    ),
    Column("reason", Text, comment="Why, in the administrator's words."),
    Column("set_at", TIMESTAMPTZ, nullable=False, comment="When it was set."),
    Column("set_by", Text, nullable=False, comment="The role that set it."),
    PrimaryKeyConstraint("pattern", "path"),
    comment="What is hidden in bodies that people look at. All rules whose patterns match apply.",
)
