"""The facade of pgmq: what it adds to Howdah's promises, and what it keeps of them."""

from __future__ import annotations

import psycopg
import pytest
from pgmq_tasks import read, sent
from support import Clock, Connect, Db, one, refused

from howdah.migrations import add_facade

pytestmark = pytest.mark.own_database


@pytest.fixture
def queue(dsn: str, db: Db) -> str:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('tasks')")
    return "tasks"


def test_numbers_begin_with_one_and_ascend(db: Db, queue: str) -> None:
    assert sent(db, 3) == [1, 2, 3]
    db.execute("select pgmq.purge_queue('tasks')")
    assert sent(db) == [4]


def test_a_read_that_ran_out_is_no_failure(db: Db, queue: str, clock: Clock) -> None:
    sent(db)
    for count in range(1, 12):
        assert one(db, "select read_ct from pgmq.read('tasks', 30, 1)") == count
        assert read(db) == []
        clock.advance(31)
    assert one(db, "select count(*) from howdah.incidents('tasks')") == 0


def test_with_a_limit_reads_that_ran_out_count_until_the_message_is_dead(db: Db, queue: str, clock: Clock) -> None:
    db.execute("""select howdah.alter_queue('tasks', '{"max_failed_deliveries": 2}')""")
    sent(db)
    for _ in range(2):
        assert read(db) == [1]
        clock.advance(31)
    assert read(db) == []
    assert one(db, "select count(*) from howdah.incidents('tasks') where error_class = 'LeaseExpired'") == 2
    assert one(db, "select count(*) from howdah.browse('_SYSTEM.Exception.Destination.howdah')") == 1
    assert one(db, "select pgmq.delete('tasks', 1)") is False


def test_a_read_that_rolls_back_has_never_been(db: Db, queue: str, connect: Connect) -> None:
    sent(db, 3)
    other = connect()
    other.execute("begin")
    assert read(other, quantity=2) == [1, 2]
    assert read(db, quantity=1) == [3]
    other.execute("rollback")
    assert read(db) == [1, 2]
    assert one(db, "select sum(read_ct) from pgmq.q_tasks") == 3


def test_a_reader_that_dies_loses_nothing(db: Db, queue: str, connect: Connect) -> None:
    sent(db, 2)
    other = connect()
    other.execute("begin")
    assert read(other) == [1, 2]
    assert one(other, "select pgmq.delete('tasks', 1)") is True
    db.execute("select pg_terminate_backend(%s)", (other.info.backend_pid,))
    with pytest.raises(psycopg.OperationalError):
        other.execute("select 1")
    assert read(db) == [1, 2]


def test_two_readers_never_have_the_same_message(db: Db, queue: str, connect: Connect) -> None:
    sent(db, 100)
    readers = [connect() for _ in range(3)]
    for reader in readers:
        reader.execute("begin")
    taken = [number for _ in range(5) for reader in readers for number in read(reader, quantity=5)]
    for reader in readers:
        reader.execute("commit")
    assert len(taken) == len(set(taken)) == 75


def test_two_readers_never_share_a_group(db: Db, queue: str, connect: Connect) -> None:
    db.execute(
        "select pgmq.send_batch('tasks', array_fill(jsonb '{}', array[6]), (select array_agg(jsonb_build_object("
        "'x-pgmq-group', n % 2)) from generate_series(1, 6) n))"
    )
    other = connect()
    other.execute("begin")
    first = other.execute("select msg_id from pgmq.read_grouped('tasks', 30, 3)").fetchall()
    second = db.execute("select msg_id from pgmq.read_grouped('tasks', 30, 6)").fetchall()
    assert (first, second) == ([(1,), (3,), (5,)], [(2,), (4,), (6,)])
    other.execute("commit")
    assert db.execute("select msg_id from pgmq.read_grouped('tasks', 30, 6)").fetchall() == []


def test_rows_of_the_queues_view_are_deleted_and_shown_again(db: Db, queue: str) -> None:
    sent(db, 3)
    assert read(db) == [1, 2, 3]
    assert db.execute("delete from pgmq.q_tasks where msg_id = 2").rowcount == 1
    assert db.execute("update pgmq.q_tasks set vt = vt - interval '1 hour' where msg_id = 3").rowcount == 1
    assert read(db) == [3]
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        db.execute("update pgmq.q_tasks set message = '{}'")
    assert one(db, "select count(*) from pgmq.q_tasks") == 2


def test_archived_rows_can_be_counted_deleted_changed_and_put_back(db: Db, queue: str) -> None:
    db.execute("select pgmq.archive('tasks', %s)", (sent(db, 3),))
    assert db.execute("delete from pgmq.a_tasks where msg_id = 1").rowcount == 1
    assert db.execute("update pgmq.a_tasks set message = '{\"new\": true}' where msg_id = 2").rowcount == 1
    db.execute("insert into pgmq.a_tasks (msg_id, vt, message) values (9, now(), '{\"old\": true}')")
    assert db.execute("select msg_id, message from pgmq.a_tasks order by 1").fetchall() == [
        (2, {"new": True}), (3, {"n": 3}), (9, {"old": True}),
    ]  # fmt: skip
    assert one(db, "select count(*) from howdah.browse_kept('tasks')") == 3


