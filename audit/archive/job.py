"""A run of the archive: what is new goes into the folder, is read back, and only then counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from ...engine.admin.archives import Archives
from ...engine.calls.archives import ArchiveRun
from ..errors import AuditError, spark_errors
from ..session import spark_session
from .folder import ArchiveFolder
from .lease import Lease, archives, leased
from .parts import PARTS, Figures, Part, figures, is_bulky, setting
from .source import Source, open_source

STAGES = ("locked", "named", "opened", "read", "written", "verified", "sealed", "published", "finished", "marked")
"""What is done when ``on_stage`` is called with the name; a death there leaves what the next run cleans up."""

ROWS_PER_FILE = 2_000_000
BODY_BYTES = 16 << 20
"""Bytes of a file's row group for messages with their bodies. They are in memory while it is written."""
SMALL = 50_000
"""How many rows of a part one task may write. It needs no shuffle for few files."""


@dataclass(frozen=True)
class RunResult:
    """A finished run: what it wrote, and where. seconds: wall time, Spark's start included."""

    archive_id: UUID
    run: int
    path: Path
    journal: int
    incidents: int
    messages: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """In types that JSON knows."""
        return asdict(self) | {"archive_id": str(self.archive_id), "path": str(self.path)}


def run_archive(
    dsn: str,
    path: Path,
    *,
    anew: bool = False,
    master: str = "local[*]",
    partitions: int = 4,
    jdbc_jar: Path | str | None = None,
    spark: SparkSession | None = None,
    on_stage: Callable[[str], None] = lambda stage: None,
) -> RunResult:
    """Archive what the last run has not, into the folder ``path``; anew: begin another archive in an empty folder.

    If nothing is new there is no new run: the result is the last one's number, with no rows.

    The role needs howdah_admin. A folder that Spark's executors and this process both reach. Raises AuditError if
    nothing could be archived, with the reason; then the archive is as it was.
    """
    started = time.monotonic()
    folder = ArchiveFolder(path.expanduser().resolve())
    with ExitStack() as stack:
        known = stack.enter_context(archives(dsn))
        lease = stack.enter_context(leased(dsn))
        on_stage("locked")
        archive, before = _prepare(folder, known, lease, anew, on_stage)
        on_stage("prepared")
        session = spark or stack.enter_context(spark_session(master, partitions, jdbc_jar))
        number = before[-1].run + 1 if before else 1
        staging = folder.staging(number, lease.epoch)
        with spark_errors():
            with open_source(dsn, before[-1].snapshot if before else None) as source:
                began = source.value("select howdah.now()::text")
                on_stage("opened")
                written, schemas = _write(session, source, staging, partitions, on_stage)
                if before and not any(part.rows for part in written.values()):
                    nothing = {part.name: 0 for part in PARTS}
                    return RunResult(archive, before[-1].run, folder.path, **nothing, seconds=_since(started))
                messages = source.messages()
                kept_from = source.value("select min(journal_kept_from)::text from howdah.audit_destinations")
            on_stage("written")
            _verify(session, staging, schemas, written)
        on_stage("verified")
        facts = {name: asdict(found) for name, found in written.items()}
        manifest = folder.seal(
            staging,
            {
                "archive_id": str(archive),
                "run": number,
                "snapshot": source.text,
                "since": source.since,
                "parts": {name: facts[name] | {"schema": schemas[name].jsonValue()} for name in facts},
            },
        )
        on_stage("sealed")
        lease.check()
        folder.publish(staging, number)
        on_stage("published")
        more = {
            "journal_kept_from": kept_from,
            "manifest": manifest,
            "path": str(folder.path),
            "started_at": began,
        }
        known.finish(lease.epoch, archive, number, source.text, facts | more, messages)
        on_stage("finished")
        folder.mark(number, manifest)
        on_stage("marked")
    counts = {name: found.rows for name, found in written.items()}
    return RunResult(archive, number, folder.path, **counts, seconds=_since(started))


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)


