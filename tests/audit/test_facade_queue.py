"""An audit of queues that clients of pgmq use."""

from __future__ import annotations

import pytest
from support import Db

from howdah.migrations import add_facade

from .conftest import Audit

pytestmark = pytest.mark.own_database


def test_an_audit_of_queues_of_the_facade_is_clean(audit: Audit, dsn: str, db: Db) -> None:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('tasks'), pgmq.create('aside')")
    db.execute("select howdah.alter_queue('tasks', '{\"journal_level\": \"full\"}')")
    db.execute("select pgmq.send_batch('tasks', array(select to_jsonb(n) from generate_series(1, 12) n))")
    db.execute("select pgmq.send('tasks', to_jsonb(repeat('x', 20000)), '7', 60)")  # headers that are no object
    db.execute("select pgmq.read('tasks', 3600, 4)")
    db.execute("select pgmq.delete('tasks', 1), pgmq.archive('tasks', 2), pgmq.delete('tasks', 9)")
    db.execute("select pgmq.set_vt('tasks', 3, 0), pgmq.pop('tasks')")
    db.execute("delete from pgmq.q_tasks where msg_id = 6; delete from pgmq.a_tasks")
    db.execute("select pgmq.read('tasks', -5, 1), pgmq.read('tasks', 0, 1)")
    db.execute("select pgmq.bind_topic('a.*', 'tasks'), pgmq.send_topic('a.b', '{}')")
    db.execute("select message_id from howdah.receive('tasks', 2)")
    db.execute("select howdah.move_all('tasks', 'aside', 2), pgmq.purge_queue('aside')")
    result = audit()
    assert [rule for rule in result.rules if rule.count] == []
    assert {queue.queue: queue.verdict for queue in result.queues}["tasks"] == "proved"
