"""Limits on what all consumers of a queue together have in hand, and on how fast they may go."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Identity, Index, Integer, PrimaryKeyConstraint, Table
from sqlalchemy.dialects.postgresql import REGCLASS, UUID

from .base import metadata
from .topics import Xid8

permits_in_hand = Table(
    "permits_in_hand",
    metadata,
    Column("xid", Xid8, nullable=False, comment="The transaction that has it."),
    Column("destination_id", Integer, nullable=False, comment="The queue."),
    Column("key", UUID(), nullable=False, comment="MD5 of the key; all zeros: the limit of the queue itself."),
    Column("permit", Integer, nullable=False, comment="Number of the permit, from 1 to the limit."),
    PrimaryKeyConstraint("xid", "destination_id", "key", "permit"),
    prefixes=["UNLOGGED"],
    comment=(
        "Which permits a transaction has already, so that it takes none twice: its own advisory locks never refuse it. "
        "Only that transaction reads its rows."
    ),
)

leased_permits = Table(
    "leased_permits",
    metadata,
    Column("id", BigInteger, Identity(always=True), nullable=False, comment="The newest row of a message counts."),
    Column("destination_id", Integer, nullable=False, comment="The queue."),
    Column("key", UUID(), nullable=False, comment="MD5 of the key; all zeros: the limit of the queue itself."),
    Column("permit", Integer, nullable=False, comment="Number of the permit, from 1 to the limit."),
    Column("message_id", BigInteger, nullable=False, comment="The message; the permit is in use while it is leased."),
    PrimaryKeyConstraint("destination_id", "key", "permit", "id"),
    Index("ix_leased_permits_message", "destination_id", "message_id"),
    comment="Permits of messages that were held, and may have been put under a lease since. Rows are never updated.",
)

rate_cells = Table(
    "rate_cells",
    metadata,
    Column("destination_id", Integer, nullable=False, comment="The queue."),
    Column("number", Integer, nullable=False, comment="0: the queue itself. From 1: a place for a key."),
    Column("spent", REGCLASS, nullable=False, comment="A sequence: up to when the rate is spent, in microseconds."),
    Column(
        "mark",
        REGCLASS,
        nullable=False,
        comment=(
            "A sequence. Cell 0: since when the cells are known; a crash of the server resets it. Other cells: the "
            "fingerprint of the key."
        ),
    ),
    PrimaryKeyConstraint("destination_id", "number"),
    comment="Sequences that remember how far a rate is spent, outside transactions.",
)
