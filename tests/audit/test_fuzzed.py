"""An audit of what calls with hostile arguments left behind: no call of the API makes a database that is accused."""

import chance
from fuzz import Fuzz, count
from fuzz_world import furnish
from support import Connect, Db

from .conftest import Audit

TOLD = {"unknown_message", "incidents_over_limit"}
"""Warnings of what a consumer may say falsely: failures of messages that never were, and more than a limit allows."""


def test_no_hostile_call_leaves_what_an_audit_calls_an_error(db: Db, connect: Connect, audit: Audit) -> None:
    furnish(db)
    Fuzz(connect, chance.dice()).run(count())
    found = audit()
    broken = {rule.name: rule for rule in found.rules if rule.count}
    assert [(rule.name, rule.queues, rule.samples) for rule in broken.values() if rule.severity == "error"] == []
    warnings = {rule.name for rule in broken.values() if rule.severity == "warning"}
    assert warnings <= TOLD, [(broken[name].queues, broken[name].rows) for name in warnings - TOLD]
