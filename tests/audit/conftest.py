"""One Spark for all audits."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pytest

from howdah.audit import AuditResult, run_audit, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Audit = Callable[..., AuditResult]


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """Spark with Java's start of several seconds, once for the run."""
    with spark_session("local[2]", partitions=2) as session:
        yield session


@pytest.fixture
def audit(dsn: str, spark: "SparkSession") -> Audit:
    """run_audit on the test's database and the shared Spark."""
    return partial(run_audit, dsn, spark=spark, partitions=2)
