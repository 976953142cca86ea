"""An identity between two audits: what was there, plus what came, less what went, is what is there now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from .ledger import LEVEL_GRACE, STATES

COUNT_MAX = 2**63 - 1
"""The largest bigint."""


@dataclass(frozen=True)
class Previous:
    """An earlier audit: its snapshot, as pg_current_snapshot() gives it, its time, and what each queue held then."""

    snapshot: str
    taken_at: str
    closings: Mapping[str, int]

    @classmethod
    def of(cls, run: Mapping[str, Any] | None) -> Previous | None:
        """Make it of a row of list_audits with its queues; None if unusable, as after a restore into another cluster.

        Raises TypeError or ValueError if it cannot be read.
        """
        if run is None or run["snapshot"] is None or run["queues"] in (None, []):
            return None
        if not isinstance(run["queues"], list):
            raise TypeError("its queues are no array")
        if not isinstance(run["taken_at"], datetime):  # psycopg's text of a time that Python has not
            raise TypeError(f"its time is {run['taken_at']}")
        closings: dict[str, int] = {}
        for queue in run["queues"]:
            # A dropped queue and a later one of its name count together, here as below.
            name = _name(queue)
            closings[name] = closings.get(name, 0) + sum(_count(queue, state) for state in STATES)
        if sum(closings.values()) > COUNT_MAX:
            raise ValueError("its queues have more messages than there can be")
        return cls(run["snapshot"], str(run["taken_at"]), closings)

    def came_after(self, xid: Column) -> Column:
        """Whether a transaction was not visible in its snapshot."""
        _, end, still_open = self.snapshot.split(":")
        open_ones = [int(number) for number in still_open.split(",") if number]
        return (xid >= int(end)) | xid.isin(open_ones)


def _name(queue: object) -> str:
    name = queue.get("queue") if isinstance(queue, dict) else None
    if not isinstance(name, str):
        raise TypeError("one of its queues has no name")
    return name


def _count(queue: Mapping[str, Any], state: str) -> int:
    count = queue.get(state)
    if type(count) is not int or count < 0:  # True is an int too
        raise ValueError(f"of queue {queue['queue']} it has no whole number as {state}")
    return count


def unexplained_since(
    previous: Previous | None,
    ledger: DataFrame,
    journal: DataFrame,
    policies: DataFrame,
    totals: DataFrame | None = None,
) -> DataFrame | None:
    """Queues where closing then + in - out since is not closing now: destination_id, message_id (NULL), seen.

    It looks at queues whose journal has been complete since then (journal_level full). Non-persistent messages that a
    restart lost may be missing before the journal tells of it. The journal may also tell of it only after they went.
    So many messages may differ. If another queue has not recorded its moves since then, more may be there: as many as
    the ledger knows to have come unrecorded. The result is None if there is no audit to count on from.

    totals: of what digests prove (digests.totals), which journal and ledger lack.
    """
    if previous is None:
        return None
    then = F.lit(previous.taken_at).cast("timestamp")
    complete = F.col("recorded_from").isNull() | (F.col("recorded_from") <= then)
    sound = (F.col("kind") == "queue") & (F.col("journal_level") == "full") & complete
    gone = F.coalesce(F.col("dropped_at") + F.expr(LEVEL_GRACE) <= then, F.lit(False))
    silent = (~gone & ((F.col("journal_level") == "off") | ~complete)).cast("int")
    names = (
        policies.withColumn("others", F.sum(silent).over(Window.partitionBy(F.lit(0))) - silent)
        .groupBy("queue")
        .agg(
            F.max("destination_id").alias("newest"),
            F.min(F.when(sound, 1).otherwise(0)).alias("sound"),
            F.max("others").alias("others"),
        )
    )
    events = journal.where(previous.came_after(F.col("xid")))
    transferred = F.col("event").isin("moved", "replayed")
    went = events.select(
        F.col("queue"),
        F.when(F.col("event") == "sent", 1).otherwise(0).alias("came"),
        F.when(F.col("event") != "sent", 1).otherwise(0).alias("went"),
        F.when(F.col("event") == "lost", 1).otherwise(0).alias("told"),
    )
    came = events.where(transferred).select(
        F.col("other_queue").alias("queue"), F.lit(1).alias("came"), F.lit(0).alias("went"), F.lit(0).alias("told")
    )
    moves = went.unionByName(came)
    if totals is not None:
        moves = moves.unionByName(_by_digest(totals, policies))
    flows = moves.groupBy("queue").agg(*[F.sum(name).alias(name) for name in ("came", "went", "told")])
    unrecorded = F.when(F.col("verdict") == "unrecorded_entry", -F.col("balance"))
    present = (
        ledger.drop("queue")
        .join(F.broadcast(policies.select("destination_id", "queue")), on="destination_id", how="inner")
        .groupBy("queue")
        .agg(
            F.sum("present").alias("closing"),
            F.sum((F.col("verdict") == "lost").cast("long")).alias("untold"),
            F.sum(unrecorded).alias("unrecorded"),
        )
    )
    opening = ledger.sparkSession.createDataFrame(list(previous.closings.items()), "queue string, opening bigint")
    terms = ("opening", "came", "went", "told", "closing", "untold", "unrecorded")
    sums = [F.coalesce(name, F.lit(0)).alias(name) for name in terms]
    figures = (
        names.where(F.col("sound") == 1)
        .join(opening, on="queue", how="left")
        .join(flows, on="queue", how="left")
        .join(present, on="queue", how="left")
        .select("newest", "others", *sums)
    )
    missing = F.col("opening") + F.col("came") - F.col("went") - F.col("closing")
    said = F.format_string(
        "%d at %s, %d came, %d went, %d there", "opening", F.lit(previous.taken_at), "came", "went", "closing"
    )
    more = F.col("told") + F.when(F.col("others") > 0, F.col("unrecorded")).otherwise(0)
    return figures.where((missing > F.col("untold")) | (-missing > more)).select(
        F.col("newest").alias("destination_id"), F.lit(None).cast("long").alias("message_id"), said.alias("seen")
    )


def _by_digest(totals: DataFrame, policies: DataFrame) -> DataFrame:
    """What came and went in each queue since then, as digests prove it."""
    return totals.join(
        F.broadcast(policies.select("destination_id", "queue")), on="destination_id", how="inner"
    ).select(
        "queue",
        F.col("sent_newer").alias("came"),
        F.col("consumed_newer").alias("went"),
        F.lit(0).cast("long").alias("told"),
    )
