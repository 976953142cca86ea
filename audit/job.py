"""The audit as one job: read everything in one snapshot, keep it as Parquet, prove it, and sum up."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from .archive.history import open_history
from .checks import RULES, find_all, summarise
from .errors import AuditError, reason
from .evidence import digest
from .folders import at_hand, check_reachable, folder_for, hours_at_hand, read_back, written
from .highlights import highlights
from .hours import HOUR_COLUMNS, hours, told
from .identity import IDENTITY_COLUMNS, identity
from .ledger import count_rows, judge_rows, occurrences, queue_policies
from .origin import read_origin
from .pace import Pace, paced
from .page import environment, write_page
from .ranges import Ranges, read_ranges, through
from .read import COLUMNS, read_view
from .reports import make_reports
from .reports.shown import shown
from .result import AuditResult, Hour, Queue, RuleResult
from .rules.rule import Evidence, facts_of
from .session import for_few_rows, spark_session
from .since import Previous
from .snapshot import exported

FOLDERS = {
    "audit_destinations": "destinations",
    "audit_messages": "messages",
    "audit_journal": "journal",
    "audit_incidents": "incidents",
    "audit_acts": "acts",
    "audit_locks": "locks",
    "audit_cursors": "cursors",
    "audit_workers": "workers",
}
"""Where each view lies under the output folder; identity, hours and rules lie beside them."""


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
    partitions: connections that read at once, and partitions of a shuffle.
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
    with ExitStack() as stack:
        if pages:
            environment()
        if page is not None and not page.parent.is_dir():
            raise AuditError(f"there is no folder {page.parent} for the page")
        folder = stack.enter_context(folder_for(output))
        origin = read_origin(dsn) if pages else None
        try:
            on_stage("starting Spark")
            session = spark or stack.enter_context(spark_session(master, partitions, jdbc_jar))
            check_reachable(session, output)
            on_stage("reading the snapshot")
            asked = _Asked(partitions, archive, digests=not (rows or archive), whole=bool(pages))
            local = (session.sparkContext.master or "").startswith("local")
            pace = stack.enter_context(paced(dsn, local=local))
            taken = _keep_views(session, dsn, folder, asked, previous, pace)
            read_seconds = round(time.monotonic() - started, 3)
            on_stage("following every message")
            with for_few_rows(session, taken.looked_at):
                queues, periods, rules = _prove(taken.views, folder, previous, taken.ranges, pace, whole=asked.whole)
            result = AuditResult(
                queues=queues,
                rules=rules,
                rows=taken.rows,
                taken_at=taken.at,
                locked=taken.locked,
                seconds=round(time.monotonic() - started, 3),
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
                return result
            on_stage("making the reports")
            reports = shown(
                make_reports(
                    taken.views, read_back(session, folder / "identity"), taken.at, folder / "reports", bucket_seconds
                )
            )
        except (PySparkException, Py4JError) as error:
            raise AuditError(f"Spark failed: {reason(error)}") from error
        on_stage("writing the page")
        result = replace(
            result,
            evidence=digest(folder) if output else "",
            page=pages[-1],
            highlights=highlights(reports),
            seconds=round(time.monotonic() - started, 3),
        )
        write_page(result, reports, pages)
    return result


@dataclass(frozen=True)
class _Taken:
    """The kept part of a snapshot: its time, whether tables were locked, rows and DataFrame of each view.

    ranges: what of the journal was proved by digest; None: every row was read.
    """

    at: str
    snapshot: str
    locked: bool
    rows: dict[str, int]
    views: dict[str, DataFrame]
    ranges: Ranges | None

    @property
    def looked_at(self) -> int:
        """The rows that rules look at."""
        journal = sum(line.rows_by_row for line in self.ranges.coverage) if self.ranges else self.rows["journal"]
        return journal + sum(self.rows[name] for name in FOLDERS.values() if name != "journal")


@dataclass(frozen=True)
class _Asked:
    """How the database is read. digests: prove by them. whole: read the whole journal nevertheless, for reports."""

    partitions: int
    archive: Path | None
    digests: bool
    whole: bool


def _keep_views(
    spark: SparkSession, dsn: str, folder: Path, asked: _Asked, previous: Previous | None, pace: Pace
) -> _Taken:
    """Write every view from one snapshot to Parquet, and hold the snapshot no longer than that takes."""
    rows: dict[str, int] = {}
    kept: dict[str, DataFrame] = {}
    ranges = None
    with exported(dsn) as snapshot:
        history = open_history(spark, dsn, snapshot, asked.archive) if asked.archive else None
        # The journal comes last: what is read of it depends on the others.
        for name in sorted(COLUMNS, key="audit_journal".__eq__):
            live, predicates = history.live(name, asked.partitions) if history else None, None
            if name == "audit_journal" and asked.digests and snapshot.digests:
                since = previous.snapshot if previous else None
                ranges = read_ranges(spark, snapshot, kept, folder, asked.partitions, since, pace)
                rows["digests"] = ranges.digests
                predicates = None if asked.whole else ranges.predicates
            view = live or read_view(spark, snapshot, name, asked.partitions, predicates)
            path = str(folder / FOLDERS[name])
            view.rows.write.parquet(path)
            rows[FOLDERS[name]] = view.check()
            kept[name] = spark.read.schema(view.rows.schema).parquet(path)
            pace.rest()
    if history:
        history.check_contents()
        for name in COLUMNS:
            kept[name], archived = history.whole(name, kept[name])
            rows[FOLDERS[name]] += archived
    return _Taken(snapshot.taken_at, snapshot.text, snapshot.locked, rows, kept, ranges)


def _prove(
    kept: dict[str, DataFrame],
    folder: Path,
    previous: Previous | None,
    ranges: Ranges | None,
    pace: Pace,
    *,
    whole: bool,
) -> tuple[tuple[Queue, ...], tuple[Hour, ...], tuple[RuleResult, ...]]:
    """Check what was kept. Writes and returns each queue's identity and hours and each rule's outcome.

    whole: the journal has what digests prove, too.
    """
    policies = at_hand(queue_policies(kept["audit_destinations"]))
    totals = ranges.totals if ranges else None
    if ranges and ranges.totals is not None and whole:
        kept = kept | {"audit_journal": through(ranges.of(kept["audit_journal"]), folder / "digests" / "by_row")}
    occurred = occurrences(kept["audit_journal"], kept["audit_messages"])
    ledger = judge_rows(count_rows(occurred), policies).persist()
    by_hour = hours_at_hand(hours(kept["audit_journal"], ledger, policies, totals), folder / "hours")
    pace.rest()
    evidence = Evidence(
        facts=facts_of(policies, kept["audit_journal"], kept["audit_incidents"]),
        ledger=ledger,
        policies=policies,
        hours=by_hour,
        messages=kept["audit_messages"],
        journal=kept["audit_journal"],
        incidents=kept["audit_incidents"],
        # Messages sent by hand are delivered like others; the other acts excuse what operators did to a message.
        acts=kept["audit_acts"].where("act <> 'sent'"),
        locks=kept["audit_locks"],
        cursors=at_hand(kept["audit_cursors"]),
        previous=previous,
        totals=totals,
    )
    findings = find_all(evidence).persist()
    try:
        accounts = written(identity(ledger, policies, findings, evidence.cursors, totals), folder / "identity")
        pace.rest()
        periods = told(by_hour).collect()
        broken = written(summarise(findings, policies), folder / "rules")
    finally:
        findings.unpersist()
        ledger.unpersist()
    return (
        tuple(Queue(**{name: row[name] for name in IDENTITY_COLUMNS}) for row in accounts),
        tuple(Hour(**{name: row[name] for name in HOUR_COLUMNS}) for row in periods),
        tuple(RuleResult.of(rule, broken) for rule in RULES),
    )
