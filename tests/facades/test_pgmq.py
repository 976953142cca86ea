"""The facade of pgmq: what it adds to Howdah's promises, and what it keeps of them."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest
from support import Clock, Connect, Db, one, refused

from howdah.migrations import MigrationError, add_facade, migrate, remove_facade

pytestmark = pytest.mark.own_database


@pytest.fixture
def queue(dsn: str, db: Db) -> str:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('tasks')")
    return "tasks"


def sent(db: Db, number: int = 1) -> list[int]:
    """Send messages, and return their numbers."""
    bodies = [f'{{"n": {n}}}' for n in range(1, number + 1)]
    return [row[0] for row in db.execute("select pgmq.send_batch('tasks', %s::jsonb[])", (bodies,))]


def read(db: Db, vt: int = 30, quantity: int = 10) -> list[int]:
    """Read messages, and return their numbers."""
    return [row[0] for row in db.execute("select msg_id from pgmq.read('tasks', %s, %s)", (vt, quantity))]


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


def test_who_has_no_right_sends_reads_and_sees_nothing(db: Db, queue: str, connect: Connect) -> None:
    sent(db)
    producer, consumer, browser = (connect(f"howdah_{kind}") for kind in ("producer", "consumer", "browser"))
    producer.execute("select pgmq.send('tasks', '{}')")
    refused = (
        (producer, "select pgmq.read('tasks', 30, 1)"),
        (producer, "select * from pgmq.q_tasks"),
        (producer, "select pgmq.create('more')"),
        (consumer, "select pgmq.send('tasks', '{}')"),
        (consumer, "select pgmq.drop_queue('tasks')"),
        (consumer, "select pgmq._delete('tasks', '{1}')"),
        (browser, "delete from pgmq.q_tasks"),
    )
    for who, call in refused:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            who.execute(call.encode())
    assert one(browser, "select count(*) from pgmq.q_tasks") == 2
    assert one(consumer, "select pgmq.delete('tasks', 1)") is True
    db.execute("select howdah.revoke_queue('tasks', 'receive', 'howdah_consumer')")
    with pytest.raises(psycopg.Error) as error:
        consumer.execute("select pgmq.read('tasks', 30, 1)")
    assert error.value.sqlstate == "HD010"


def test_a_grant_of_a_view_is_not_enough(db: Db, queue: str, connect: Connect) -> None:
    db.execute("drop role if exists stranger; create role stranger; grant usage on schema pgmq to stranger")
    db.execute("grant select, delete on pgmq.q_tasks, pgmq.a_tasks to stranger")
    try:
        stranger = connect("stranger")
        for view in ("q_tasks", "a_tasks"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                stranger.execute(f"select * from pgmq.{view}".encode())
        stranger.close()
    finally:
        db.execute("drop owned by stranger; drop role stranger")


def test_the_views_hide_from_browsers_what_a_redaction_hides(db: Db, queue: str, connect: Connect) -> None:
    sent(db, 3)
    db.execute("select pgmq.archive('tasks', 1), pgmq.read('tasks', 30, 1)")
    browser, consumer, admin = connect("howdah_browser"), connect("howdah_consumer"), connect("howdah_admin")
    shown = "select count(message) from {}"
    views = {"pgmq.q_tasks": 2, "pgmq.a_tasks": 1}
    assert {view: one(browser, shown.format(view)) for view in views} == views
    one(admin, "select howdah.set_redaction('tasks', '$.n')")
    for view, number in views.items():
        assert one(browser, shown.format(view)) == 0, view
        assert one(browser, f"select count(*) from {view} where message::text ~ '[0-9]'") == 0, view
        assert one(browser, f"select count(*) from {view}") == number, "the rows stay"
        assert [one(who, shown.format(view)) for who in (consumer, admin)] == [number, number], view
    one(admin, "select howdah.drop_redaction('tasks', '$.n')")
    assert {view: one(browser, shown.format(view)) for view in views} == views


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


@pytest.mark.slow
def test_the_facade_is_installed_twice_and_brought_up_to_date(db: Db, queue: str, dsn: str) -> None:
    sent(db)
    add_facade(dsn, "pgmq")
    db.execute("drop function pgmq.purge_queue(text)")
    db.execute("update howdah.engine set procedures_checksum = ''")
    migrate(dsn)
    assert one(db, "select pgmq.purge_queue('tasks')") == 1


def test_an_upgrade_replaces_functions_whose_result_or_argument_names_were_others(db: Db, queue: str, dsn: str) -> None:
    sent(db)
    db.execute(
        "set role howdah_owner; drop function pgmq.purge_queue(text), pgmq.send(text, jsonb);"
        " create function pgmq.purge_queue(queue_name text) returns text language sql as $$ select 'old' $$;"
        " create function pgmq.send(queue text, message jsonb) returns integer language sql as $$ select 1 $$;"
        " reset role"
    )
    add_facade(dsn, "pgmq")
    assert sent(db) == [2]
    assert one(db, "select pgmq.send(queue_name => 'tasks', msg => '{}')") == 3
    assert one(db, "select pgmq.purge_queue('tasks')") == 3


def test_what_is_removed_leaves_the_queues(db: Db, queue: str, dsn: str) -> None:
    sent(db)
    remove_facade(dsn, "pgmq")
    assert one(db, "select to_regnamespace('pgmq')") is None
    assert one(db, "select body from howdah.receive('tasks')") == '{"n": 1}'
    with pytest.raises(MigrationError):
        remove_facade(dsn, "pgmq")


def test_supabases_schema_is_installed_on_request(db: Db, queue: str, dsn: str) -> None:
    add_facade(dsn, "pgmq_public")
    assert one(db, "select pgmq_public.send('tasks', '{\"n\": 1}')") == 1
    db.execute("select pgmq_public.send_batch('tasks', array['{}', '{}']::jsonb[], sleep_seconds => 60)")
    assert one(db, "select msg_id from pgmq_public.read('tasks', sleep_seconds => 30, n => 5)") == 1
    assert one(db, "select pgmq_public.delete('tasks', message_id => 1)") is True
    assert one(db, "select pgmq_public.archive('tasks', message_id => 2)") is True
    assert db.execute("select * from pgmq_public.pop('tasks')").fetchall() == []
    remove_facade(dsn, "pgmq")
    assert one(db, "select to_regnamespace('pgmq_public')") is None
    with pytest.raises(MigrationError, match="needs the facade pgmq"):
        add_facade(dsn, "pgmq_public")


def test_a_schema_of_somebody_else_is_left_alone(db: Db, dsn: str) -> None:
    db.execute("create schema pgmq; create table pgmq.meta (own text)")
    with pytest.raises(MigrationError, match="howdah facade adopt pgmq takes its queues over"):
        add_facade(dsn, "pgmq")
    with pytest.raises(MigrationError):
        remove_facade(dsn, "pgmq")
    assert one(db, "select count(*) from pgmq.meta") == 0


@pytest.mark.slow
def test_a_strangers_schema_with_the_mark_of_a_facade_is_none_and_stops_no_upgrade(db: Db, dsn: str) -> None:
    if not one(db, "select rolsuper from pg_roles where rolname = current_user"):
        pytest.skip("only a superuser makes a schema for another role")
    db.execute("create schema pgmq authorization pg_monitor; comment on schema pgmq is 'Facade of Howdah: not at all'")
    db.execute("update howdah.engine set procedures_checksum = ''")
    assert migrate(dsn).current
    with pytest.raises(MigrationError, match="it is no facade of Howdah"):
        add_facade(dsn, "pgmq")
    assert one(db, "select count(*) from pg_class where relnamespace = 'pgmq'::regnamespace") == 0


def test_there_is_no_facade_where_howdah_is_not(new_database: Callable[[], str]) -> None:
    with pytest.raises(MigrationError, match="howdah migrate"):
        add_facade(new_database(), "pgmq")


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
