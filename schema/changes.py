"""The record of what administrators changed: the configuration's history, in the order of commits."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Identity, Index, Sequence, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

from .base import TIMESTAMPTZ, metadata

#: The greatest transaction id whose changes retention has dropped. A row of engine would wait for receivers.
Sequence("changes_dropped", metadata=metadata)

config_changes = Table(
    "config_changes",
    metadata,
    Column("change_id", BigInteger, Identity(always=True), primary_key=True, comment="Number of the change."),
    Column(
        "transaction",
        BigInteger,
        nullable=False,
        comment=(
            "The transaction (xid8 as a number). Readers in the order of commits stop before the oldest that is open."
        ),
    ),
    Column("at", TIMESTAMPTZ, nullable=False, comment="When it was made."),
    Column("actor", Text, nullable=False, comment="The role that made it."),
    Column(
        "kind",
        Text,
        nullable=False,
        comment="What it is: queue, topic, subscription, alias, policy, engine, rule, service, object and so on.",
    ),
    Column("name", Text, nullable=False, comment="Name of the thing."),
    Column("act", Text, nullable=False, comment="What was done: created, altered or dropped."),
    Column("before", JSONB, comment="Its properties before. NULL: there was none."),
    Column("after", JSONB, comment="Its properties after. NULL: it was dropped."),
    Column("reason", Text, comment="Why, in the words of the setting howdah.reason."),
    Column("undoes", BigInteger, comment="The change that this one took back."),
    Index("ix_config_changes_transaction", "transaction", "change_id"),
    comment="What administrators changed: each thing made, altered or dropped, with who and when. INSERT-only.",
)
