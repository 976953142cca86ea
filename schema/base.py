"""The metadata that every table joins, and the columns that several tables share."""

from __future__ import annotations

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    event,
)
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP, UUID

SCHEMA = "howdah"

metadata = MetaData(
    schema=SCHEMA,
    naming_convention={
        "pk": "pk_%(table_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    },
)

TIMESTAMPTZ = TIMESTAMP(timezone=True)


def after_create(target: MetaData | Table, statement: str) -> None:
    """Declare what SQLAlchemy has no words for: a statement that runs once ``target`` is created."""
    ddl = DDL(statement.strip().replace("%", "%%"))  # type: ignore[no-untyped-call]
    event.listen(target, "after_create", ddl)


def reliability_column() -> Column[object]:
    """The level of a stored message. NULL, the usual level, takes no room."""
    return Column(
        "reliability",
        SmallInteger,
        comment=(
            "Level of reliability: 0 best effort, 1 express, 2 reliable non-persistent, 3 reliable persistent, "
            "4 assured. NULL: assured, or express in a table of non-persistent messages."
        ),
    )


def message_columns(*, large_apart: bool = False) -> list[Column[object]]:
    """The columns of a stored message, the same in every table that holds messages.

    The order is by alignment (8, 4, 2, 1 bytes, then variable), so that a small message wastes no padding.
    large_apart: large bodies lie in the table ``bodies``.
    """
    body = "The exact bytes of the body; text is stored as UTF-8."
    return [
        Column(
            "seq",
            BigInteger,
            nullable=False,
            comment="Position in the queue, from the destination's sequence.",
        ),
        Column(
            "message_id",
            BigInteger,
            nullable=False,
            comment=(
                "Identity of the message for its whole life: its first position times 1,000,000 plus its first "
                "destination_id."
            ),
        ),
        Column("sent_at", TIMESTAMPTZ, nullable=False, comment="When send was called (JMSTimestamp)."),
        Column(
            "expires_at",
            TIMESTAMPTZ,
            comment="Never delivered at or after this time (JMSExpiration). NULL: never expires.",
        ),
        Column(
            "dead_at", TIMESTAMPTZ, comment="When the message was moved to an exception destination. NULL: it was not."
        ),
        Column("destination_id", Integer, nullable=False, comment="The destination that holds the message now."),
        Column(
            "origin_id",
            Integer,
            comment="The destination from which it was moved to an exception destination. NULL: never moved.",
        ),
        Column(
            "rank",
            SmallInteger,
            nullable=False,
            comment="9 minus the priority, so that ascending order is delivery order.",
        ),
        Column(
            "stage",
            SmallInteger,
            nullable=False,
            server_default="0",
            comment="How often the message was moved or replayed. Failures count within a stage.",
        ),
        Column(
            "is_text",
            Boolean,
            nullable=False,
            comment="True: body is UTF-8 text or JSON and is returned as text. False: bytes.",
        ),
        Column("content_type", Text, nullable=False, comment="MIME type of the body."),
        Column(
            "body",
            LargeBinary,
            nullable=large_apart,
            comment=f"{body} NULL: a large one, which lies in bodies." if large_apart else body,
        ),
        Column("headers", JSONB, comment="Application properties, a JSON object. NULL: none."),
        Column("correlation_id", Text, comment="JMSCorrelationID."),
        Column("reply_to", Text, comment="JMSReplyTo: name of the destination for answers."),
        Column("message_type", Text, comment="JMSType; workers choose the handler by it."),
        Column("conversation_id", UUID(), comment="The conversation (dialog) that the message belongs to."),
        Column("dead_reason", Text, comment="Why the message was moved to an exception destination."),
        reliability_column(),
    ]
