"""Options of Howdah hold on a queue of the facade: limits of handlers, last values, expiry, stamps, failures."""

from __future__ import annotations

from datetime import timedelta

import psycopg
import pytest
from support import Clock, Connect, Db, column, one

from howdah.migrations import add_facade

pytestmark = pytest.mark.own_database


@pytest.fixture(autouse=True)
def facade(dsn: str, db: Db) -> None:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('tasks')")


def set_options(db: Db, options: str) -> None:
    db.execute("select howdah.alter_queue('tasks', %s)", (options,))


def fill(db: Db, count: int = 200) -> None:
    db.execute("select pgmq.send_batch('tasks', array(select to_jsonb(n) from generate_series(1, %s) n))", (count,))


def read(db: Db, quantity: int = 1, vt: int = 30) -> list[int]:
    return column(db, "select msg_id from pgmq.read('tasks', %s, %s)", [vt, quantity])


def test_a_limit_of_concurrency_holds_for_reads_and_for_leases_together(db: Db, clock: Clock) -> None:
    fill(db)
    assert read(db) == [1]  # before there is a limit; not counted
    set_options(db, '{"max_concurrent": 2}')
    assert read(db) == [2]
    assert len(column(db, "select lease from howdah.lease('tasks', 10, '10 minutes')")) == 1
    assert read(db, 5) == []
    assert column(db, "select msg_id from pgmq.pop('tasks')") == []
    assert one(db, "select leased from howdah.list_handler_limits('tasks')") == 2
    assert one(db, "select pgmq.delete('tasks', 2)")
    assert read(db, 5) == [4]
    clock.advance(31)  # its reader is late, and the message is visible again
    assert len(read(db, 5)) == 1
    assert one(db, "select leased from howdah.list_handler_limits('tasks')") == 2


def test_a_rate_holds_for_reads_and_pops_together(db: Db) -> None:
    fill(db)
    set_options(db, '{"rate_limit": "2/1h burst 2"}')
    assert len(read(db, 1)) + len(column(db, "select msg_id from pgmq.pop('tasks', 5)")) == 2
    assert read(db, 10) == []
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        db.execute("select pgmq.read_grouped('tasks', 30, 1)")


@pytest.mark.parametrize(
    "options",
    ['{"keep_bodies_ms": 60000}', '{"max_failed_deliveries": 3}', '{"default_priority": 2}', '{"max_concurrent": 50}'],
)
def test_a_pop_of_any_queue_tells_of_the_reads_before(db: Db, clock: Clock, options: str) -> None:
    set_options(db, options)
    db.execute("select pgmq.send('tasks', '1'), pgmq.send('tasks', '2')")
    begun = clock.now
    assert read(db) == [1]
    clock.advance(31)
    popped = "select msg_id, read_ct, last_read_at, enqueued_at, vt from pgmq.pop('tasks', 5) order by 1"
    assert db.execute(popped.encode()).fetchall() == [
        (1, 1, begun, begun, begun + timedelta(seconds=30)),
        (2, 0, None, begun, begun),
    ]
    assert one(db, "select consumed from howdah.queue_stats('tasks')") == 2
    assert column(db, "select msg_id from pgmq.pop('tasks', 5)") == []


@pytest.mark.parametrize("options", ['{"strict_order": true}', '{"message_groups": "transaction"}'])
def test_a_pop_takes_as_many_as_are_asked_for_in_an_order(db: Db, options: str) -> None:
    set_options(db, options)
    for number in range(1, 6):
        db.execute("select pgmq.send('tasks', %s::text::jsonb, '{\"JMSXGroupID\": \"g\"}'::jsonb)", (str(number),))
    assert column(db, "select msg_id from pgmq.pop('tasks', 3)") == [1, 2, 3]
    assert column(db, "select msg_id from pgmq.pop('tasks', 3)") == [4, 5]
    assert column(db, "select msg_id from pgmq.pop('tasks', 3)") == []


@pytest.mark.parametrize("options", ["{}", '{"journal_level": "full"}', '{"max_message_bytes": 1000}'])
def test_a_batch_keeps_null_apart_from_the_null_of_json(db: Db, options: str) -> None:
    set_options(db, options)
    batch = "array['1', null, 'null', '2']::jsonb[]"
    db.execute(f"select pgmq.send_batch('tasks', {batch}, array['{{\"n\": 1}}', null, null, null]::jsonb[])".encode())
    db.execute(f"select pgmq.send_batch('tasks', {batch})".encode())
    messages = "select msg_id, message::text, headers::text from pgmq.read('tasks', 30, 9)"
    assert db.execute(messages.encode()).fetchall() == [
        (1, "1", '{"n": 1}'), (2, None, None), (3, "null", None), (4, "2", None),
        (5, "1", None), (6, None, None), (7, "null", None), (8, "2", None),
    ]  # fmt: skip


