"""Where receives look for messages besides a queue's main lane."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Identity, Index, Integer, SmallInteger, Table
from sqlalchemy.dialects.postgresql import REGCLASS

from .base import metadata

lanes = Table(
    "lanes",
    metadata,
    Column(
        "id",
        BigInteger,
        Identity(always=True),
        primary_key=True,
        comment="Number of the lane, part of its sequences' names.",
    ),
    Column("destination_id", Integer, nullable=False, comment="The destination."),
    Column("rank", SmallInteger, nullable=False, comment="9 minus the priority of its messages."),
    Column(
        "place",
        SmallInteger,
        nullable=False,
        comment="Where its messages lie: 0 parked, 1 msgs_nonpersistent, 2 msgs.",
    ),
    Column(
        "head",
        REGCLASS,
        comment="A sequence, a hint: the position behind which claims look. NULL: none; claims start at the beginning.",
    ),
    Column(
        "search",
        REGCLASS,
        comment=(
            "A sequence, a hint: how far the search behind the head is, times 2^20, and when its next step is due,"
            " in ms."
        ),
    ),
    # head: howdah._is_plain meets a row with hints before one without
    Index("ix_lanes_destination", "destination_id", "rank", "place", "head"),
    comment=(
        "Where receives look for messages besides the main lane: one row for each other priority and place in use. "
        "Senders only insert, in the transaction of the first such message. Several rows for one lane do no harm."
    ),
)
