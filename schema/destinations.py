"""Queues and topics with every policy as a typed column, and who may do what with them."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    Sequence,
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from .base import TIMESTAMPTZ, metadata
from .fast_path import derived_columns, fast_path_columns
from .policies import limit_columns, permit_columns, policy_checks, policy_columns

FAILING = 16
"""Number of the sequences failing_0, … and of special_0, …"""

LEVELS = (
    "BEST_EFFORT_NONPERSISTENT",
    "EXPRESS_NONPERSISTENT",
    "RELIABLE_NONPERSISTENT",
    "RELIABLE_PERSISTENT",
    "ASSURED_PERSISTENT",
)
"""The levels of reliability, from the lowest: level 0 to 4."""

NAME_LENGTH_MAX = 242
"""Characters; with ActiveMQ's prefix ``queue://`` a name fits its VARCHAR(250)."""

for _number in range(FAILING):
    Sequence(f"failing_{_number}", metadata=metadata)
    Sequence(f"special_{_number}", metadata=metadata)

destinations = Table(
    "destinations",
    metadata,
    Column(
        "id",
        Integer,
        Identity(always=True),
        primary_key=True,
        comment="Number of the destination, used in every other table.",
    ),
    Column(
        "name",
        Text(collation="C"),
        nullable=False,
        comment="Name: 1 to 242 letters, digits, dots, underscores, hyphens, slashes.",
    ),
    Column(
        "kind",
        Text,
        nullable=False,
        server_default="queue",
        comment=(
            "queue (one consumer per message), topic (every subscriber) or subscription (one subscriber's view of "
            "topics)."
        ),
    ),
    *derived_columns(),
    *fast_path_columns(),
    Column(
        "is_system",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="Made by Howdah: can be neither altered nor dropped.",
    ),
    Column("created_at", TIMESTAMPTZ, nullable=False, comment="When it was created."),
    Column("created_by", Text, nullable=False, comment="The role that created it."),
    Column(
        "dropped_at", TIMESTAMPTZ, comment="When it was dropped. The row stays, so that the journal keeps its name."
    ),
    Column(
        "sending_paused",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment=(
            "True: nobody sends here, because own_sending_paused is true (HD008) or the engine does not run (HD040)."
        ),
    ),
    Column(
        "receiving_paused",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment=(
            "True: nobody receives here, because own_receiving_paused is true (HD009) or the engine does not run "
            "(HD040)."
        ),
    ),
    Column(
        "own_sending_paused",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="True: an administrator paused sending to this destination alone.",
    ),
    Column(
        "own_receiving_paused",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="True: an administrator paused receiving from this destination alone, or failures disabled it.",
    ),
    Column(
        "max_failed_deliveries",
        Integer,
        nullable=False,
        server_default="5",
        comment="A message with this many failures is disposed of. 0: never. WebSphere's default is 5.",
    ),
    Column(
        "exception_mode",
        Text,
        nullable=False,
        server_default="system",
        comment=(
            "Where a message goes at the limit: system, named (exception_queue), dead_letter, shared, individual or "
            "none (it stays)."
        ),
    ),
    Column("exception_queue", Text, comment="Name of the exception destination when exception_mode is named."),
    Column(
        "redelivery_delay_ms",
        BigInteger,
        nullable=False,
        server_default="0",
        comment="Milliseconds that a failed message waits before its next delivery.",
    ),
    Column(
        "blocked_retry_ms",
        BigInteger,
        nullable=False,
        server_default=text("-1"),
        comment=(
            "Milliseconds between retries past the limit, if exception_mode is none and override_blocked_retry is "
            "set. -1: no retry until howdah.retry."
        ),
    ),
    Column(
        "own_max_message_bytes",
        BigInteger,
        nullable=False,
        server_default="73400320",
        comment="The option max_message_bytes as given. The default of 70 MiB is Sun ONE MQ's.",
    ),
    Column(
        "default_priority",
        Integer,
        nullable=False,
        server_default="4",
        comment="Priority of a message sent without one, 0 to 9.",
    ),
    Column(
        "default_time_to_live_ms",
        BigInteger,
        comment="Milliseconds that a message lives if it is sent without time_to_live. NULL: forever.",
    ),
    Column(
        "journal_level",
        Text,
        nullable=False,
        server_default="exits",
        comment="off, exits (what became of each message) or full (also each send).",
    ),
    Column(
        "journal_level_at",
        TIMESTAMPTZ,
        nullable=False,
        comment="When journal_level was last set. An audit trusts records from then on.",
    ),
    Column(
        "preset",
        Text,
        nullable=False,
        server_default="howdah",
        comment="Preset last applied: howdah, websphere, websphere_mq, service_broker, activemq or sun_mq.",
    ),
    *policy_columns(),
    Column(
        "poison_procedure",
        Text,
        comment="Function (SCHEMA.FUNCTION) that a receive calls with each message at its limit. NULL: none.",
    ),
    Column(
        "poison_procedure_owner",
        Text,
        comment="The role that owned the function when it was set. The function is not called if its owner changes.",
    ),
    Column(
        "persistent",
        Boolean,
        nullable=False,
        server_default=text("true"),
        comment="False: memory mode, in which every message sent here is non-persistent.",
    ),
    Column(
        "own_persistent",
        Boolean,
        nullable=False,
        server_default=text("true"),
        comment="The option persistent as given; the column persistent is what applies, including the engine's false.",
    ),
    Column(
        "default_reliability",
        Text,
        nullable=False,
        server_default="ASSURED_PERSISTENT",
        comment="Level of reliability of a message that is sent without a level or delivery mode.",
    ),
    Column(
        "max_reliability",
        Text,
        nullable=False,
        server_default="ASSURED_PERSISTENT",
        comment="Highest level of reliability that is taken here.",
    ),
    Column(
        "producer_may_override",
        Boolean,
        nullable=False,
        server_default=text("true"),
        comment="False: every message gets default_reliability, whatever its sender asks for.",
    ),
    Column(
        "exception_discard_reliability",
        Text,
        server_default="BEST_EFFORT_NONPERSISTENT",
        comment=(
            "Messages up to this level are discarded in place of going to an exception destination. NULL: none are."
        ),
    ),
    Column(
        "discard_with_sender",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="True: best-effort and express messages are discarded when the connection that sent them ends.",
    ),
    *limit_columns(),
    Column(
        "process_expired",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="True: expired messages go to the exception destination. False: they are discarded.",
    ),
    Column(
        "keep_bodies_ms",
        BigInteger,
        comment="Milliseconds that a consumed message stays readable, in kept_messages. NULL: it is gone at once.",
    ),
    Column(
        "last_value_key",
        Text,
        comment="The header by whose value a message replaces the unread ones sent before it. NULL: none is replaced.",
    ),
    Column(
        "contract",
        JSONB,
        comment="The JSON Schema that bodies sent there must keep to. NULL: any body.",
    ),
    Column(
        "message_groups",
        Text,
        nullable=False,
        server_default="none",
        comment=(
            "Order within groups (header JMSXGroupID, or else the conversation): none, transaction or sticky. "
            "transaction: a group belongs to one transaction at a time. sticky: to one consumer until that goes."
        ),
    ),
    Column(
        "delivery_policy",
        Text,
        nullable=False,
        server_default="shared",
        comment=(
            "Who gets messages: shared (whoever asks), single (one open consumer, no second one), failover (the first "
            "open consumer) or round_robin (open consumers in turn)."
        ),
    ),
    Column(
        "groups_at",
        TIMESTAMPTZ,
        comment=(
            "When message_groups or delivery_policy last changed. An audit expects order for what was sent since. "
            "NULL: never."
        ),
    ),
    Column(
        "notify_events",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="True: dead messages and stopped listeners are announced by NOTIFY, on the channel howdah_events.",
    ),
    Column(
        "stamp_user",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="True: each message sent here gets the role of its sender in the header JMSXUserID.",
    ),
    Column(
        "auto_created",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="True: its first use created it, and it ends when nobody uses it. False: it stays.",
    ),
    *permit_columns(),
    CheckConstraint("message_groups IN ('none', 'transaction', 'sticky')", name="message_groups"),
    CheckConstraint("delivery_policy IN ('shared', 'single', 'failover', 'round_robin')", name="delivery_policy"),
    CheckConstraint("kind IN ('queue', 'topic', 'subscription')", name="kind"),
    CheckConstraint("max_failed_deliveries >= -1", name="max_failed_deliveries"),
    CheckConstraint(
        "exception_mode IN ('system', 'named', 'none', 'dead_letter', 'shared', 'individual')", name="exception_mode"
    ),
    CheckConstraint("(exception_mode = 'named') = (exception_queue IS NOT NULL)", name="exception_queue"),
    CheckConstraint(
        "redelivery_delay_ms >= 0 AND initial_redelivery_delay_ms >= 0 AND blocked_retry_ms >= -1", name="delays"
    ),
    CheckConstraint("max_message_bytes > 0", name="max_message_bytes"),
    CheckConstraint("own_max_message_bytes > 0", name="own_max_message_bytes"),
    CheckConstraint("default_priority BETWEEN 0 AND 9", name="default_priority"),
    CheckConstraint("default_time_to_live_ms > 0", name="default_time_to_live_ms"),
    CheckConstraint("keep_bodies_ms > 0", name="keep_bodies_ms"),
    CheckConstraint(
        f"array_position(ARRAY{list(LEVELS)}, default_reliability)"
        f" <= array_position(ARRAY{list(LEVELS)}, max_reliability)",
        name="reliability",
    ),
    CheckConstraint("journal_level IN ('off', 'exits', 'full')", name="journal_level"),
    *policy_checks(),
    Index("uq_destinations_name", "name", unique=True, postgresql_where=text("dropped_at IS NULL")),
    Index(
        "ix_destinations_former",
        "name",
        postgresql_where=text("dropped_at IS NOT NULL"),
    ),
    Index(
        "ix_destinations_exception_mode",
        "exception_mode",
        postgresql_where=text("exception_mode IN ('named', 'individual')"),
    ),
    comment="Queues and topics, with the policies that govern their messages.",
)

