"""Where messages lie: ready, non-persistent, or parked until they are due."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Sequence,
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY

from .base import TIMESTAMPTZ, after_create, message_columns, metadata

Sequence("lease_numbers", metadata=metadata)
Sequence("bodies_apart", metadata=metadata)
Sequence("moved_walk", metadata=metadata, minvalue=0, start=0)


def _by_correlation(table: str) -> Index:
    """Finds messages by the hash of their correlation id, which may exceed the 2,700 bytes of an index entry."""
    return Index(
        f"ix_{table}_correlation",
        text("hashtextextended(correlation_id, 0)"),
        postgresql_where=text("correlation_id IS NOT NULL"),
    )


def _best_effort(table: str) -> Index:
    """Finds the messages that go first when resources are short. Others have no entry."""
    return Index(f"ix_{table}_best_effort", "destination_id", "seq", postgresql_where=text("reliability = 0"))


def leased_columns() -> list[Column[object]]:
    """The columns of a stored message, with another position."""
    columns = message_columns(large_apart=True)
    columns[0].comment = "The lease times 2^20, plus a number within the lease."
    return columns


msgs = Table(
    "msgs",
    metadata,
    *message_columns(large_apart=True),
    PrimaryKeyConstraint("destination_id", "rank", "seq"),
    _by_correlation("msgs"),
    comment=(
        "Messages ready for delivery. A receive deletes the row in the consumer's transaction; no row is ever updated."
    ),
)

bodies = Table(
    "bodies",
    metadata,
    Column("message_id", BigInteger, primary_key=True, autoincrement=False, comment="The message."),
    Column(
        "body",
        LargeBinary,
        nullable=False,
        comment="The exact bytes of its body. Up to 8 KB are stored in the row itself, uncompressed.",
    ),
    postgresql_with={"toast_tuple_target": 8160},
    comment=(
        "Large bodies of persistent messages of queues. A body stays here wherever its message moves. Sends insert "
        "it; what ends the message deletes it."
    ),
)

moved = Table(
    "moved",
    metadata,
    Column("message_id", BigInteger, nullable=False, comment="The message."),
    Column("seq", BigInteger, nullable=False, comment="Its position there."),
    Column("destination_id", Integer, nullable=False, comment="The destination it was moved to."),
    Column("rank", SmallInteger, nullable=False, comment="9 minus its priority."),
    PrimaryKeyConstraint("message_id", "destination_id", "seq"),
    comment=(
        "Where messages lie whose id does not give their position, for lookups by id. What moves a message inserts a "
        "row, which may be out of date."
    ),
)

leased = Table(
    "leased",
    metadata,
    *leased_columns(),
    PrimaryKeyConstraint("destination_id", "rank", "seq"),
    comment=(
        "Leased messages of the main lanes. A lease inserts the rows, and what ends it deletes them; no row is ever "
        "updated."
    ),
)

leases = Table(
    "leases",
    metadata,
    Column(
        "lease_id", BigInteger, primary_key=True, autoincrement=False, comment="Number of the lease: its fencing token."
    ),
    Column("until", TIMESTAMPTZ, nullable=False, comment="From this time on its messages may be received again."),
    Column("destination_id", Integer, nullable=False, comment="The queue whose messages it has."),
    Column(
        "rank",
        SmallInteger,
        nullable=False,
        comment=("9 minus the priority of its messages, which is the rank of the queue's main lane."),
    ),
    Index("ix_leases_destination_id", "destination_id", "rank", "until"),
    comment="Leases with messages in the table leased. extend replaces the row, so no row is ever updated.",
)

msgs_nonpersistent = Table(
    "msgs_nonpersistent",
    metadata,
    *message_columns(),
    Column(
        "boot",
        TIMESTAMPTZ,
        nullable=False,
        comment="Start of the server that took the message. After any other start it is lost.",
    ),
    PrimaryKeyConstraint("destination_id", "rank", "seq"),
    _by_correlation("msgs_nonpersistent"),
    _best_effort("msgs_nonpersistent"),
    prefixes=["UNLOGGED"],
    comment="Non-persistent messages ready for delivery: no WAL, lost at every restart of the server.",
)

ahead_leases = Table(
    "ahead_leases",
    metadata,
    Column("lease_id", BigInteger, primary_key=True, autoincrement=False, comment="The lease."),
    Column("destination_id", Integer, nullable=False, comment="The destination of its messages."),
    Column(
        "suspects",
        Integer,
        nullable=False,
        comment=(
            "How many of its messages, the first ones left, count as failed when it runs out. The others come again "
            "uncounted."
        ),
    ),
    comment=(
        "Leases of sessions that hold messages ahead of delivery. A row is written when a lease is given out; "
        "correctness never depends on it."
    ),
)

parked = Table(
    "parked",
    metadata,
    *message_columns(large_apart=True),
    Column("due_at", TIMESTAMPTZ, nullable=False, comment="From this time on a receive may claim the message."),
    Column(
        "parked_reason",
        Text,
        nullable=False,
        comment=(
            "delay (sent with one), redelivery (after a failure), blocked (past its limit), quarantine, operator "
            "(park_messages) or lease. A lease of the facade pgmq has no lease_id."
        ),
    ),
    Column(
        "boot",
        TIMESTAMPTZ,
        comment="For a non-persistent message, the start of the server that took it. NULL: persistent.",
    ),
    Column("lease_id", BigInteger, comment="The lease that has the message until due_at. NULL: none."),
    Column(
        "group_id",
        Text,
        comment=(
            "The message group that the message holds up while it waits (after a failure, under a lease). NULL: none."
        ),
    ),
    Column("reads", Integer, comment="How often the facade pgmq has read the message. NULL: never."),
    Column("last_read_at", TIMESTAMPTZ, comment="When the facade pgmq last read the message. NULL: never."),
    PrimaryKeyConstraint("destination_id", "message_id"),
    Index("ix_parked_group", "destination_id", "group_id", postgresql_where=text("group_id IS NOT NULL")),
    Index("ix_parked_due", "destination_id", "rank", "due_at", "seq"),
    _by_correlation("parked"),
    _best_effort("parked"),
    Index("ix_parked_lease", "destination_id", "lease_id", postgresql_where=text("lease_id IS NOT NULL")),
    CheckConstraint(
        "parked_reason IN ('delay', 'redelivery', 'blocked', 'quarantine', 'operator', 'lease')", name="reason"
    ),
    comment="Messages that wait for a time, kept out of the way of claims. A receive takes due ones from here.",
)

last_values = Table(
    "last_values",
    metadata,
    Column("destination_id", Integer, nullable=False, comment="The queue."),
    Column("key", LargeBinary, nullable=False, comment="SHA-256 of the header last_value_key, name and value."),
    Column("message_id", BigInteger, nullable=False, comment="The last message of the key. 0: senders lock this row."),
    Column("held", ARRAY(BigInteger), comment="Earlier messages of the key that somebody held then. NULL: none."),
    Column("looked_at", TIMESTAMPTZ, comment="Of row 0: when maintenance last looked at the key. NULL elsewhere."),
    PrimaryKeyConstraint("destination_id", "key", "message_id"),
    Index("ix_last_values_looked_at", "looked_at", postgresql_where=text("message_id = 0")),
    comment="Which messages the next one of a key replaces: a row that stays, and one that each send replaces.",
)

deduplications = Table(
    "deduplications",
    metadata,
    Column("destination_id", Integer, nullable=False, comment="The queue or topic that it was sent to."),
    Column("key", Text(collation="C"), nullable=False, comment="The key that the sender gave."),
    Column("message_id", BigInteger, nullable=False, comment="The first message that was sent with it."),
    Column("forgotten_at", TIMESTAMPTZ, nullable=False, comment="From this time on the key may be used again."),
    PrimaryKeyConstraint("destination_id", "key"),
    comment="The deduplication keys of the last minutes. The first send inserts a key; maintenance deletes it.",
)

handed = Table(
    "handed",
    metadata,
    Column("lease_id", BigInteger, nullable=False, comment="The lease."),
    Column("message_id", BigInteger, nullable=False, comment="The message."),
    Column("handed_at", TIMESTAMPTZ, nullable=False, comment="When it was recorded."),
    PrimaryKeyConstraint("lease_id", "message_id"),
    comment=(
        "Records that leased messages were handed to the application, for engines without redelivered_optimization."
    ),
)

# lz4 stores a JSON of 1 MB 3.5 times as fast as pglz for 6 % more WAL (docs/measurements/bodies.md).
# Not every server is built with it.
after_create(
    metadata,
    """
DO $$
BEGIN
    IF 'lz4' = ANY ((SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression')::text[]) THEN
        ALTER TABLE howdah.msgs ALTER COLUMN body SET COMPRESSION lz4;
        ALTER TABLE howdah.msgs_nonpersistent ALTER COLUMN body SET COMPRESSION lz4;
        ALTER TABLE howdah.parked ALTER COLUMN body SET COMPRESSION lz4;
        ALTER TABLE howdah.bodies ALTER COLUMN body SET COMPRESSION lz4;
    END IF;
END
$$
""",
)
