"""Digests of the journal, made by the server, and which ranges of message numbers they prove.

The journal is summed up by words: 64 message numbers of one destination. For each event a word has a count, and a bit
for each number. So entries and exits are compared exactly: equal bits, and as many rows as bits. A word is proved under
two conditions. Each of its messages was sent to a queue once and consumed there once. No rule could find anything in
its rows. Where sends are not recorded, the consumption is enough. Everything else is read by row. ``WHY`` says what
those rules are.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from .ledger import DESTINATIONS
from .read import View, read_query
from .rules.delivery import EXPIRY_GRACE
from .rules.rule import CLOCK_GRACE
from .rules.time import LONGEST_TRANSACTION, TEMPORARY
from .snapshot import Snapshot

WORD = 64
"""Message numbers of one destination that are summed up together, a bit each."""

BY_ROW = {
    "topic": "it is none of a queue that is known",
    "special": "a message was moved, expired, has a group, or the like",
    "touched": "a message is there, failed, or was dealt with by an operator",
    "unequal": "what was sent is not what was consumed, each once",
    "modes": "a message is on record as persistent and as non-persistent",
    "order": "that each was consumed after it was sent does not show",
    "expiry": "that each was consumed before it expired does not show",
    "clock": "a time lies before its queue was made, or ahead",
    "clocks": "a time does not fit its transaction, so all rows are compared",
    "most": "most of the journal is read by row",
    "whole": "too many ranges of its queue are read by row",
    "sample": "drawn as a sample",
}
"""Why a word is read by row. The first reason that holds is named."""

_COLUMNS = (
    "place, length, word, event, nonpersistent, hour, messages, numbers, moments, unlike, first_at, last_at, newer,"
    " first_expires_at, xids"
)


def read_digests(spark: SparkSession, snapshot: Snapshot, partitions: int, since: str | None, rest: float = 0) -> View:
    """The digests over JDBC, in up to ``partitions`` connections, each of as many blocks of the journal.

    since: the snapshot of the audit before. rest: as howdah.audit_digests has it.
    """
    longest = max(snapshot.blocks["audit_journal"], default=0)
    cuts = sorted({longest * part // partitions for part in range(partitions)})
    parts = ", ".join(
        f"({number}, {begin}, {end or 'null'}::bigint)"
        for number, (begin, end) in enumerate(zip(cuts, [*cuts[1:], None], strict=True))
    )
    since = "null" if since is None else f"'{_checked(since)}'"
    salt = secrets.randbits(63)
    query = (
        f"select {_COLUMNS}, part from (values {parts}) p(part, first_block, end_block) cross join lateral"
        f" howdah.audit_digests(first_block, end_block, {since}, {salt}, {rest})"
    )
    view = read_query(spark, snapshot, "audit_digests", query, [f"part = {number}" for number in range(len(cuts))])
    return View(view.name, view.rows.drop("part"), view.observation)


def _checked(since: str) -> str:
    if not all(letter in "0123456789:," for letter in since):
        raise ValueError(f"{since!r} is not a snapshot")
    return since


def word_of(message_id: Column | str = "message_id") -> Column:
    """As howdah.audit_digests."""
    number = F.col(message_id) if isinstance(message_id, str) else message_id
    whole = WORD * DESTINATIONS
    return ((number - number % whole) / whole).cast("long") * DESTINATIONS + number % DESTINATIONS


def judge(digests: DataFrame, policies: DataFrame, touched: DataFrame) -> DataFrame:
    """One row for each word: word, destination_id, messages, rows and why (one of BY_ROW; NULL: it is proved).

    touched: a column word, of messages that are there, failed, or were dealt with.
    """
    bits, counts = {}, {}
    sums = []
    for event in ("sent", "consumed"):
        for mode in ("persistent", "nonpersistent"):
            mine = (F.col("event") == event) & (F.col("nonpersistent") == (mode == "nonpersistent"))
            name = f"{event}_{mode}"
            sums += [
                F.coalesce(F.bit_or(F.when(mine, F.col("numbers"))), F.lit(0)).alias(f"{name}_bits"),
                F.coalesce(F.sum(F.when(mine, F.col("messages"))), F.lit(0)).alias(name),
            ]
            bits[event, mode], counts[event, mode] = F.col(f"{name}_bits"), F.col(name)
    sent, consumed = F.col("event") == "sent", F.col("event") == "consumed"
    words = (
        digests.where(F.col("xids").isNull())
        .groupBy("word")
        .agg(
            *sums,
            F.sum("messages").alias("rows"),
            F.coalesce(F.sum(F.when(F.col("event").isNull(), F.col("messages"))), F.lit(0)).alias("special"),
            F.coalesce(F.sum("unlike"), F.lit(0)).alias("unlike"),
            F.bit_xor(F.when(sent, F.col("moments"))).alias("sent_moments"),
            F.bit_xor(F.when(consumed, F.col("moments"))).alias("consumed_moments"),
            F.max(F.when(sent, F.col("last_at"))).alias("sent_last"),
            F.min(F.when(consumed, F.col("first_at"))).alias("consumed_first"),
            F.max(F.when(consumed, F.col("last_at"))).alias("consumed_last"),
            F.min("first_at").alias("first_at"),
            F.max("last_at").alias("last_at"),
            F.min("first_expires_at").alias("first_expires_at"),
        )
    )
    modes = ("persistent", "nonpersistent")
    once = _all(
        F.bit_count(bits[event, mode]) == counts[event, mode] for event in ("sent", "consumed") for mode in modes
    ) & _all(bits[event, "persistent"].bitwiseAND(bits[event, "nonpersistent"]) == 0 for event in ("sent", "consumed"))
    either = {
        event: bits[event, "persistent"].bitwiseOR(bits[event, "nonpersistent"]) for event in ("sent", "consumed")
    }
    unsent = (either["sent"] == 0) & F.col("journal_level").isin("exits", "off")
    followed = (F.col("consumed_first") >= F.col("sent_last") - F.expr(CLOCK_GRACE)) | (
        (F.col("sent_moments") == F.col("consumed_moments")) & (F.col("unlike") == 0)
    )
    in_time = F.col("first_expires_at").isNull() | (
        F.col("consumed_last") <= F.col("first_expires_at") + F.expr(EXPIRY_GRACE)
    )
    made = (F.col("first_at") >= F.col("created_at") - F.expr(CLOCK_GRACE)) | F.col("queue").startswith(TEMPORARY)
    why = (
        F.when(~F.coalesce(F.col("kind") == "queue", F.lit(False)), "topic")
        .when(F.col("special") > 0, "special")
        .when(F.col("touched").isNotNull(), "touched")
        .when(~(once & (unsent | (either["sent"] == either["consumed"]))), "unequal")
        .when(~(unsent | (bits["sent", "persistent"] == bits["consumed", "persistent"])), "modes")
        .when(~(unsent | F.coalesce(followed, F.lit(False))), "order")
        .when(~F.coalesce(in_time, F.lit(False)), "expiry")
        .when(~(made & (F.col("last_at") <= F.col("read_at") + F.expr(CLOCK_GRACE))), "clock")
    )
    known = policies.select("destination_id", "queue", "kind", "journal_level", "created_at", "read_at")
    return (
        words.join(touched.select("word", F.lit(True).alias("touched")).distinct(), on="word", how="left")
        .join(F.broadcast(known), F.col("word") % DESTINATIONS == F.col("destination_id"), "left")
        .select(
            "word",
            "destination_id",
            F.greatest(*[F.bit_count(column) for column in either.values()]).cast("long").alias("messages"),
            "rows",
            unsent.alias("unsent"),
            why.alias("why"),
        )
    )


def totals(digests: DataFrame, proved: DataFrame) -> DataFrame:
    """What the digests of proved words say of each queue and hour.

    proved: rows of ``judge``. Columns: destination_id, hour, sent, consumed, unrecorded (came without a record),
    sent_newer and consumed_newer (since the snapshot that ``read_digests`` was given).
    """

    def of(event: str, name: str) -> Column:
        return F.coalesce(F.sum(F.when(F.col("event") == event, F.col(name))), F.lit(0))

    return (
        digests.join(proved.select("word", "destination_id", "unsent"), on="word", how="inner")
        .groupBy("destination_id", "hour")
        .agg(
            of("sent", "messages").alias("sent"),
            of("consumed", "messages").alias("consumed"),
            F.sum(F.when(F.col("unsent"), F.col("messages")).otherwise(0)).alias("unrecorded"),
            of("sent", "newer").alias("sent_newer"),
            of("consumed", "newer").alias("consumed_newer"),
        )
    )


def clocks_agree(digests: DataFrame) -> bool:
    """Whether no transaction can have recorded anything an hour later than one with a greater number.

    Then rule against_transactions finds nothing, whatever rows it looks at.
    """
    neighbours = digests.where(F.col("xids").isNotNull()).groupBy("xids")
    times = neighbours.agg(F.min("first_at").alias("first_at"), F.max("last_at").alias("last_at"))
    so_far = Window.partitionBy(F.lit(0)).orderBy("xids").rowsBetween(Window.unboundedPreceding, 0)
    late = F.max("last_at").over(so_far) > F.col("first_at") + F.expr(LONGEST_TRANSACTION)
    return times.select(late.alias("late")).where("late").isEmpty()


def _all(conditions: Iterable[Column]) -> Column:
    whole = F.lit(True)
    for condition in conditions:
        whole = whole & condition
    return whole
