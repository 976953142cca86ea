"""Where messages lie: ready, non-persistent, or parked until they are due."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, Column, Index, PrimaryKeyConstraint, Sequence, Table, Text, text

from .base import TIMESTAMPTZ, message_columns, metadata

Sequence("lease_numbers", metadata=metadata)

msgs = Table(
    "msgs",
    metadata,
    *message_columns(),
    PrimaryKeyConstraint("destination_id", "rank", "seq"),
    comment="Messages ready for delivery. A receive deletes the row in the consumer's transaction; no row is ever updated.",
)

msgs_nonpersistent = Table(
    "msgs_nonpersistent",
    metadata,
    *message_columns(),
    Column(
        "boot",
        TIMESTAMPTZ,
        nullable=False,
        comment="Start of the server that took the message: any other server start has lost it.",
    ),
    PrimaryKeyConstraint("destination_id", "rank", "seq"),
    prefixes=["UNLOGGED"],
    comment="Non-persistent messages ready for delivery: no WAL, lost at every restart of the server.",
)

parked = Table(
    "parked",
    metadata,
    *message_columns(),
    Column("due_at", TIMESTAMPTZ, nullable=False, comment="From this time on a receive may claim the message."),
    Column(
        "parked_reason",
        Text,
        nullable=False,
        comment="delay (sent so), redelivery (after a failure), blocked (past its limit), quarantine, operator (park_messages) or lease.",
    ),
    Column(
        "boot",
        TIMESTAMPTZ,
        comment="For a non-persistent message the start of the server that took it; NULL: persistent.",
    ),
    Column("lease_id", BigInteger, comment="The lease that has the message until due_at. NULL: none."),
    PrimaryKeyConstraint("destination_id", "message_id"),
    Index("ix_parked_due", "destination_id", "rank", "due_at", "seq"),
    Index("ix_parked_lease", "lease_id", postgresql_where=text("lease_id IS NOT NULL")),
    CheckConstraint(
        "parked_reason IN ('delay', 'redelivery', 'blocked', 'quarantine', 'operator', 'lease')", name="reason"
    ),
    comment="Messages that wait for a time, kept out of the way of claims. A receive takes due ones straight from here.",
)
