"""The journal read by digest where that proves enough, and by row elsewhere.

``read_ranges`` asks for digests, has them judged (``digests``), and chooses which rows are read. These are the rows of
ranges that digests do not prove, and of a random sample. Where too many ranges would have to be named, the whole queue
is read.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from .digests import WORD, clocks_agree, judge, read_digests, totals, word_of
from .folders import Storage
from .ledger import DESTINATIONS, queue_policies
from .pace import REST, Pace
from .snapshot import Snapshot

SAMPLE = 16
"""How many ranges are read by row although their digests prove them."""

NAMED_MAX = 5_000
"""How many ranges are asked for by number. If there are more, whole queues are read."""

RUNS_MAX = 16
"""The most pieces of the journal that are read for them, a connection each."""

SPANS_MAX = 1_000
"""The most spans in a result. The Parquet has every range."""

BY_ROW_MAX = 10_000
"""So many rows at most, of all views, are read sooner than digests of them would be judged."""

MOST = 0.5
"""If more of the journal than this is to be read by row, all of it is."""


@dataclass(frozen=True)
class Span:
    """Ranges of message numbers of one queue that follow each other, all proved by digest or all by row.

    first, last: the first and the last number. ranges: of 64 numbers each. messages: those on record, as far as the
    digests tell. why: why they were read by row (digests.BY_ROW); empty: they were not.
    """

    queue: str | None
    first: int | None
    last: int | None
    ranges: int
    messages: int
    why: tuple[str, ...] = ()


@dataclass(frozen=True)
class Coverage:
    """How many ranges of a queue, and rows of the journal about them, were proved by digest and by row.

    sampled: those of by_row that their digests prove too.
    """

    queue: str | None
    by_digest: int
    rows_by_digest: int
    by_row: int
    rows_by_row: int
    sampled: int


@dataclass(frozen=True)
class Ranges:
    """What was proved by digest and what is to be proved by row.

    digests: how many were read. totals: what is proved (digests.totals); None: nothing is, and all rows are needed.
    by_row: a column word, of the rest. predicates: conditions on the view audit_journal that give its rows, one for
    each connection; None: all rows.
    """

    digests: int
    totals: DataFrame | None
    by_row: DataFrame
    predicates: list[str] | None
    coverage: tuple[Coverage, ...]
    spans: tuple[Span, ...]

    def of(self, journal: DataFrame) -> DataFrame:
        """The rows of a whole journal that are to be looked at."""
        if self.totals is None:
            return journal
        wanted = F.broadcast(self.by_row.select(F.col("word").alias("wanted")))
        return journal.join(wanted, word_of().eqNullSafe(F.col("wanted")), "left_semi")


def worth_asking(snapshot: Snapshot) -> bool:
    """Whether the role may ask for digests, and not all rows are read sooner than that."""
    return snapshot.digests and snapshot.rows > BY_ROW_MAX


def read_ranges(
    spark: SparkSession,
    snapshot: Snapshot,
    kept: dict[str, DataFrame],
    storage: Storage,
    partitions: int,
    since: str | None,
    pace: Pace,
) -> Ranges:
    """Read the digests of the journal and choose what is to be proved by row.

    kept: the other views, as they were read. since: the snapshot of the audit before.
    pace: while others are at work, one connection asks for digests, and rests.
    """
    busy = pace.is_busy()
    read = read_digests(spark, snapshot, 1 if busy else partitions, since, REST if busy else 0)
    digests = storage.keep("digests/parts", read.rows)
    count = read.check()
    pace.rest()
    policies = queue_policies(kept["audit_destinations"])
    judged = judge(digests, policies, _touched(kept)).persist()
    why = _chosen(judged) if clocks_agree(digests) else F.coalesce("why", F.lit("clocks"))
    words = storage.keep("digests/ranges", judged.withColumn("why", why))
    judged.unpersist()
    pace.rest()
    predicates = _predicates(snapshot, digests, words, 1 if storage.few else RUNS_MAX)
    proved = words.where(F.col("why").isNull())
    return Ranges(
        digests=count,
        totals=None if predicates is None else storage.keep("digests/totals", totals(digests, proved)),
        by_row=words.where(F.col("why").isNotNull()).select("word"),
        predicates=predicates,
        coverage=_coverage(words, policies),
        spans=_spans(words, policies),
    )


def _touched(kept: dict[str, DataFrame]) -> DataFrame:
    """Words of messages that are there, failed, or were dealt with by operators."""
    messages, incidents, acts = (
        kept[name].select(word_of().alias("word")) for name in ("audit_messages", "audit_incidents", "audit_acts")
    )
    return messages.union(incidents).union(acts).distinct()


def _chosen(judged: DataFrame) -> Column:
    """Why each word is read by row in the end: see ``digests.judge``, and ``whole``, ``most`` and ``sample``."""
    by_row = F.col("why").isNotNull()
    queues = (
        judged.groupBy("destination_id")
        .agg(
            F.count(F.when(by_row, 1)).alias("named"),
            F.coalesce(F.sum(F.when(by_row, F.col("rows"))), F.lit(0)).alias("rows_by_row"),
            F.sum("rows").alias("rows"),
        )
        .orderBy(F.desc("named"))
        .collect()
    )
    named, whole = sum(queue["named"] for queue in queues), set()
    for queue in queues:
        if named > NAMED_MAX:
            whole.add(queue["destination_id"])
            named -= queue["named"]
    rows = sum(queue["rows" if queue["destination_id"] in whole else "rows_by_row"] for queue in queues)
    if None in whole or rows > MOST * sum(queue["rows"] for queue in queues):
        return F.coalesce("why", F.lit("most"))
    proved = ~by_row & ~F.col("destination_id").isin(*whole)
    sample = [row["word"] for row in judged.where(proved).orderBy(F.rand()).limit(SAMPLE).select("word").collect()]
    return F.coalesce(
        "why",
        F.when(F.col("destination_id").isin(*whole), "whole"),
        F.when(F.col("word").isin(*sample), "sample"),
    )


def _predicates(snapshot: Snapshot, digests: DataFrame, words: DataFrame, most: int) -> list[str] | None:
    """Conditions on the view audit_journal for the rows to read, one a connection, about ``most``. None: all rows."""
    by_row = words.where(F.col("why").isNotNull())
    queues = (
        words.groupBy("destination_id")
        .agg(F.count("why").alias("by_row"), (F.count(F.lit(1)) == F.count("why")).alias("whole"))
        .collect()
    )
    if all(queue["whole"] for queue in queues):
        return None
    whole = [queue["destination_id"] for queue in queues if queue["whole"] and queue["destination_id"] is not None]
    named = by_row.where(~F.coalesce(F.col("destination_id").isin(*whole), F.lit(False)))
    numbers = [row["word"] for row in named.select("word").collect()]
    condition = (
        f"(word = any ('{{{','.join(str(number) for number in numbers if number is not None)}}}'::bigint[])"
        f" or message_id % {DESTINATIONS} = any ('{{{','.join(map(str, whole))}}}'::bigint[])"
        f"{' or word is null' if None in numbers else ''})"
    )
    places = (
        digests.where(F.col("xids").isNull())
        .join(by_row.select(F.col("word").alias("read")), F.col("word").eqNullSafe(F.col("read")), "left_semi")
        .select("place", (F.col("place") + F.col("length")).alias("end"))
        .distinct()
        .collect()
    )
    longest = max(snapshot.blocks["audit_journal"], default=0)
    return [
        f"place >= '({begin},0)' and place < '({end},0)' and {condition}"
        for begin, end in runs([(place["place"], place["end"]) for place in places], longest, most)
    ]


def runs(places: list[tuple[int, int]], longest: int, most: int) -> list[tuple[int, int]]:
    """Join pieces that touch, then those with the smallest gaps until there are ``most``; none is too long to share."""
    joined: list[list[int]] = []
    for begin, end in sorted(places):
        if joined and begin <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([begin, end])
    while len(joined) > most:
        at = min(range(1, len(joined)), key=lambda place: joined[place][0] - joined[place - 1][1])
        joined[at - 1 : at + 1] = [[joined[at - 1][0], joined[at][1]]]
    share = max(-(-longest // most), 1)
    return [(at, min(at + share, end)) for begin, end in joined for at in range(begin, end, share)]


def _coverage(words: DataFrame, policies: DataFrame) -> tuple[Coverage, ...]:
    proved, sampled = F.col("why").isNull(), F.col("why") == "sample"
    counted = words.groupBy("destination_id").agg(
        F.count(F.when(proved, 1)).alias("by_digest"),
        F.coalesce(F.sum(F.when(proved, F.col("rows"))), F.lit(0)).alias("rows_by_digest"),
        F.count(F.when(~proved, 1)).alias("by_row"),
        F.coalesce(F.sum(F.when(~proved, F.col("rows"))), F.lit(0)).alias("rows_by_row"),
        F.count(F.when(sampled, 1)).alias("sampled"),
    )
    rows = _named(counted, policies).drop("destination_id").orderBy("queue").collect()
    return tuple(Coverage(**row.asDict()) for row in rows)


def _spans(words: DataFrame, policies: DataFrame) -> tuple[Span, ...]:
    """At most SPANS_MAX of the spans: first those read by row, with the sample last among them."""
    in_order = Window.partitionBy("destination_id").orderBy("place")
    number = F.col("word") - F.col("word") % DESTINATIONS
    found = (
        words.withColumn("place", number / DESTINATIONS)
        .withColumn("other", ~F.col("why").isNull().eqNullSafe(F.lag(F.col("why").isNull()).over(in_order)))
        .withColumn("span", F.sum(F.col("other").cast("int")).over(in_order))
        .groupBy("destination_id", "span")
        .agg(
            (F.min(number) * WORD + F.min("destination_id")).alias("first"),
            (F.max(number) * WORD + F.min("destination_id") + (WORD - 1) * DESTINATIONS).alias("last"),
            F.count(F.lit(1)).alias("ranges"),
            F.sum("messages").alias("messages"),
            F.sort_array(F.collect_set("why")).alias("why"),
        )
    )
    plain = (F.size("why") == 0).cast("int") * 2 + F.col("why").eqNullSafe(F.array(F.lit("sample"))).cast("int")
    rows = _named(found, policies).orderBy(plain, "queue", "first").limit(SPANS_MAX).collect()
    return tuple(
        Span(row["queue"], row["first"], row["last"], row["ranges"], row["messages"], tuple(row["why"])) for row in rows
    )


def _named(frame: DataFrame, policies: DataFrame) -> DataFrame:
    return frame.join(F.broadcast(policies.select("destination_id", "queue")), on="destination_id", how="left")
