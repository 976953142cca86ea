"""An audit over archive and database together: what is in the archive, and what the database has beyond it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from ...engine.admin.archives import Archives
from ...engine.calls.archives import ArchiveRun
from ...engine.database.runner import run as run_call
from ..errors import AuditError
from ..read import COLUMNS, View
from ..snapshot import Snapshot
from .folder import ArchiveFolder
from .job import read_part
from .parts import INCIDENTS, JOURNAL, Part, beyond
from .source import even_shares, joined, read_where

NAMED = 5
"""Damaged files that an error names."""

_PARTS = {"audit_journal": JOURNAL, "audit_incidents": INCIDENTS}


@dataclass(frozen=True)
class History:
    """The finished runs that an audit's snapshot knows. With the rows after the last run, they are complete."""

    spark: SparkSession
    snapshot: Snapshot
    folder: ArchiveFolder
    runs: list[ArchiveRun]
    manifests: dict[int, dict[str, Any]]
    dsn: str = field(repr=False)

    def live(self, view: str, partitions: int) -> View | None:
        """Return what a view has beyond the archive, to be read in the snapshot; None: the view is not archived."""
        if view not in _PARTS:
            return None
        condition = beyond("v.xid", self.runs[-1].snapshot)
        with joined(self.dsn, self.snapshot) as connection:
            shares = even_shares(connection, view, condition, partitions)
        query = f"select {COLUMNS[view]}, v.place from howdah.{view} v where {condition}"
        return read_where(self.spark, self.snapshot, view, query, shares)

    def check_contents(self) -> None:
        """Read the files of the parts that an audit reads, and raise AuditError unless they are what was written.

        It takes a while and needs no snapshot, so call it after the snapshot is released.
        """
        for run in self.runs:
            _refuse(self.folder, run.run, [part.name for part in _PARTS.values()])

    def whole(self, view: str, live: DataFrame) -> tuple[DataFrame, int]:
        """Return a view's rows with the archive's, and the number in its files. Destinations get journal_kept_from.

        Raises AuditError if the files have more rows or fewer than their runs wrote.
        """
        if view == "audit_destinations":
            kept_from = F.lit(self.runs[0].journal_kept_from).cast("timestamp")
            return live.withColumn("journal_kept_from", kept_from), 0
        if view not in _PARTS:
            return live, 0
        part = _PARTS[view]
        # Runs whose columns are the same are read as one: an archive has many runs.
        alike: dict[str, list[ArchiveRun]] = {}
        for run in self.runs:
            alike.setdefault(json.dumps(self.manifests[run.run]["parts"][part.name]["schema"]), []).append(run)
        parts = [self._archived(text, runs, part, live) for text, runs in alike.items()]
        # What Spark will read was listed just now: of whole files the count is in their footers, and one that goes
        # later is an error.
        rows = sum(found.count() for found in parts)
        written = sum(getattr(run, f"{part.counted}_rows") for run in self.runs)
        if rows != written:
            raise AuditError(
                f"{self.folder.path} has {rows} rows of {part.name}, and its runs wrote {written}: see howdah archive"
                f" verify"
            )
        return reduce(DataFrame.unionByName, parts, live), rows

    def _archived(self, schema: str, runs: list[ArchiveRun], part: Part, like: DataFrame) -> DataFrame:
        folders = [self.folder.run(run.run) for run in runs]
        found = read_part(self.spark, folders, part, StructType.fromJson(json.loads(schema)))
        found = found.withColumnRenamed("queue_name", "queue")
        # A column that the view got after the run is unknown of its rows.
        return found.select(
            *(
                (F.col(field.name) if field.name in found.columns else F.lit(None))
                .cast(field.dataType)
                .alias(field.name)
                for field in like.schema.fields
            )
        )


def open_history(spark: SparkSession, dsn: str, snapshot: Snapshot, path: Path) -> History:
    """The archive in ``path`` as the snapshot knows it.

    Raises AuditError if it is not the database's present archive, has no run, or has one known to be damaged. It also
    does if files are missing, added, or of another size.
    """
    folder = ArchiveFolder(path.expanduser().resolve())
    with joined(dsn, snapshot) as connection:
        known = Archives(lambda call: run_call(connection, call))
        identity = known.identity()
        runs = folder.finished(identity, known.runs())
        if not runs or not runs[0].current:
            raise AuditError(f"{folder.path} is not the present archive of this database, or has no finished run")
        if any(not run.same_cluster for run in runs):
            raise AuditError("the database was restored into another cluster since the last run of the archive")
        if broken := [run.run for run in runs if run.damage]:
            raise AuditError(f"run {broken[0]} of the archive is damaged: see howdah archive verify")
        for run in runs:
            folder.check_manifest(run)
            _refuse(folder, run.run, [])
    manifests = {run.run: folder.manifest(run.run) for run in runs}
    return History(spark, snapshot, folder, runs, manifests, dsn)


def _refuse(folder: ArchiveFolder, run: int, hashed: list[str]) -> None:
    """Raise AuditError if files of a run are not as its manifest says."""
    if wrong := list(folder.damage(run, hashed)):
        more = f" and {len(wrong) - NAMED} more" if len(wrong) > NAMED else ""
        raise AuditError(
            f"run {run} of the archive is damaged: {'; '.join(wrong[:NAMED])}{more}: see howdah archive verify"
        )
