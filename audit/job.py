"""The audit as one job: read everything in one snapshot, keep it as Parquet, prove it, and sum up."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

from pyspark.sql import SparkSession

from . import class_data
from .errors import AuditError, spark_errors
from .evidence import digest
from .folders import check_reachable, folder_for, read_back
from .highlights import highlights
from .kept import keep_views
from .origin import read_origin
from .pace import paced
from .page import environment, write_page
from .proof import prove
from .reports import make_reports
from .reports.kept import BUCKETS_MAX
from .reports.shown import shown
from .result import AuditResult
from .session import for_few_rows, is_local, spark_session
from .since import Previous


class AuditOptions(TypedDict, total=False):
    """Options of ``run_audit``, for callers that pass them on."""

    output: Path | None
    master: str
    partitions: int
    jdbc_jar: Path | str | None
    spark: SparkSession | None
    page: Path | None
    bucket_seconds: int | None
    archive: Path | None
    rows: bool
    on_stage: Callable[[str], None]


def run_audit(
    dsn: str,
    *,
    output: Path | None = None,
    master: str = "local[*]",
    partitions: int = 4,
    jdbc_jar: Path | str | None = None,
    spark: SparkSession | None = None,
    page: Path | None = None,
    bucket_seconds: int | None = None,
    archive: Path | None = None,
    rows: bool = False,
    previous: Previous | None = None,
    notes: tuple[str, ...] = (),
    on_stage: Callable[[str], None] = lambda stage: None,
) -> AuditResult:
    """Audit the database at ``dsn`` (libpq's form, over TCP, a primary).

    output: a folder, absent or empty, for Parquet and for index.html. It gets destinations, messages, journal
    (unfolded), incidents, acts, locks, cursors, identity, hours, rules, workers, digests, reports. None keeps nothing.
    page: another place for the page. Without either there are no reports.
    bucket_seconds: what reports count in; None: as the record's length asks for.
    partitions: connections that read at once, and partitions of a shuffle. Where there are few rows, one reads.
    spark: a session of the caller's, left running. It needs the JDBC driver; master and jdbc_jar are not used.
    archive: the folder of the database's archive. Journal and incidents are then those it has and the live ones beyond.
    rows: prove by row what digests of the journal would prove too (ranges.read_ranges), as is done with an archive.
    previous: an audit to count on from (rule since_last_audit).
    notes: what the result says beside its findings.
    on_stage: is told what begins, in words for people.

    Findings are in the result. Raises AuditError if there could be no audit.
    """
    if partitions < 1:
        raise AuditError(f"partitions must be 1 or more, not {partitions}")
    started = time.monotonic()
    pages = [path for path in (output and output / "index.html", page) if path is not None]
    if pages:
        environment()
    if page is not None and not page.parent.is_dir():
        raise AuditError(f"there is no folder {page.parent} for the page")
    with folder_for(output) as folder, spark_errors(), ExitStack() as stack:
        origin = read_origin(dsn) if pages else None
        on_stage("starting Spark")
        session = spark or stack.enter_context(spark_session(master, partitions, jdbc_jar, keep_classes=True))
        check_reachable(session, output)
        pace = stack.enter_context(paced(dsn, local=is_local(session)))
        digests, whole = not (rows or archive), bool(pages)

        on_stage("reading the snapshot")
        taken = keep_views(session, dsn, folder, partitions, archive, previous, pace, digests=digests, whole=whole)
        read_seconds = _since(started)

        on_stage("following every message")
        followed = taken.followed(whole=whole)
        with for_few_rows(session, taken.looked_at) as few:
            queues, periods, rules = prove(followed, taken.rows, taken.totals, taken.storage, previous, pace, few=few)
        result = AuditResult(
            queues=queues,
            rules=rules,
            rows=taken.rows,
            taken_at=taken.at,
            locked=taken.locked,
            seconds=_since(started),
            read_seconds=read_seconds,
            output=output,
            hours=periods,
            snapshot=taken.snapshot,
            origin=origin,
            notes=notes,
            coverage=taken.ranges.coverage if taken.ranges else (),
            spans=taken.ranges.spans if taken.ranges else (),
        )
        if not pages:
            class_data.audited()
            return result

        on_stage("making the reports")
        accounts = read_back(session, folder / "identity")
        # A report may have a row for each bucket of each queue, though the queue has no messages.
        with for_few_rows(session, sum(taken.rows.values()) + BUCKETS_MAX * taken.rows["destinations"]):
            reports = shown(make_reports(taken.views, accounts, taken.at, folder / "reports", bucket_seconds))

        on_stage("writing the page")
        evidence = digest(folder) if output else ""
        told = highlights(reports)
        result = replace(result, evidence=evidence, page=pages[-1], highlights=told, seconds=_since(started))
        write_page(result, reports, pages)
        class_data.audited()
        return result


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)
