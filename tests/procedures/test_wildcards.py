"""Policies for all queues whose names match a wildcard."""

from __future__ import annotations

import pytest
from policy_support import (
    Create,
)
from psycopg.types.json import Jsonb
from support import SYSTEM, Db, one, refused


@pytest.mark.behaviour("AMQ-114")
def test_of_policies_by_wildcard_the_most_specific_one_holds(db: Db, create: Create) -> None:
    create("A.B.C")
    policies = {">": 11, "A.>": 12, "A.*": 13, "A.B": 14, "*.B.>": 15}
    for pattern, limit in policies.items():
        one(db, "select howdah.set_policy(%s, %s)", (pattern, Jsonb({"max_failed_deliveries": limit})))
    for name in ("A.B", "A.C", "A.C.D", "B", "X.B.Y"):
        create(name)
    limits: dict[str, int] = dict(
        db.execute("select queue, max_failed_deliveries from howdah.list_queues()").fetchall()
    )
    del limits[SYSTEM]
    assert limits == {"A.B": 14, "A.C": 13, "A.C.D": 12, "B": 11, "X.B.Y": 15, "A.B.C": 12}
    one(db, "select howdah.create_queue('A.own', '{\"max_failed_deliveries\": 3}')")
    assert one(db, "select howdah.queue_options('A.own') ->> 'max_failed_deliveries'") == "3"
    assert one(db, "select howdah.drop_policy('A.B')")
    assert not one(db, "select howdah.drop_policy('A.B')")
    refused(db, "HD003", "select howdah.set_policy('A.>.B', '{}')")
    refused(db, "HD004", "select howdah.set_policy('A', '{\"no\": 1}')")
