"""Queues and topics that their first use created: when they were last used, and how they come back."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from .base import TIMESTAMPTZ, metadata
from .destinations import destinations

auto_destinations = Table(
    "auto_destinations",
    metadata,
    Column(
        "destination_id",
        Integer,
        ForeignKey(destinations.c.id, name="fk_auto_destinations_destination"),
        primary_key=True,
        autoincrement=False,
        comment="The destination. It stays here after its end, so that its name gets the same number again.",
    ),
    Column(
        "options",
        JSONB,
        nullable=False,
        comment="What it was created with: the engine's options, and those of the policy that matched its name.",
    ),
    Column("seen_at", TIMESTAMPTZ, nullable=False, comment="When maintenance last found it used, or it was created."),
    Column("looked_at", TIMESTAMPTZ, comment="When maintenance last looked at it. NULL: not yet. infinity: it ended."),
    Column("boot", TIMESTAMPTZ, nullable=False, comment="Start of the server at that time."),
    Column(
        "seen",
        ARRAY(BigInteger),
        comment="Its last position, and its last search by a receiver, at that time. Another value is a use.",
    ),
    Column(
        "last_position",
        BigInteger,
        comment="Its last position, once it ended and its sequences were dropped. NULL: they are there, or unused.",
    ),
    Index("ix_auto_destinations_looked_at", text("looked_at NULLS FIRST")),
    comment="Queues and topics that their first use created, including those that ended.",
)

spare_numbers = Table(
    "spare_numbers",
    metadata,
    Column(
        "id", Integer, primary_key=True, autoincrement=False, comment="The number. Its sequences have its name already."
    ),
    comment="Numbers for the next destinations, made ready by maintenance while destinations create themselves.",
)