def test_what_is_kept_of_a_non_persistent_message_says_so_and_how_often_it_was_read(db: Db, queue: str) -> None:
    options = '{"keep_bodies_ms": 3600000, "default_reliability": "EXPRESS_NONPERSISTENT"}'
    one(db, "select howdah.alter_queue('tasks', %s::jsonb)", (options,))
    sent(db, 3)
    assert [read(db, vt, 1) for vt in (0, 30, 30)] == [[1], [1], [2]]
    assert one(db, "select pgmq.delete('tasks', 1)")
    assert one(db, "select pgmq.archive('tasks', 2)")
    db.execute("select pgmq.pop('tasks')")
    assert db.execute(
        "select delivery_mode, reliability, delivery_count from howdah.browse_kept('tasks') order by message_id"
    ).fetchall() == [("non-persistent", "EXPRESS_NONPERSISTENT", count) for count in (2, 1, 1)]


def test_the_journal_has_what_the_facade_consumed(db: Db, queue: str) -> None:
    numbers = sent(db, 4)
    read(db, quantity=1)
    db.execute("select pgmq.delete('tasks', %s)", (numbers[:2],))
    db.execute("select pgmq.archive('tasks', 3)")
    db.execute("select pgmq.pop('tasks')")
    consumed = "select sum(cardinality(message_ids)) from howdah.journal where event = 'consumed'"
    assert one(db, consumed) == 4


def test_a_transaction_of_the_caller_takes_sends_and_deletes_back(db: Db, queue: str) -> None:
    db.execute("begin")
    sent(db, 2)
    db.execute("rollback")
    assert one(db, "select queue_length from pgmq.metrics('tasks')") == 0


def test_priorities_of_howdah_come_first(db: Db, queue: str) -> None:
    sent(db, 2)
    db.execute("""select howdah.send('tasks', '{"n": 9}'::jsonb, priority => 9)""")
    first = db.execute("select message, read_ct from pgmq.read('tasks', 30, 1)").fetchone()
    assert first == ({"n": 9}, 1)
    assert len(read(db)) == 2


def test_large_and_null_messages_come_as_they_were_sent(db: Db, queue: str) -> None:
    db.execute("select pgmq.send('tasks', to_jsonb(repeat('x', 20000)))")
    db.execute("select pgmq.send('tasks', null::jsonb)")
    found = db.execute("select message from pgmq.read('tasks', 30, 5)").fetchall()
    assert found == [("x" * 20000,), (None,)]
    db.execute("select pgmq.archive('tasks', 1)")
    assert one(db, "select message from pgmq.a_tasks") == "x" * 20000
    assert one(db, "select count(*) from howdah.bodies") == 0


def test_a_body_that_is_no_json_stops_nobody(db: Db, queue: str) -> None:
    db.execute("select howdah.send('tasks', 'no json', content_type => 'application/json')")
    db.execute("select howdah.send('tasks', '\\x00ff'::bytea)")
    assert db.execute("select message from pgmq.read('tasks', 30, 5)").fetchall() == [("no json",), ("AP8=",)]


def test_headers_of_any_json_come_back_and_are_an_object_for_everybody_else(db: Db, queue: str) -> None:
    for headers in ("[1]", "7", "null", '"text"', '{"a": 1}', '{"pgmq_headers": 1}'):
        db.execute("select pgmq.send('tasks', '{}', %s::jsonb)", (headers,))
    kinds = "select distinct jsonb_typeof(headers) from howdah.browse('tasks', 10)"
    assert db.execute(kinds.encode()).fetchall() == [("object",)]
    assert db.execute("select count(*) from howdah.audit_messages").fetchall() == [(6,)]
    found = db.execute("select headers from pgmq.read('tasks', 30, 6)").fetchall()
    assert found == [([1],), (7,), (None,), ("text",), ({"a": 1},), ({"pgmq_headers": 1},)]


@pytest.mark.slow
def test_a_send_notifies_once_in_the_interval(db: Db, queue: str, clock: Clock, connect: Connect) -> None:
    db.execute("select pgmq.enable_notify_insert('tasks', 1000)")
    listener = connect()
    listener.execute('listen "pgmq.q_tasks.INSERT"')
    heard = []
    for seconds in (0, 0.5, 1):
        clock.advance(seconds)
        sent(db, 2)
        heard.append(len(list(listener.notifies(timeout=0.5, stop_after=2))))
    assert heard == [1, 0, 1]


def test_a_contract_holds_for_all_sends_of_the_facade(db: Db, queue: str) -> None:
    """A NULL message keeps to none. Nothing of a refused batch is stored."""
    db.execute('select howdah.alter_queue(\'tasks\', \'{"contract": {"required": ["n"], "type": "object"}}\')')
    for call in (
        "send('tasks', '{}')",
        "send('tasks', null)",
        "send('tasks', '{}', 5)",
        "send('tasks', '{}', '{\"h\": 1}'::jsonb)",
        "send_batch('tasks', array['{\"n\": 1}', '{}']::jsonb[])",
        "send_batch('tasks', array['{\"n\": 1}', '{}']::jsonb[], 5)",
        "send_topic('a.b', '{}')",
    ):
        if "topic" in call:
            db.execute("select pgmq.bind_topic('a.*', 'tasks')")
        refused(db, "HD050", f"select pgmq.{call}")
    assert sent(db, 2)[-1] == read(db)[-1]
    assert one(db, "select count(*) from pgmq.q_tasks") == 2
