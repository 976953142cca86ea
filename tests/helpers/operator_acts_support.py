"""What tests of operators import: a dead message, and what the operators did."""

from typing import Any

from support import Db, fail, one


def dead(db: Db, error: str = "broken", error_class: str = "ValueError", body: str = "x") -> int:
    """A message that died of an error in q."""
    sent: int = one(db, "select howdah.send('q', %s)", (body,))
    assert fail(db, sent, error_text=error, error_class=error_class)[2] == "moved"
    return sent


def acts(db: Db) -> list[tuple[Any, ...]]:
    """What operators did: act, queue, other queue, reason, actor, message; in order."""
    return db.execute(
        "select act, queue, other_queue, reason, actor, message_id from howdah.audit_acts order by act_id, message_id"
    ).fetchall()