destination_grants = Table(
    "destination_grants",
    metadata,
    Column(
        "destination_id",
        Integer,
        ForeignKey(destinations.c.id, name="fk_destination_grants_destination"),
        primary_key=True,
        comment="The destination.",
    ),
    Column(
        "rule_set",
        Text(collation="C"),
        primary_key=True,
        server_default=text("''"),
        comment="The set of access rules that it comes from. Empty: it was copied at the creation, and is in all sets.",
    ),
    Column(
        "verb", Text, primary_key=True, comment="What it is about: send, receive, browse, admin, pass_all, set_all."
    ),
    Column(
        "kind",
        Text,
        primary_key=True,
        server_default=text("'group'"),
        comment="user: the role itself. group: its members, too.",
    ),
    Column("role_name", Text, primary_key=True, comment="The role. *: everybody."),
    Column("allow", Boolean, nullable=False, server_default=text("true"), comment="Whether it allows or denies."),
    Column(
        "tier",
        SmallInteger,
        nullable=False,
        server_default=text("32000"),
        comment="Its place: the lowest tier that matches the caller decides. In one tier, a denial precedes.",
    ),
    CheckConstraint("verb IN ('send', 'receive', 'browse', 'admin', 'pass_all', 'set_all')", name="verb"),
    CheckConstraint("kind IN ('user', 'group')", name="kind"),
    Index("ix_destination_grants_tier", "destination_id", "verb", "tier", "allow"),
    comment="Who may do what with a destination: the access rules, compiled.",
)

aliases = Table(
    "aliases",
    metadata,
    Column("name", Text(collation="C"), primary_key=True, comment="The other name; no destination has it."),
    Column("target", Text(collation="C"), nullable=False, comment="Name of the queue or topic that it stands for."),
    Column("default_reliability", Text, comment="As in destinations. NULL: the target's."),
    Column("max_reliability", Text, comment="As in destinations. NULL: the target's."),
    Column("producer_may_override", Boolean, comment="As in destinations. NULL: the target's."),
    Column("created_at", TIMESTAMPTZ, nullable=False, comment="When it was created."),
    Column("created_by", Text, nullable=False, comment="The role that created it."),
    comment="Other names of queues and topics, with levels of reliability of their own.",
)