def _prepare(
    folder: ArchiveFolder, known: Archives, lease: Lease, anew: bool, on_stage: Callable[[str], None]
) -> tuple[UUID, list[ArchiveRun]]:
    """Make the folder ready: its archive and that one's finished runs."""
    identity = known.identity()
    if folder.is_new():
        archive = known.begin(lease.epoch, anew=anew)
        on_stage("named")
        folder.claim(identity, archive)
        return archive, []
    if anew:
        raise AuditError(f"{folder.path} holds an archive: another one begins in an empty folder")
    finished = folder.finished(identity, known.runs())
    archive = folder.archive_id()
    if archive != identity.archive_id:
        raise AuditError(f"{folder.path} is an earlier archive of this database, which has begun another since")
    if any(not run.same_cluster for run in finished):
        raise AuditError(
            "the database was restored into another cluster since the last run:"
            " begin another archive in an empty folder (--new), and keep the old one"
        )
    folder.clean(finished)
    return archive, finished


def _write(
    spark: SparkSession, source: Source, staging: Path, partitions: int, on_stage: Callable[[str], None]
) -> tuple[dict[str, Figures], dict[str, StructType]]:
    """Write what is new of every part into staging. Returns its figures by the database, and its columns."""
    source.check_numbers()
    staging.mkdir(parents=True)
    found, schemas = {}, {}
    for part in PARTS:
        schemas[part.name] = source.schema(spark, part)
        found[part.name] = source.figures(part, schemas[part.name])
    on_stage("read")
    for part in PARTS:
        if not found[part.name].rows:
            continue  # and no folder: without rows, Spark would not even report a read
        large = found[part.name].rows > SMALL
        view = source.read(spark, part, partitions if large else 1)
        _write_parquet(view.rows, staging / part.name, large=large)
        if (rows := view.check()) != found[part.name].rows:
            raise AuditError(f"{rows} rows of {part.view} were read, and {found[part.name].rows} are there")
    return found, schemas


def _write_parquet(rows: DataFrame, path: Path, *, large: bool) -> None:
    """Folders by date and queue, each with as few files as its size asks for."""
    spark = rows.sparkSession
    if large:
        rows = spark.sql("select /*+ REBALANCE(date, queue) */ * from {rows}", rows=rows)
    options: dict[str, int | str] = {"maxRecordsPerFile": ROWS_PER_FILE, "compression": "zstd"}
    with ExitStack() as settings:
        settings.enter_context(setting(spark, "spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS"))
        if is_bulky(rows.schema):
            # A few folders at once instead of a sort, which would hold the bodies in memory, and so would Parquet,
            # which by default looks at how much it holds after 100 rows.
            settings.enter_context(setting(spark, "spark.sql.maxConcurrentOutputFileWriters", "8"))
            options |= {f"parquet.page.size.row.check.{bound}": 1 for bound in ("min", "max")}
            options |= {"parquet.block.size": BODY_BYTES, "parquet.enable.dictionary#body": "false"}
        rows.write.partitionBy("date", "queue").options(**options).parquet(str(path))


def _verify(spark: SparkSession, staging: Path, schemas: dict[str, StructType], expected: dict[str, Figures]) -> None:
    """Read what was written, and compare it with what the database counted."""
    parts = {
        part.name: (read_part(spark, [staging], part, schemas[part.name]), schemas[part.name])
        for part in PARTS
        if expected[part.name].rows
    }
    for name, found in figures(spark, parts).items():
        if found != expected[name]:
            raise AuditError(
                f"what was written of {name} reads back as {found.rows} rows with checksum {found.checksum},"
                f" the database has {expected[name].rows} with {expected[name].checksum}: nothing was archived"
            )


def read_part(spark: SparkSession, runs: Sequence[Path], part: Part, schema: StructType) -> DataFrame:
    """A part of runs of one schema, without the columns that are folders."""
    paths = [str(run / part.name) for run in runs if (run / part.name).exists()]
    if not paths:
        return spark.createDataFrame([], schema)
    # Not by folders: Spark would guess a queue's type from its name.
    return spark.read.schema(schema).option("recursiveFileLookup", True).parquet(*paths)
