"""What a rule of an audit is, and what it looks at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ..ledger import ENDS, ENTRIES, EXITS, STATES, total
from ..since import Previous

CLOCK_GRACE = "INTERVAL 1 SECOND"
"""How far times of one server may run against each other while its clock is corrected."""

FINDING = ("destination_id", "message_id", "seen")
"""Columns of a rule's findings. NULL where no destination or no single message is meant. seen: what was seen (text)."""


@dataclass(frozen=True)
class Facts:
    """What is known of the evidence beforehand, so that no rule looks for what cannot be there.

    read_at: the database's clock when it was read.
    journal, incidents, messages, locks: how many there are.
    passing: cursors of subscriptions that get all of their topics.
    expiring, grouped: messages whose send is recorded with an expiry, with a group.
    expired: how many expired.
    latest: the latest time of the journal. None: the journal is empty.
    first_xid, last_xid: its first and last transaction. None: the journal is empty.
    """

    read_at: datetime
    journal: int
    incidents: int
    messages: int
    locks: int
    passing: int
    expiring: int
    expired: int
    grouped: int
    latest: datetime | None
    first_xid: int | None
    last_xid: int | None


@dataclass(frozen=True)
class Evidence:
    """What rules look at: the ledger (judge_rows), queues' policies and hours, the views as read, the last audit.

    totals: of what digests prove (digests.totals), which ledger and journal lack; then the clocks of all rows agree
    (digests.clocks_agree). None: all was read.
    """

    facts: Facts
    ledger: DataFrame
    policies: DataFrame
    hours: DataFrame
    messages: DataFrame
    journal: DataFrame
    incidents: DataFrame
    acts: DataFrame
    locks: DataFrame
    cursors: DataFrame
    previous: Previous | None = None
    totals: DataFrame | None = None


def seen_in_ledger() -> Column:
    """What a row of the ledger tells of its message, for the reader of a sample."""
    names = (*ENTRIES, *EXITS, *STATES)
    parts = [F.when(F.col(name) > 0, F.concat_ws(" ", name, F.lit(name.replace("_", " ")))) for name in names]
    return F.concat_ws(", ", *parts)


@dataclass(frozen=True)
class Rule:
    """A rule. An error fails the audit.

    Rows of the ledger for which ``where`` is true break it, and so does what ``find`` returns. ``seen`` is what is
    shown of such a row. ``find`` returns the columns FINDING, or None where there was nothing to look at.
    """

    name: str
    #: error: not every message is accounted for; warning: somebody should look; notice: what the record does not cover.
    severity: str
    meaning: str
    where: Callable[[], Column] | None = None
    seen: Callable[[], Column] = seen_in_ledger
    find: Callable[[Evidence], DataFrame | None] | None = None


def facts_of(journal: DataFrame, rows: Mapping[str, int], read_at: datetime, passing: int) -> Facts:
    """The facts, from one look at the journal. rows: what was read of each view. read_at, passing: as in Facts."""
    (told,) = journal.agg(
        F.count(F.lit(1)).alias("journal"),
        F.count("expires_at").alias("expiring"),
        F.count(F.when(F.col("event") == "expired", 1)).alias("expired"),
        F.count("group_id").alias("grouped"),
        F.max("at").alias("latest"),
        F.min("xid").alias("first_xid"),
        F.max("xid").alias("last_xid"),
    ).collect()
    return Facts(
        read_at=read_at,
        incidents=rows["incidents"],
        messages=rows["messages"],
        locks=rows["locks"],
        passing=passing,
        **told.asDict(),
    )


def is_anywhere() -> Column:
    """Whether the message of a row of the ledger ended or is present there."""
    return (total(ENDS) + total(STATES)) > 0


def text(pattern: str, *columns: Column | str) -> Column:
    """A text for ``seen``; each {} is one of the columns, NULL a dash."""
    parts: list[Column] = []
    for number, piece in enumerate(pattern.split("{}")):
        if number:
            column = columns[number - 1]
            column = F.col(column) if isinstance(column, str) else column
            parts.append(F.coalesce(column.cast("string"), F.lit("-")))
        if piece:
            parts.append(F.lit(piece))
    return F.concat(*parts)
