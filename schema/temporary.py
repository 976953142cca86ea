"""Temporary queues: which connection each belongs to."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, Text
from sqlalchemy.dialects.postgresql import REGCLASS

from .base import TIMESTAMPTZ, metadata
from .destinations import destinations

temporary_queues = Table(
    "temporary_queues",
    metadata,
    Column(
        "destination_id",
        Integer,
        ForeignKey(destinations.c.id, name="fk_temporary_queues_destination"),
        primary_key=True,
        autoincrement=False,
        comment="The queue.",
    ),
    Column(
        "connection",
        Text,
        comment="Token of the connection that it belongs to, a secret; s- and more: a database session's. NULL: free,"
        " to be used again.",
    ),
    Column(
        "boot", TIMESTAMPTZ, comment="Start of the server that it was made on: any other server start has ended it."
    ),
    Column(
        "alive",
        REGCLASS,
        nullable=False,
        comment="A sequence: when the connection was last heard of, in milliseconds since 1970.",
    ),
    Column(
        "lives", REGCLASS, nullable=False, comment="A sequence: counts the uses of the number, seen by all at once."
    ),
    Column("life", BigInteger, comment="Value of lives when it was made for its connection."),
    Index("ix_temporary_queues_connection", "connection", "destination_id"),
    comment="Temporary queues, those in use and those that wait for their next use: a queue's number and sequences"
    " are used again and again.",
)
