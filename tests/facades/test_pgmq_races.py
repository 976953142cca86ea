"""Settling a message that another session moves at the same moment: it waits, and then settles it, as in pgmq."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from support import Connect, Db, column, one, wait_until, wait_until_blocked

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


def test_what_a_rollback_brought_back_is_read_though_a_message_is_due_at_each_read(
    dsn: str, db: Db, connect: Connect
) -> None:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('t')")
    db.execute("select pgmq.send_batch('t', array(select to_jsonb(n) from generate_series(1, 61) n))")
    db.execute("select pgmq.delete('t', (select msg_id from pgmq.read('t', 30, 1)))")
    other = connect()
    with other.transaction(force_rollback=True):
        assert column(other, "select msg_id from pgmq.read('t', 30, 50)") == list(range(2, 52))
        assert column(db, "select msg_id from pgmq.read('t', 0, 1)") == [52]
    left = {*range(2, 52), *range(53, 62)}

    def read() -> bool:
        """The message that comes again at once is never deleted."""
        found = set(column(db, "select msg_id from pgmq.read('t', 0, 5)")) - {52}
        db.execute("select pgmq.delete('t', %s::bigint[])", [list(found)])
        left.difference_update(found)
        return not left

    wait_until(read, 20)


@pytest.mark.slow
def test_a_delayed_message_comes_though_another_transaction_that_sent_one_rolled_back(
    dsn: str, db: Db, connect: Connect
) -> None:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('t')")
    other = connect()
    with other.transaction(force_rollback=True):
        other.execute("select pgmq.send('t', '1', 1)")
        number = one(db, "select pgmq.send('t', '2', 1)")
    found: list[int] = []

    def read() -> bool:
        found.extend(column(db, "select msg_id from pgmq.read('t', 30, 1)"))
        return bool(found)

    wait_until(read, 10)
    assert found == [number]


def test_with_a_limit_of_failures_a_reader_waits_for_no_other(dsn: str, db: Db, connect: Connect) -> None:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('t'); select howdah.alter_queue('t', '{\"max_failed_deliveries\": 3}')")
    db.execute("select pgmq.send_batch('t', array['1', '2']::jsonb[])")
    assert column(db, "select msg_id from pgmq.read('t', 0, 1)") == [1]
    other = connect()
    other.execute("set statement_timeout = '10s'")
    with db.transaction():
        assert column(db, "select msg_id from pgmq.read('t', 30, 1)") == [1]
        assert column(other, "select msg_id from pgmq.read('t', 30, 1)") == [2]
    assert one(db, "select count(*) from howdah.poison_details") == 1


def test_a_sender_notifies_though_another_one_that_has_not_committed_did(dsn: str, db: Db, connect: Connect) -> None:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('t'); select pgmq.enable_notify_insert('t', 0)")
    listener, other = connect(), connect()
    listener.execute('listen "pgmq.q_t.INSERT"')
    with other.transaction(force_rollback=True):
        other.execute("select pgmq.send('t', '1')")
        db.execute("select pgmq.send('t', '2')")
    assert len(list(listener.notifies(timeout=5, stop_after=1))) == 1


def test_a_queue_that_howdah_dropped_can_be_made_again(dsn: str, db: Db) -> None:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('t'); select howdah.drop_queue('t'); select pgmq.create('t')")
    db.execute("select pgmq.send('t', '1'); select pgmq.archive('t', pgmq.send('t', '2'))")
    assert column(db, "select message from pgmq.q_t") == [1]
    assert column(db, "select message from pgmq.a_t") == [2]
    assert column(db, "delete from pgmq.q_t returning msg_id") == [1]
