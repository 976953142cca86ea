"""The facade of pgmq is installed, brought up to date and removed, and never over what is not ours."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pgmq_tasks import sent
from support import Db, one

from howdah.migrations import MigrationError, add_facade, migrate, remove_facade

pytestmark = pytest.mark.own_database


@pytest.fixture
def queue(dsn: str, db: Db) -> str:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('tasks')")
    return "tasks"


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
