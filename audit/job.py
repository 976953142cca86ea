"""The audit as one job: read everything in one snapshot, keep it as Parquet, prove it, and sum up."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from .checks import RULES, Evidence, find_all, summarise
from .errors import AuditError
from .identity import IDENTITY_COLUMNS, identity
from .ledger import count_rows, judge_rows, occurrences, queue_policies
from .read import COLUMNS, read_view
from .result import AuditResult, Queue, RuleResult
from .session import spark_session
from .snapshot import exported

FOLDERS = {
    "audit_destinations": "destinations",
    "audit_messages": "messages",
    "audit_journal": "journal",
    "audit_incidents": "incidents",
}
"""Where each view lies under the output folder; identity and rules lie beside them."""


def run_audit(
    dsn: str,
    *,
    output: Path | None = None,
    master: str = "local[*]",
    partitions: int = 4,
    jdbc_jar: Path | str | None = None,
    spark: SparkSession | None = None,
) -> AuditResult:
    """Audit the database at ``dsn`` (libpq's form, over TCP, a primary).

    output: a folder, absent or empty, for Parquet: destinations, messages, journal (unfolded), incidents, identity,
    rules. None keeps nothing. partitions: connections that read at once, and partitions of a shuffle.
    spark: a session of the caller's, left running; it needs the JDBC driver, and master, jdbc_jar are not used.
    Findings are in the result. Raises AuditError if there could be no audit.
    """
    if partitions < 1:
        raise AuditError(f"partitions must be 1 or more, not {partitions}")
    started = time.monotonic()
    with ExitStack() as stack:
        folder = stack.enter_context(_folder(output))
        try:
            session = spark or stack.enter_context(spark_session(master, partitions, jdbc_jar))
            taken = _keep_views(session, dsn, folder, partitions)
            queues, rules = _prove(taken.views, folder)
        except (PySparkException, Py4JError) as error:
            raise AuditError(f"Spark failed: {_reason(error)}") from error
    return AuditResult(
        queues=queues,
        rules=rules,
        rows=taken.rows,
        taken_at=taken.at,
        locked=taken.locked,
        seconds=round(time.monotonic() - started, 3),
        output=output,
    )


@dataclass(frozen=True)
class _Taken:
    """What was kept of a snapshot: when it was taken, whether tables were locked, rows and DataFrame of each view."""

    at: str
    locked: bool
    rows: dict[str, int]
    views: dict[str, DataFrame]


def _keep_views(spark: SparkSession, dsn: str, folder: Path, partitions: int) -> _Taken:
    """Write every view to Parquet out of one snapshot, which is held no longer than that takes."""
    rows, kept = {}, {}
    with exported(dsn) as snapshot:
        for name in COLUMNS:
            view = read_view(spark, snapshot, name, partitions)
            path = str(folder / FOLDERS[name])
            view.rows.write.parquet(path)
            rows[FOLDERS[name]] = view.check()
            kept[name] = spark.read.schema(view.rows.schema).parquet(path)
    return _Taken(snapshot.taken_at, snapshot.locked, rows, kept)


def _prove(kept: dict[str, DataFrame], folder: Path) -> tuple[tuple[Queue, ...], tuple[RuleResult, ...]]:
    """Check what was kept; write and return the identity of each queue and the outcome of each rule."""
    policies = queue_policies(kept["audit_destinations"])
    occurred = occurrences(kept["audit_journal"], kept["audit_messages"])
    ledger = judge_rows(count_rows(occurred), policies).persist()
    evidence = Evidence(ledger, policies, kept["audit_messages"], kept["audit_incidents"])
    findings = find_all(evidence).persist()
    try:
        accounts = _written(identity(ledger, policies, findings), folder / "identity")
        broken = _written(summarise(findings, policies), folder / "rules")
    finally:
        findings.unpersist()
        ledger.unpersist()
    queues = tuple(Queue(**{name: row[name] for name in IDENTITY_COLUMNS}) for row in accounts)
    return queues, tuple(RuleResult.of(rule, broken) for rule in RULES)


def _written(frame: DataFrame, folder: Path) -> list[dict[str, Any]]:
    """The rows of a small frame, written as one file too."""
    rows = frame.collect()
    frame.sparkSession.createDataFrame(rows, frame.schema).coalesce(1).write.parquet(str(folder))
    return [row.asDict() for row in rows]


@contextmanager
def _folder(output: Path | None) -> Iterator[Path]:
    """The output folder, made where it is missing, or a scratch folder for the block."""
    if output is None:
        scratch = Path(tempfile.mkdtemp(prefix="howdah-audit-"))
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch)
        return
    try:
        output.mkdir(parents=True, exist_ok=True)
        taken = any(output.iterdir())
    except OSError as error:
        raise AuditError(f"cannot write to {output}: {error.strerror}") from error
    if taken:
        raise AuditError(f"{output} is not empty: an audit does not write over another one's evidence")
    yield output.resolve()


def _reason(error: Exception) -> str:
    """The first line of the innermost cause that a Spark error tells."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return (causes or lines or [type(error).__name__])[-1 if causes else 0]
