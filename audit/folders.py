"""The folder that an audit keeps its rows in, and small frames written there and read back."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from .errors import AuditError
from .hours import HOUR_COLUMNS
from .session import is_local


def hours_at_hand(frame: DataFrame, folder: Path) -> DataFrame:
    """The hours, written as one file and read from it. Many queues and years are too many for the driver."""
    rows = frame.select("destination_id", *HOUR_COLUMNS)
    rows.coalesce(1).write.parquet(str(folder))
    return frame.sparkSession.read.schema(rows.schema).parquet(str(folder))


def at_hand(frame: DataFrame) -> DataFrame:
    """A small frame with its rows in the driver: plans that use it need not know where it came from."""
    return frame.sparkSession.createDataFrame(frame.collect(), frame.schema)


def read_back(spark: SparkSession, folder: Path) -> DataFrame:
    """What ``written`` wrote."""
    return spark.read.parquet(str(folder))


def written(frame: DataFrame, folder: Path) -> list[dict[str, Any]]:
    """The rows of a small frame, written as one file too."""
    rows = frame.collect()
    frame.sparkSession.createDataFrame(rows, frame.schema).coalesce(1).write.parquet(str(folder))
    return [row.asDict() for row in rows]


def check_reachable(spark: SparkSession, output: Path | None) -> None:
    """Check that executors on other machines write to the folder that the driver reads. Raises AuditError."""
    if output is None and not is_local(spark):
        raise AuditError(
            "on a cluster --output must name a folder that the driver and all executors reach by that path"
        )


@contextmanager
def folder_for(output: Path | None) -> Iterator[Path]:
    """Yield the output folder, created if it is missing, or a scratch folder for the block."""
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
