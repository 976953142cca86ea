"""Each way in which the record of a lock's holders can be wrong is found, and what retention leaves is not accused."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from howdah.audit.rules.locks import RULES
from howdah.audit.rules.rule import Evidence

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
SCHEMA = "name string, id long, epoch long, acquired_at timestamp, present_epoch long"
Change = tuple[int | None, float]


@pytest.mark.parametrize(
    ("changes", "present", "seen"),
    [
        ([(1, 0), (2, 1), (3, 2)], 3, []),
        ([(7, 0), (8, 0)], 8, []),
        ([(1, 0), (2, -0.5)], 2, []),
        ([(1, 0), (2, 1), (2, 2), (3, 3)], 3, ["epoch 2 follows 2"]),
        ([(1, 0), (3, 1), (2, 2)], 2, ["epoch 2 follows 3", "epoch 3 follows 1"]),
        ([(1, 0), (3, 1)], 3, ["epoch 3 follows 1"]),
        ([(1, 0), (2, -2)], 2, ["epoch 2 was acquired at 2026-05-01 11:59:58, before the one before it"]),
        ([(1, 0), (2, 1)], 4, ["its epoch is 4, its last holder got 2"]),
        ([(1, 0)], None, ["its epoch is 0, its last holder got 1"]),
        ([(None, 0)], 1, ["its epoch is 1, its last holder got -"]),
    ],
    ids=["sound", "begun before", "clock set a little", "duplicate", "reversed", "gap", "clock set back", "ahead",
         "no lock", "no record"],
)  # fmt: skip
def test_changes_of_holder(spark: "SparkSession", changes: list[Change], present: int | None, seen: list[str]) -> None:
    rows = [
        ("work", number, epoch, NOON + timedelta(seconds=seconds), present)
        for number, (epoch, seconds) in enumerate(changes, 1)
    ]
    facts = SimpleNamespace(locks=len(rows))
    evidence = cast("Evidence", SimpleNamespace(facts=facts, locks=spark.createDataFrame(rows, SCHEMA)))
    find = RULES[0].find
    assert find is not None
    found = find(evidence)
    assert found is not None
    assert sorted(row["seen"] for row in found.collect()) == [f"lock work: {text}" for text in seen]
