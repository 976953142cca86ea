"""What tests of access rules set and ask: one rule by its key, and whether a call is allowed."""

from __future__ import annotations

import psycopg
from support import Db, one

RULE = "select howdah.set_rule(%s, %s, %s, %s, %s, %s, %s)"

SEND = "select howdah.send('q', 'x')"


def rule(db: Db, key: str, *principals: str, rule_set: str = "default") -> bool:
    """Set a rule by its key: queue.q.produce.deny.user."""
    resource, name, operation, access, kind = key.split(".")
    changed: bool = one(
        db, RULE, (rule_set, resource, name, operation, access == "allow", kind, list(principals) or ["*"])
    )
    return changed


def may(session: Db, call: str = SEND) -> bool:
    try:
        session.execute(call.encode())
    except psycopg.Error as error:
        if error.sqlstate != "HD010":
            raise
        return False
    return True
