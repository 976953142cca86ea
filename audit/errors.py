"""The error of an impossible audit, and the cause of Spark's failures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException


class AuditError(Exception):
    """The audit was impossible. The message says why and what to do. Findings of an audit are not errors."""


def reason(error: Exception) -> str:
    """The first line of the innermost cause that a Spark error tells."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return (causes or lines or [type(error).__name__])[-1 if causes else 0]


@contextmanager
def spark_errors() -> Iterator[None]:
    """Raise a failure of Spark within the block as AuditError."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise AuditError(f"Spark failed: {reason(error)}") from error
