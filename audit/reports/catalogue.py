"""All reports of an audit: made in order, written as Parquet, and at hand for the page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pyarrow.parquet import write_table
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..errors import AuditError
from .backlog import backlog, lying
from .dead_messages import dead_messages
from .failures import causes, redelivery
from .forecast import forecast
from .kept import BUCKETS_LIMIT, ROWS_MAX, Kept, bucket_seconds
from .latency import queueing, stays, waits
from .throughput import flows, throughput
from .workers import balance, handling, slow_consumers


@dataclass(frozen=True)
class Made:
    """The reports as Arrow tables by name, and their source. They are small: a row for each queue and bucket."""

    tables: dict[str, Any]
    kept: Kept


def make_reports(
    views: dict[str, DataFrame], identity: DataFrame, taken_at: str, folder: Path, seconds: int | None
) -> Made:
    """Make every report and write it under ``folder``, a folder and file each.

    views: by name, as an audit kept them. taken_at: as PostgreSQL writes it in ISO style, with its zone. seconds: the
    length of a bucket; None: as the span asks for. Raises AuditError if that makes more than BUCKETS_LIMIT buckets or
    ROWS_MAX rows.
    """
    kept = _kept(views, identity, datetime.fromisoformat(taken_at), seconds)
    flowed = flows(kept).persist()
    waited = waits(stays(kept), kept).persist()
    lay = lying(flowed, waited, kept).persist()
    try:
        tables = {
            "throughput": throughput(flowed, kept).toArrow(),
            "queueing": queueing(waited, kept).toArrow(),
            "backlog": backlog(lay, kept).toArrow(),
            "redelivery": redelivery(kept).toArrow(),
            "causes": causes(kept).toArrow(),
            "dead_messages": dead_messages(lay, kept).toArrow(),
            "forecast": forecast(kept).toArrow(),
            "handling": handling(kept).toArrow(),
            "balance": balance(kept).toArrow(),
        }
    finally:
        for frame in (lay, waited, flowed):
            frame.unpersist()
    tables["slow_consumers"] = slow_consumers(tables["balance"])
    for name, table in tables.items():
        (folder / name).mkdir(parents=True)
        write_table(table, folder / name / "part-0.parquet")
    return Made(tables, kept)


def _kept(views: dict[str, DataFrame], identity: DataFrame, taken_at: datetime, seconds: int | None) -> Kept:
    span_of = views["audit_journal"].agg(F.min("at").alias("first"), F.max("at").alias("last"))
    (seen,) = span_of.toArrow().to_pylist()
    first = min(seen["first"] or taken_at, taken_at)
    span = (taken_at - first).total_seconds()
    # Topics have rows in reports, and none in the identity.
    topics = views["audit_destinations"].where("kind = 'topic' and dropped_at is null")
    queues = identity.count() + topics.count()
    chosen = seconds or bucket_seconds(span, queues)
    if span / chosen > BUCKETS_LIMIT:
        raise AuditError(f"buckets of {chosen} s cut {span:,.0f} s into more than {BUCKETS_LIMIT:,}: take longer ones")
    if seconds and span / seconds * queues > ROWS_MAX:
        raise AuditError(
            f"buckets of {seconds} s make reports of more than {ROWS_MAX:,} rows for {queues:,} queues: take longer"
            f" ones"
        )
    return Kept(
        destinations=views["audit_destinations"],
        messages=views["audit_messages"],
        journal=views["audit_journal"],
        incidents=views["audit_incidents"],
        workers=views["audit_workers"],
        identity=identity,
        first=first,
        taken_at=max(taken_at, seen["last"] or taken_at),
        seconds=chosen,
    )
