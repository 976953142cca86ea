"""Databases that one test has after another: what one leaves, the next does not find."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from recycled import PAGES, SESSIONS, SINCE, Changed, Recycled
from support import Db, Server, column, contents, fail, one, receive


@pytest.fixture
def recycled(server: Server, template: str) -> Iterator[Recycled]:
    """A new one."""
    with psycopg.connect(server.dsn, autocommit=True) as admin:
        if server.embedded is None or admin.info.server_version < SINCE * 10_000:
            pytest.skip("every test has a new database here")
        made = Recycled(admin, server.dsn, template)
        try:
            yield made
        finally:
            made.drop()


def sequences(db: Db) -> dict[str, tuple[int, bool]]:
    """Where each sequence of Howdah stands."""
    names = column(db, "select relname from pg_class where relkind = 'S' and relnamespace = 'howdah'::regnamespace")
    standing = {}
    for name in names:
        query = sql.SQL("select last_value, is_called from howdah.{}").format(sql.Identifier(name))
        ((value, called),) = db.execute(query).fetchall()
        standing[name] = (value, called)
    return standing


def test_rows_and_sequences_are_those_of_a_new_database(recycled: Recycled) -> None:
    db = recycled.connect()
    new = contents(db), sequences(db)
    numbers = set()
    for _ in range(3):
        one(db, "select howdah.create_queue('q')")
        one(db, "select howdah.create_topic('t')")
        one(db, "select howdah.subscribe('t', 's')")
        sent = one(db, "select howdah.send('q', 'x', priority => 7)")
        one(db, "select howdah.send('t', 'x', delivery_mode => 'non-persistent')")
        fail(db, sent)
        with db.transaction(force_rollback=True):
            receive(db)
        numbers.add(sent)
        recycled.leave(db)
        recycled.renew()
        db = recycled.connect()
        assert (contents(db), sequences(db)) == new
    assert len(numbers) == 1
    recycled.leave(db)


def test_a_session_is_had_again_without_what_was_set_in_it(recycled: Recycled) -> None:
    first = recycled.connect()
    pid = first.info.backend_pid
    for statement in (
        "set work_mem = '1MB'",
        "set howdah.anything = 'x'",
        "prepare mine as select 1",
        "select pg_advisory_lock(7)",
        "declare c cursor with hold for select 1",
        "set role howdah_browser",
    ):
        first.execute(statement.encode())
    recycled.leave(first)
    assert first.closed
    with pytest.raises(psycopg.OperationalError):
        first.execute("select 1")
    again = recycled.connect()
    assert again.info.backend_pid == pid
    assert one(again, "select current_user = session_user")
    assert one(again, "show work_mem") == "4MB"
    assert one(again, "select coalesce(current_setting('howdah.anything', true), '')") == ""
    for left in (
        "select name from pg_prepared_statements where name = 'mine'",
        "select name from pg_cursors where name = 'c'",
        "select objid from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()",
    ):
        assert column(again, left) == [], left
    recycled.leave(again)


def test_a_session_that_listened_or_is_in_a_transaction_is_closed(recycled: Recycled) -> None:
    listening, busy = recycled.connect(), recycled.connect()
    listening.execute("listen howdah")
    busy.execute("begin")
    gone = {listening.info.backend_pid, busy.info.backend_pid}
    recycled.leave(listening)
    recycled.leave(busy)
    recycled.renew()
    fresh = recycled.connect()
    assert fresh.info.backend_pid not in gone
    recycled.leave(fresh)


def test_few_sessions_are_kept(recycled: Recycled) -> None:
    opened = [recycled.connect() for _ in range(SESSIONS + 2)]
    pids = [session.info.backend_pid for session in opened]
    for session in opened:
        recycled.leave(session)
    recycled.renew()
    again = [recycled.connect() for _ in range(SESSIONS + 1)]
    assert [session.info.backend_pid for session in again][:SESSIONS] == pids[:SESSIONS]
    assert again[-1].info.backend_pid not in pids
    for session in again:
        recycled.leave(session)


def test_what_was_made_is_dropped(recycled: Recycled) -> None:
    db = recycled.connect()
    catalog = (
        "select (select count(*) from pg_class), (select count(*) from pg_proc), (select count(*) from pg_type),"
        " (select count(*) from pg_namespace where nspname !~ '^pg_'), (select count(*) from pg_constraint)"
    )
    new = db.execute(catalog).fetchall()
    for statement in (
        "create schema shop",
        "create table shop.orders (id serial primary key, name text not null)",
        "create table work (message_id bigint, order_id integer references shop.orders)",
        "create view seen as select * from work",
        "create function doubled(n integer) returns integer language sql return 2 * n",
        "create temporary table passing (n integer)",
    ):
        db.execute(statement.encode())
    recycled.leave(db)
    recycled.renew()
    db = recycled.connect()
    assert db.execute(catalog).fetchall() == new
    recycled.leave(db)


@pytest.mark.first_case
@pytest.mark.parametrize(
    "change",
    [
        "grant select on howdah.msgs to public",
        "grant select (body) on howdah.msgs to public",
        "alter table howdah.msgs set (fillfactor = 50)",
        "alter table howdah.engine alter totals_at set default now()",
        "alter sequence howdah.no_room increment by 2",
        "create index on howdah.msgs (sent_at)",
        "drop view howdah.activemq_msgs",
        "create or replace function howdah.now() returns timestamptz language sql volatile return now()",
        "comment on table howdah.msgs is 'changed'",
        "alter default privileges in schema howdah grant select on tables to public",
        "create type mood as enum ('sad', 'ok')",
        "do $$ begin execute format('alter database %I set work_mem = 2048', current_database()); end $$",
        "do $$ begin execute format('grant create on database %I to public', current_database()); end $$",
        "analyze howdah.engine",
        "vacuum howdah.engine",
    ],
)
def test_a_changed_database_is_not_as_new(recycled: Recycled, change: str) -> None:
    db = recycled.connect()
    db.execute(change.encode())
    recycled.leave(db)
    with pytest.raises(Changed):
        recycled.renew()


def test_a_prepared_transaction_keeps_a_database_from_being_as_new(recycled: Recycled) -> None:
    db = recycled.connect()
    db.execute("begin")
    db.execute("select pg_advisory_xact_lock(7)")
    db.execute("prepare transaction 'recycled'")
    recycled.leave(db)
    try:
        with pytest.raises(Changed):
            recycled.renew()
    finally:
        with psycopg.connect(recycled.dsn, autocommit=True) as other:
            other.execute("rollback prepared 'recycled'")


@pytest.mark.slow
def test_a_session_that_is_left_keeps_a_database_from_being_as_new(recycled: Recycled) -> None:
    with psycopg.connect(recycled.dsn), pytest.raises(Changed, match="a session is left"):
        recycled.renew()


@pytest.mark.slow
def test_a_table_that_grew_is_as_new_with_its_rows(recycled: Recycled) -> None:
    db = recycled.connect()
    new = contents(db), sequences(db)
    one(db, "select count(howdah.create_queue('q' || n)) from generate_series(1, 150) n")
    one(db, "select count(howdah.send('q1', repeat('x', 900))) from generate_series(1, %s)", (PAGES * 10,))
    grown = ["destination_grants", "msgs"]
    sizes = "select relname::text from pg_class where relname = any (%s) and pg_relation_size(oid) > %s order by 1"
    assert column(db, sizes, (grown, PAGES * 8192)) == grown
    recycled.leave(db)
    recycled.renew()
    db = recycled.connect()
    assert (contents(db), sequences(db)) == new
    assert column(db, sizes, (grown, PAGES * 8192)) == []
    planned = "select distinct reltuples from pg_class where relname = any (%s)"
    assert column(db, planned, (grown,)) == [-1], "as a table that was never vacuumed"
    recycled.leave(db)
    recycled.renew()
