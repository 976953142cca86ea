"""What reports are made from, and the time buckets they count in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

STEPS = (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10800, 21600, 86400, 604800)
"""Seconds that a bucket may last, if nobody says otherwise."""

BUCKETS_MAX = 120
"""The most buckets that are chosen. Nobody could read or draw more."""

BUCKETS_LIMIT = 10_000
"""The most buckets that may be asked for."""

ROWS_MAX = 500_000
"""The most rows of a report, one a queue and bucket. The driver's Python holds them all, at about 100 bytes each."""


@dataclass(frozen=True)
class Kept:
    """The views as an audit kept them, its identity frame, and the span of the reports.

    first: when the journal begins. taken_at: when the snapshot was taken. seconds: the length of a bucket.
    """

    destinations: DataFrame
    messages: DataFrame
    journal: DataFrame
    incidents: DataFrame
    workers: DataFrame
    identity: DataFrame
    first: datetime
    taken_at: datetime
    seconds: int

    @property
    def span_seconds(self) -> float:
        """How long the journal's record is."""
        return (self.taken_at - self.first).total_seconds()


def bucket_seconds(span_seconds: float, queues: int = 1) -> int:
    """Return the shortest step that cuts the span into at most BUCKETS_MAX buckets, or some weeks if none does.

    With many queues, ROWS_MAX lowers that limit.
    """
    fitting = max(1, min(BUCKETS_MAX, ROWS_MAX // max(1, queues)))
    chosen = next((step for step in STEPS if span_seconds / step <= fitting), STEPS[-1])
    too_many = span_seconds / chosen > ROWS_MAX / max(1, queues)
    return chosen * math.ceil(span_seconds / chosen / fitting) if too_many else chosen


def bucket(at: Column, seconds: int) -> Column:
    """The beginning of the bucket that a time falls into; buckets begin at whole multiples since 1970."""
    return F.timestamp_seconds(F.floor(F.unix_seconds(at) / seconds) * seconds)


def at_time(moment: datetime) -> Column:
    """A moment as a column, to the microsecond and independent of time zones."""
    return F.timestamp_micros(F.lit(round(moment.timestamp() * 1_000_000)))


def with_names(frame: DataFrame, destinations: DataFrame) -> DataFrame:
    """Return the frame with its destination's name as ``queue``. Dropped ones, which may share a name, are marked."""
    name = F.when(F.col("dropped_at").isNull(), F.col("queue")).otherwise(F.concat("queue", F.lit(" (dropped)")))
    names = destinations.select("destination_id", name.alias("queue"))
    return frame.join(F.broadcast(names), on="destination_id", how="inner")


def after_all(kept: Kept) -> Column:
    """The bucket after the snapshot's, for what is still there."""
    return bucket(at_time(kept.taken_at), kept.seconds) + F.make_dt_interval(secs=F.lit(kept.seconds))