def test_a_last_value_replaces_the_one_before(db: Db) -> None:
    set_options(db, '{"last_value_key": "k"}')
    db.execute("select pgmq.send('tasks', '0')")
    for number, call in enumerate(
        (
            "pgmq.send('tasks', '2', '{\"k\": \"a\"}'::jsonb)",
            "pgmq.send('tasks', '3', '{\"k\": \"a\"}'::jsonb, 5)",
            "pgmq.send_batch('tasks', array['4']::jsonb[], array['{\"k\": \"a\"}']::jsonb[])",
            "pgmq.send('tasks', null::jsonb, '{\"k\": \"a\"}'::jsonb)",
        )
    ):
        db.execute(f"select {call}".encode())
        assert column(db, "select msg_id from pgmq.q_tasks order by 1") == [1, number + 2]


def test_each_way_to_send_stamps_the_sender(db: Db, connect: Connect) -> None:
    set_options(db, '{"stamp_user": true}')
    producer = connect("howdah_producer")
    for call in (
        "pgmq.send('tasks', '1')",
        "pgmq.send('tasks', '1', '{\"a\": 1}'::jsonb)",
        "pgmq.send('tasks', '1', 5)",
        "pgmq.send_batch('tasks', array['1', '2']::jsonb[])",
        "pgmq.send_batch('tasks', array['1']::jsonb[], array['{\"a\": 1}']::jsonb[], 5)",
    ):
        producer.execute(f"select {call}".encode())
    assert column(db, "select headers ->> 'JMSXUserID' from pgmq.q_tasks") == ["howdah_producer"] * 6


READS = (
    "pgmq.read('tasks', 0, 1)",
    "pgmq.read('tasks', 0, 2)",
    "pgmq.read('tasks', 0, 2, '{\"n\": 1}')",
    "pgmq.read_grouped('tasks', 0, 2)",
    "pgmq.read_grouped_head('tasks', 0, 2)",
    "pgmq.pop('tasks', 2)",
)


@pytest.mark.parametrize("count", [5, pytest.param(2500, marks=pytest.mark.slow)])
def test_expired_messages_hide_none_that_is_behind_them(db: Db, clock: Clock, count: int) -> None:
    brief = "select howdah.send('tasks', '{\"n\": 1}'::jsonb, time_to_live => '10 s') from generate_series(1, %s)"
    for call in READS:
        db.execute("select pgmq.drop_queue('tasks'), pgmq.create('tasks')")
        db.execute(brief, (count,))
        db.execute("select pgmq.send('tasks', '{\"n\": 1}')")
        clock.advance(11)
        assert column(db, f"select msg_id from {call}") == [count + 1], call


def test_a_message_that_expired_while_it_was_hidden_goes_where_its_queue_says(db: Db, clock: Clock) -> None:
    db.execute("select howdah.create_queue('late')")
    set_options(db, '{"process_expired": true, "exception_mode": "named", "exception_queue": "late"}')
    large = (
        "select howdah.send('tasks', to_jsonb(repeat('x', 20000)), time_to_live => '10 s') from generate_series(1, 3)"
    )
    db.execute(large.encode())
    assert read(db, 2) == [1, 2]
    fill(db, 2)
    clock.advance(31)
    assert read(db, 2) == [4, 5]
    assert one(db, "select count(*) from howdah.browse('late')") == 2
    assert one(db, "select howdah.maintain_expired()") == 1  # nobody had read it
    assert one(db, "select count(*) from howdah.bodies") == 3
    assert column(db, "select reason from howdah.journal where event = 'expired'") == []


@pytest.mark.parametrize("call", ["read", "read_grouped", "read_grouped_head"])
def test_a_limit_of_failures_ends_reads_that_nobody_settles(db: Db, clock: Clock, call: str) -> None:
    set_options(db, '{"max_failed_deliveries": 2}')
    fill(db, 1)
    for _ in range(2):
        assert column(db, f"select msg_id from pgmq.{call}('tasks', 10, 1)") == [1]
        clock.advance(11)
    assert column(db, f"select msg_id from pgmq.{call}('tasks', 10, 1)") == []
    assert column(db, "select msg_id from pgmq.q_tasks") == []
    dead = "select event, reason from howdah.journal where reason like '%limit%' or event = 'moved'"
    assert db.execute(dead).fetchall() == [("moved", "failed deliveries reached the limit")]


@pytest.mark.parametrize(
    ("act", "code"),
    [
        ("howdah.pause_engine('why')", "HD040"),
        ("howdah.quiesce_engine('why')", "HD040"),
        ("howdah.pause('tasks', receiving => true)", "HD009"),
    ],
)
def test_each_way_to_read_says_why_nothing_is_given(db: Db, act: str, code: str) -> None:
    fill(db, 100)
    assert read(db, 1) == [1]
    db.execute(f"select {act}".encode())
    for call in (*READS, "pgmq.read('tasks', 0, 1, '{\"n\": 1}')", "pgmq.read_with_poll('tasks', 0, 1, 1)"):
        with pytest.raises(psycopg.Error) as error:
            db.execute(f"select {call}".encode())
        assert (call, error.value.sqlstate) == (call, code)
    assert one(db, "select pgmq.delete('tasks', 1)")  # what is in hand may be settled
    db.execute("select howdah.resume_engine('why')" if code == "HD040" else "select howdah.resume('tasks')")
    assert read(db, 1) == [2]
