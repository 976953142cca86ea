"""Transformations: functions of applications that change messages on their way."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, PrimaryKeyConstraint, Table, Text

from .base import TIMESTAMPTZ, metadata

transformations = Table(
    "transformations",
    metadata,
    Column("registered_at", TIMESTAMPTZ, nullable=False, comment="When it was registered."),
    Column("name", Text(collation="C"), nullable=False, comment="Name of the transformation."),
    Column(
        "function",
        Text(collation="C"),
        nullable=False,
        comment="Its function, SCHEMA.FUNCTION, which takes a howdah.message and returns one.",
    ),
    Column("function_owner", Text, nullable=False, comment="The role that owned the function when it was registered."),
    Column("registered_by", Text, nullable=False, comment="The role that registered it."),
    PrimaryKeyConstraint("name", name="pk_transformations"),
    comment="Functions that bridges, links and subscriptions may apply to messages. Administrators register them.",
)


def transformation_column(makes: str) -> Column[object]:
    """The transformation that something applies; ``makes`` says in English what it makes."""
    return Column(
        "transformation",
        Text(collation="C"),
        ForeignKey(transformations.c.name),
        comment=f"The transformation that makes {makes}. NULL: none.",
    )
