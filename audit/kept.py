"""The views of one snapshot, kept as Parquet."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from . import session
from .archive.history import open_history
from .folders import Storage
from .pace import Pace
from .ranges import Ranges, read_ranges, worth_asking
from .read import COLUMNS, read_view
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


IN_MEMORY_MAX = 64 * 1024 * 1024
"""Of tables with more bytes than this, few rows are kept as Parquet, too: long texts would fill Java's memory."""


@dataclass(frozen=True)
class Kept:
    """A snapshot: its time, what it is as text, whether tables were locked, rows and DataFrame of each view.

    ranges: what of the journal was proved by digest; None: every row was read. storage: where the views lie.
    """

    at: str
    snapshot: str
    locked: bool
    rows: dict[str, int]
    views: dict[str, DataFrame]
    ranges: Ranges | None
    storage: Storage

    @property
    def looked_at(self) -> int:
        """The rows that rules look at."""
        journal = sum(line.rows_by_row for line in self.ranges.coverage) if self.ranges else self.rows["journal"]
        return journal + sum(self.rows[name] for name in FOLDERS.values() if name != "journal")

    @property
    def totals(self) -> DataFrame | None:
        """What digests prove (digests.totals); None: nothing was proved by them."""
        return self.ranges.totals if self.ranges else None

    def followed(self, *, whole: bool) -> dict[str, DataFrame]:
        """The views as rules look at them. whole: the journal has what digests prove, too, and is written without it.

        A whole journal may be long though there are few rows to look at.
        """
        if not (whole and self.ranges and self.totals is not None):
            return self.views
        journal = self.ranges.of(self.views["audit_journal"])
        return self.views | {"audit_journal": self.storage.keep("digests/by_row", journal)}


def keep_views(
    spark: SparkSession,
    dsn: str,
    folder: Path,
    partitions: int,
    archive: Path | None,
    previous: Previous | None,
    pace: Pace,
    *,
    digests: bool,
    whole: bool,
) -> Kept:
    """Keep every view of one snapshot, and hold the snapshot no longer than that takes.

    digests: prove by them. whole: read the whole journal nevertheless, for reports, and keep all as Parquet. Otherwise
    few rows, if they are short, are kept in memory.
    """
    rows: dict[str, int] = {}
    kept: dict[str, DataFrame] = {}
    ranges = None
    with exported(dsn, session.FEW_ROWS) as snapshot, ExitStack() as stack:
        few = not archive and stack.enter_context(session.for_few_rows(spark, snapshot.rows))
        if few:
            # A connection costs Java more than it fetches.
            partitions = 1
        small = few and snapshot.size <= IN_MEMORY_MAX
        storage = Storage(folder, few, in_memory=small and not whole and session.is_local(spark))
        history = open_history(spark, dsn, snapshot, archive) if archive else None
        # The journal comes last: what is read of it depends on the others.
        for name in sorted(COLUMNS, key="audit_journal".__eq__):
            live, predicates = history.live(name, partitions) if history else None, None
            if name == "audit_journal" and digests and worth_asking(snapshot):
                since = previous.snapshot if previous else None
                ranges = read_ranges(spark, snapshot, kept, storage, partitions, since, pace)
                rows["digests"] = ranges.digests
                predicates = None if whole else ranges.predicates
            view = live or read_view(spark, snapshot, name, partitions, predicates)
            kept[name] = storage.keep(FOLDERS[name], view.rows)
            rows[FOLDERS[name]] = view.check()
            pace.rest()
    if history:
        history.check_contents()
        for name in COLUMNS:
            kept[name], archived = history.whole(name, kept[name])
            rows[FOLDERS[name]] += archived
    return Kept(snapshot.taken_at, snapshot.text, snapshot.locked, rows, kept, ranges, storage)
