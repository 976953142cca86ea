"""Settling a message that another session moves at the same moment: it waits, and then settles it, as in pgmq."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from support import Connect, Db, column, one, wait_until_blocked

from howdah.migrations import add_facade

pytestmark = pytest.mark.own_database

FIRST = {
    "a first read": (-1, "pgmq.read('tasks', 30, 1)"),
    "another read": (0, "pgmq.read('tasks', 30, 1)"),
    "a heartbeat": (30, "pgmq.set_vt('tasks', 1, 60)"),
}
SETTLE = {
    "select pgmq.delete('tasks', 1)": [True],
    "select pgmq.delete('tasks', array[1, 2, 1]::bigint[]) order by 1": [1, 2],
    "select pgmq.archive('tasks', 1)": [True],
    "select pgmq.archive('tasks', array[2, 1]::bigint[]) order by 1": [1, 2],
    "delete from pgmq.q_tasks where msg_id = 1 returning msg_id": [1],
}


@pytest.mark.parametrize("moved_by", FIRST)
def test_who_settles_a_message_that_is_just_moved_waits_and_settles_it(
    dsn: str, db: Db, connect: Connect, moved_by: str
) -> None:
    add_facade(dsn, "pgmq")
    mover, settler = connect(), connect()
    vt, call = FIRST[moved_by]
    with ThreadPoolExecutor(1) as threads:
        for settle, answer in {**SETTLE, "select msg_id from pgmq.set_vt('tasks', array[1, 9], 90)": [1]}.items():
            db.execute("select pgmq.create('tasks'), pgmq.send_batch('tasks', array['1', '1', '1']::jsonb[])")
            if vt >= 0:
                assert column(db, "select msg_id from pgmq.read('tasks', %s, 1)", [vt]) == [1]
            mover.execute("begin")
            assert column(mover, f"select msg_id from {call}") == [1]
            settled = threads.submit(column, settler, settle)
            wait_until_blocked(db, settler)
            mover.execute("commit")
            assert (settle, settled.result()) == (settle, answer)
            assert one(db, "select count(*) from pgmq.q_tasks where msg_id = 1") == ("set_vt" in settle)
            db.execute("select pgmq.drop_queue('tasks')")


def test_a_number_that_is_nowhere_is_not_settled_twice(dsn: str, db: Db) -> None:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('tasks'), pgmq.send('tasks', '1')")
    assert column(db, "select pgmq.delete('tasks', array[7, 1, 8, 1, null]::bigint[])") == [1]
    assert column(db, "select pgmq.archive('tasks', array[7, 1]::bigint[])") == []
    assert column(db, "select msg_id from pgmq.set_vt('tasks', array[7, 1], 5)") == []
