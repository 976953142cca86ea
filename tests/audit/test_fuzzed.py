"""An audit of what calls with hostile arguments left behind: no call of the API makes a database that is accused."""

import chance
from fuzz import Fuzz, count
from fuzz_world import furnish
from support import Connect, Db

from .conftest import Audit


def test_no_hostile_call_leaves_what_an_audit_calls_an_error(db: Db, connect: Connect, audit: Audit) -> None:
    furnish(db)
    Fuzz(connect, chance.dice()).run(count())
    found = audit()
    assert [
        (rule.name, rule.queues, rule.samples) for rule in found.rules if rule.count and rule.severity == "error"
    ] == []
