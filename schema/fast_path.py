"""What the fast paths read of a destination.

These columns come first in the table, because PostgreSQL unpacks a row up to the last column that a statement reads.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Integer, SmallInteger, Text, text
from sqlalchemy.dialects.postgresql import ARRAY, INTERVAL, REGCLASS


def derived_columns() -> list[Column[object]]:
    """What howdah._derive keeps for them. Each function in a statement costs one percent of a send."""
    return [
        Column(
            "usual_send",
            Boolean,
            nullable=False,
            comment=(
                "A send with the default priority may take the fast path: it is stored in the main lane, is not "
                "journaled and not paused."
            ),
        ),
        Column(
            "usual_batch",
            Boolean,
            nullable=False,
            comment="A batch of bodies may take the fast path: as usual_send, whether the queue journals sends or not.",
        ),
        Column(
            "usual_publish",
            Boolean,
            nullable=False,
            comment="A topic to which a publish may take the fast path: persistent, without limits, as usual_send.",
        ),
        Column(
            "usual_receive",
            Boolean,
            nullable=False,
            comment="A receive may take the fast path: receiving is not paused, and no bodies are kept.",
        ),
        Column("is_queue", Boolean, nullable=False, comment="kind is queue."),
        Column(
            "assured",
            Boolean,
            nullable=False,
            comment="default_reliability is ASSURED_PERSISTENT.",
        ),
        Column("journaled", Boolean, nullable=False, comment="journal_level is not off."),
        Column(
            "grouped",
            Boolean,
            nullable=False,
            comment="message_groups is transaction, and no limit of permits applies (limited).",
        ),
        Column("default_time_to_live", INTERVAL, comment="default_time_to_live_ms as an interval."),
    ]


def fast_path_columns() -> list[Column[object]]:
    """Further columns, which other functions keep."""
    return [
        Column("main_rank", SmallInteger, nullable=False, comment="Rank of the main lane."),
        Column(
            "dispose_at",
            Integer,
            nullable=False,
            server_default=text("5"),
            comment=(
                "Failures at which a receive disposes of a message; derived from the other columns. 1000000: never."
            ),
        ),
        Column(
            "limited",
            Boolean,
            nullable=False,
            server_default=text("false"),
            comment="True: a receive needs permits or draws on a rate; derived from max_concurrent and the like.",
        ),
        Column(
            "positions",
            REGCLASS,
            nullable=False,
            comment="The sequence that gives the destination's messages their positions.",
        ),
        Column(
            "head",
            REGCLASS,
            nullable=False,
            comment="Hint of the main lane (ready messages of the priority it was created with): as lanes.head.",
        ),
        Column("search", REGCLASS, nullable=False, comment="Hint of the main lane: as lanes.search."),
        Column(
            "waiting",
            REGCLASS,
            nullable=False,
            comment="A sequence, a hint: whether somebody waits and asked to be woken. howdah._wake describes it.",
        ),
        Column(
            "special",
            REGCLASS,
            nullable=False,
            comment=(
                "A sequence, shared with other destinations. It has a value once a lane was opened; receives then "
                "read lanes."
            ),
        ),
        Column(
            "failing",
            REGCLASS,
            nullable=False,
            comment=(
                "A sequence, shared with other destinations. It has a value once a failure was recorded; receives "
                "then count failures."
            ),
        ),
        Column(
            "max_message_bytes",
            BigInteger,
            nullable=False,
            server_default="73400320",
            comment=(
                "Largest body that a send accepts, in bytes: the lesser of own_max_message_bytes and the engine's "
                "max_message_bytes."
            ),
        ),
        Column(
            "senders", ARRAY(Text), nullable=False, comment="Copy of destination_grants for the verb send, by trigger."
        ),
        Column(
            "receivers",
            ARRAY(Text),
            nullable=False,
            comment="Copy of destination_grants for the verb receive, by trigger.",
        ),
        Column(
            "room",
            REGCLASS,
            comment=(
                "A sequence: the last ticket that sends may use without counting. howdah._reserve_and_wake describes "
                "it. NULL: no limit applies."
            ),
        ),
        Column(
            "tickets",
            REGCLASS,
            comment="A sequence: the tickets that sends draw under a limit. NULL: no limit applies.",
        ),
    ]
