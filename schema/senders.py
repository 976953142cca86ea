"""Whose messages go with the connection that sent them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, PrimaryKeyConstraint, Sequence, SmallInteger, Table

from .base import TIMESTAMPTZ, metadata
from .topics import Xid8

Sequence("senders_noted", metadata=metadata)

sent_by = Table(
    "sent_by",
    metadata,
    Column("destination_id", Integer, nullable=False, comment="The destination, which has discard_with_sender."),
    Column("sender", BigInteger, nullable=False, comment="Who sent it: the key of the sender's lock."),
    Column("message_id", BigInteger, nullable=False, comment="The message, best effort or express."),
    Column("own_session", Boolean, nullable=False, comment="The sender is a database session. False: a connection."),
    Column("rank", SmallInteger, nullable=False, comment="9 minus its priority."),
    Column("xid", Xid8, nullable=False, comment="The transaction that sent it."),
    Column("reliability", SmallInteger, comment="Its level, as the message has it."),
    Column("sent_at", TIMESTAMPTZ, nullable=False, comment="When it was sent."),
    PrimaryKeyConstraint("destination_id", "sender", "message_id"),
    prefixes=["UNLOGGED"],
    comment=(
        "Who sent the messages that go with their sender. A send inserts the rows; maintenance deletes those of "
        "messages that are gone."
    ),
)

sender_signs = Table(
    "sender_signs",
    metadata,
    Column("sender", BigInteger, nullable=False, comment="A connection named by set_connection: the key of its lock."),
    Column("seen_at", TIMESTAMPTZ, nullable=False, comment="When keep_connection was called last."),
    Index("ix_sender_signs_sender", "sender"),
    prefixes=["UNLOGGED"],
    comment=(
        "When connections that send gave their last signs of life. A connection can have several rows: its sessions "
        "do not wait for each other."
    ),
)
