"""The journal says when the oldest of what was consumed was sent: an audit knows how long messages waited."""

from __future__ import annotations

from datetime import timedelta

import pytest
from support import Clock, Db, column, one

WAYS = {
    "one": ("select count(*) from howdah.receive('q', 1)", 1),
    "several": ("select count(*) from howdah.receive('q', 5)", 2),
    "held": (
        (
            "select howdah.consume_locked('q', array_agg(message_id), array_agg(priority), array_agg(position))"
            " from howdah.receive_locked('q', 5)"
        ),
        2,
    ),
    "selected": ("select count(*) from howdah.receive('q', 5, selector => 'JMSPriority > 0')", 2),
    "leased": ("select howdah.ack('q', (select distinct lease from howdah.lease('q', 5)))", 2),
    "by number": ("select count(*) from howdah.receive_message('q', (select min(message_id) from howdah.msgs))", 1),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_of_consuming_says_when_the_oldest_message_was_sent(db: Db, clock: Clock, way: str) -> None:
    statement, count = WAYS[way]
    one(db, "select howdah.create_queue('q')")
    sent = one(db, "select howdah.now()")
    one(db, "select howdah.send('q', 'first')")
    clock.advance(60)
    one(db, "select howdah.send('q', 'second')")
    clock.advance(60)
    with db.transaction():
        db.execute(statement.encode())
    row = db.execute("select oldest_sent_at, at, cardinality(message_ids) from howdah.journal").fetchone()
    assert row is not None
    oldest, at, consumed = row
    assert consumed == count
    assert sent <= oldest < sent + timedelta(seconds=30)
    assert at - oldest >= timedelta(seconds=120)
    assert column(db, "select oldest_sent_at from howdah.audit_journal") == [oldest] * count
