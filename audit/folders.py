"""The folder that an audit keeps its rows in, and small frames written there and read back."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession

from .errors import AuditError
from .session import is_local


@dataclass(frozen=True)
class Storage:
    """Where an audit keeps its frames: as Parquet under a folder, or in Spark's memory, where they end with it.

    few: there are so few rows that each frame is one partition. Otherwise Spark would shuffle them for each join.
    """

    folder: Path
    few: bool = False
    in_memory: bool = False

    def keep(self, name: str, frame: DataFrame, *, one_file: bool = False) -> DataFrame:
        """The frame with its rows made and kept. Plans that go on from it need not know how it was made."""
        if self.in_memory:
            return frame.coalesce(1).localCheckpoint()
        path = str(self.folder / name)
        (frame.coalesce(1) if one_file else frame).write.parquet(path)
        read = frame.sparkSession.read.schema(frame.schema).parquet(path)
        return read.coalesce(1) if self.few or one_file else read

    def write(self, name: str, frame: DataFrame) -> list[dict[str, Any]]:
        """The rows of a small frame, written as one file too where frames are written."""
        rows = frame.collect()
        if not self.in_memory:
            again = frame.sparkSession.createDataFrame(rows, frame.schema)
            again.coalesce(1).write.parquet(str(self.folder / name))
        return [row.asDict() for row in rows]


def at_hand(frame: DataFrame) -> tuple[DataFrame, list[Row]]:
    """A small frame with its rows in the driver, and those: plans that use it need not know where it came from."""
    rows = frame.collect()
    return frame.sparkSession.createDataFrame(rows, frame.schema).coalesce(1), rows


def once(frame: DataFrame, *, few: bool) -> DataFrame:
    """The frame, made once however often it is used; ``unpersist`` ends that.

    few: it has few rows. They are then made now, and plans that go on from them forget how. Spark would look through
    all of it for each step. Rows of a cluster would be lost with an executor.
    """
    return frame.localCheckpoint() if few and is_local(frame.sparkSession) else frame.persist()


def read_back(spark: SparkSession, folder: Path) -> DataFrame:
    """What ``Storage.write`` wrote."""
    return spark.read.parquet(str(folder))


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
