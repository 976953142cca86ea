"""Audits and archives of the test's database, with the one Spark of the run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from howdah.audit import AuditResult, pace, ranges, run_audit
from howdah.audit import job as auditing
from howdah.audit.archive import RunResult, job, run_archive, verify

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Audit = Callable[..., AuditResult]
Archive = Callable[..., RunResult]


HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave audits and archives by Spark to `make test-all`.

    One takes two cores 20 seconds, however little it reads.
    """
    for item in items:
        uses_spark = isinstance(item, pytest.Function) and "spark" in item.fixturenames
        if item.path.parent == HERE and uses_spark:
            item.add_marker(pytest.mark.slow)


@contextmanager
def same_spark(spark: "SparkSession") -> Iterator[None]:
    """Commands in this process use its Spark instead of starting another."""

    @contextmanager
    def mine(*options: object, **more: object) -> Iterator["SparkSession"]:
        yield spark

    with (
        patch.object(job, "spark_session", mine),
        patch.object(verify, "spark_session", mine),
        patch.object(auditing, "spark_session", mine),
    ):
        yield


#: The modules that seed faults in the tables. The others look at a healthy journal, or one that changes.
BOTH_WAYS = ("test_corruption", "test_rules")

#: The modules whose audits ask for digests of the few rows there are, too.
BY_DIGEST = (*BOTH_WAYS, "test_clean", "test_digests", "test_digests_of_damage", "test_since", "test_topics")


@pytest.fixture
def audit(dsn: str, spark: "SparkSession", monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Audit:
    """run_audit on the test's database and the shared Spark.

    In BOTH_WAYS it audits twice unless rows are spoken of: by digest and by reading every row. Both must say the same.
    In BY_DIGEST digests are used wherever they prove anything, however little there is. Elsewhere it audits as users
    do, who have so few rows read one by one.
    """
    if request.path.stem in BY_DIGEST:
        monkeypatch.setattr(ranges, "MOST", 1.0)
        monkeypatch.setattr(ranges, "BY_ROW_MAX", 0)
    # Tests that keep a queue busy would wait for an audit that rests for them.
    monkeypatch.setattr(pace, "REST", 0.1)
    monkeypatch.setattr(ranges, "REST", 0.1)
    once = partial(run_audit, dsn, spark=spark, partitions=2)
    if request.path.stem not in BOTH_WAYS:
        return once

    def both(**options: Any) -> AuditResult:
        if options.keys() & {"rows", "output", "page", "archive"}:
            return once(**options)
        result = once(rows=True, **options)
        same(once(rows=False, **options), result)
        return result

    return both


def same(one: AuditResult, other: AuditResult) -> None:
    """Both say the same of every rule, queue and hour, whatever the time at which they read."""
    told = [
        {
            "rules": {
                rule.name: (rule.count, rule.queues, [(row.queue, row.message_id) for row in rule.rows])
                for rule in result.rules
                if rule.count
            },
            "queues": result.queues,
            "hours": result.hours,
        }
        for result in (one, other)
    ]
    assert told[0] == told[1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the test's archive is to lie."""
    return tmp_path / "archive"


@pytest.fixture
def archive(dsn: str, folder: Path, spark: "SparkSession") -> Archive:
    """run_archive on the test's database, into its folder or another one, with the shared Spark."""

    def run(into: Path = folder, **options: Any) -> RunResult:
        return run_archive(dsn, into, spark=spark, partitions=2, **options)

    return run
