"""Spark for audits of a few rows, which starts once for a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INTERPRETED = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}
"""Spark compiles no code for a test's few rows: an audit takes 9 seconds of CPU where it took 15.

Commands in processes of their own do.
"""

LASTING = "-XX:TieredStopAtLevel=4 -XX:+UseSerialGC"
"""Java of a run compiles in full, which a command ends too soon for: a late audit takes 5.8 seconds instead of 7.2."""


@contextmanager
def small_spark() -> Iterator["SparkSession"]:
    """Spark on two cores, as long as it is used."""
    session = pytest.importorskip("howdah.audit.session", exc_type=ImportError)
    with (
        patch.dict(session._SETTINGS, INTERPRETED),
        patch.object(session, "_LOCAL_JAVA_OPTIONS", f"{session._LOCAL_JAVA_OPTIONS} {LASTING}"),
        session.spark_session("local[2]", partitions=2) as started,
    ):
        yield started
