"""Verify finished runs: every file by its hash, every part by its count and checksum."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from ...engine.calls.archives import ArchiveRun
from ..errors import AuditError, reason
from ..session import spark_session
from .folder import ArchiveFolder
from .job import read_part
from .lease import archives
from .parts import PARTS, Figures, figures


@dataclass(frozen=True)
class Finding:
    """What was found of a run. damage: nothing, or what is wrong with it, file by file."""

    run: int
    journal: int
    incidents: int
    messages: int
    files: int
    damage: tuple[str, ...]


def verify_archive(
    dsn: str,
    path: Path,
    *,
    master: str = "local[*]",
    partitions: int = 4,
    jdbc_jar: Path | str | None = None,
    spark: SparkSession | None = None,
    on_stage: Callable[[str], None] = lambda stage: None,
) -> list[Finding]:
    """Verify every finished run of the archive in ``path``, and record the outcome in the database.

    on_stage: is told what begins, in words for people.
    Raises AuditError if the folder is not this database's archive.
    """
    folder = ArchiveFolder(path.expanduser().resolve())
    with ExitStack() as stack:
        known = stack.enter_context(archives(dsn))
        mine = folder.archive_id()
        runs = [run for run in known.runs() if run.archive_id == mine]
        if not runs:
            raise AuditError(f"{folder.path} is not an archive with finished runs of this database")
        on_stage("starting Spark")
        session = spark or stack.enter_context(spark_session(master, partitions, jdbc_jar))
        findings = []
        for run in runs:
            on_stage(f"verifying run {run.run} of {len(runs)}")
            damage = tuple(_damage(session, folder, run))
            known.check(mine, run.run, "; ".join(damage)[:2000] or None)
            files = 0 if damage else len(folder.manifest(run.run)["files"])
            findings.append(Finding(run.run, run.journal_rows, run.incident_rows, run.message_rows, files, damage))
    return findings


def _damage(spark: SparkSession, folder: ArchiveFolder, run: ArchiveRun) -> Iterator[str]:
    """What is wrong with a run. Its contents are read only if every file is what was written."""
    root = folder.run(run.run)
    try:
        folder.check_manifest(run)
    except AuditError as error:
        yield str(error)
        return
    manifest = folder.manifest(run.run)
    wrong = list(folder.damage(run.run, [part.name for part in PARTS]))
    if wrong:
        yield from wrong
        return
    parts = {}
    for part in PARTS:
        schema = StructType.fromJson(manifest["parts"][part.name]["schema"])
        parts[part.name] = (read_part(spark, [root], part, schema), schema)
    try:
        found = figures(spark, parts)
    except (PySparkException, Py4JError) as error:
        yield f"{root} cannot be read: {reason(error)}"
        return
    for part in PARTS:
        expected = Figures(getattr(run, f"{part.counted}_rows"), getattr(run, f"{part.counted}_checksum"))
        if found[part.name] != expected:
            yield f"{root / part.name} has {found[part.name]}, and the database wrote {expected}"
