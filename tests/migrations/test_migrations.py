"""Migrations: what the metadata declares is what a database gets, however often it is migrated."""

import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from migrations_support import dictionary, open_db, procedures
from psycopg.conninfo import make_conninfo
from sqlalchemy import create_engine, text
from support import Db, Server, column, contents, one, receive

from howdah.migrations import MigrationError, add_facade, downgrade, migrate, remove_facade, state
from howdah.procedures import Roles, checksum
from howdah.schema import metadata

NEW = Callable[[], str]


def test_the_migrated_database_is_what_the_metadata_declares(db: Db, dsn: str, empty_dsn: str) -> None:
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(empty_dsn))
    with engine.begin() as connection:
        connection.execute(text("create schema howdah"))
        metadata.create_all(connection)
    engine.dispose()
    with open_db(empty_dsn) as declared:
        expected = dictionary(declared)
    assert all(expected.values())
    assert dictionary(db) == expected


@pytest.mark.filterwarnings("ignore:Did not recognize type 'pg_snapshot'", "ignore:Did not recognize type 'xid8'")
def test_alembic_finds_nothing_to_migrate(dsn: str) -> None:
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(dsn))
    ours = {name.removeprefix("howdah.") for name in metadata.tables}
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "include_schemas": True,
                "compare_server_default": True,
                "version_table_schema": "howdah",
                "include_name": lambda name, kind, parents: (
                    name == "howdah" if kind == "schema" else kind != "table" or name in ours
                ),
            },
        )
        assert compare_metadata(context, metadata) == []
    engine.dispose()


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_of_another_encoding_is_refused_with_the_statement_that_makes_one(
    server: Server, encoding: str
) -> None:
    name = f"howdah_encoding_{secrets.token_hex(4)}"
    dsn = make_conninfo(server.dsn, dbname=name)
    with open_db(server.dsn) as admin:
        provider = "locale_provider libc" if admin.info.server_version >= 150000 else ""
        make = f"create database {name} encoding '{encoding}' lc_collate 'C' lc_ctype 'C' {provider} template template0"
        drop = f"drop database {name}"
        admin.execute(make.encode())
        try:
            for attempt in (migrate, state):
                with pytest.raises(MigrationError, match=f"{name} has the encoding {encoding}") as refused:
                    attempt(dsn)
            with open_db(dsn) as db:
                assert one(db, "select to_regnamespace('howdah') is null")
            admin.execute(drop.encode())
            admin.execute(
                str(refused.value).partition("\n\n")[2].replace("database howdah", f"database {name}").encode()
            )
            assert migrate(dsn).current
        finally:
            admin.execute(drop.encode())


@pytest.mark.slow
def test_an_environment_with_another_encoding_of_clients_can_migrate(
    empty_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    assert migrate(empty_dsn).current


def test_message_tables_have_the_persistence_they_promise(db: Db) -> None:
    rows = db.execute(
        "select relname::text, relpersistence::text from pg_class where relnamespace = 'howdah'::regnamespace"
        " and relname in ('msgs', 'msgs_nonpersistent', 'parked', 'poison_details')"
    ).fetchall()
    assert dict(rows) == {"msgs": "p", "msgs_nonpersistent": "u", "parked": "p", "poison_details": "p"}


@pytest.mark.behaviour("IMQ-51")
def test_a_second_upgrade_changes_nothing(db: Db, dsn: str) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send('q', 'x')")
    functions, rows = procedures(db), contents(db)
    xmin = "select array_agg(xmin::text order by oid) from pg_proc where pronamespace = 'howdah'::regnamespace"
    stamps = one(db, xmin)
    reached = migrate(dsn)
    assert reached.current
    assert reached == state(dsn)
    assert (procedures(db), contents(db), one(db, xmin)) == (functions, rows, stamps)
    assert one(db, "select version_num from howdah.alembic_version") == reached.head


@pytest.mark.slow
@pytest.mark.parametrize("types", ["oid, regnamespace", "oid, regtype", "name, varchar", "oid, regclass"])
def test_no_operator_in_the_path_of_the_login_is_called(empty_dsn: str, types: str) -> None:
    """Whoever may create in public could have it run as the login, which may be a superuser's."""
    left, right = types.split(", ")
    with open_db(empty_dsn) as db:
        db.execute(
            f"create function public.trap({types}) returns boolean language plpgsql as"
            f" $$ begin raise exception 'trapped'; end $$;"
            f" create operator public.= (leftarg = {left}, rightarg = {right}, function = public.trap)".encode()
        )
    assert migrate(empty_dsn).current
    add_facade(empty_dsn, "pgmq")
    remove_facade(empty_dsn, "pgmq")
    add_facade(empty_dsn, "pgmq")
    assert downgrade(empty_dsn, "base").revision is None


@pytest.mark.slow
def test_two_migrations_at_once_take_turns(empty_dsn: str) -> None:
    failures: list[Exception] = []

    def run() -> None:
        code = "import sys; from howdah.migrations import migrate; sys.exit(not migrate(sys.argv[1]).current)"
        done = subprocess.run([sys.executable, "-c", code, empty_dsn], capture_output=True, text=True, check=False)
        if done.returncode:
            failures.append(RuntimeError(done.stderr))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert state(empty_dsn).current


def test_no_stranger_keeps_an_installed_howdah_from_being_migrated(db: Db, dsn: str) -> None:
    db.execute("select pg_advisory_lock(1213154371)")
    one(db, "select count(pg_advisory_lock(1213154371, n)) from generate_series(0, 9) n")
    assert migrate(make_conninfo(dsn, options="-c lock_timeout=1s")).current


def test_a_newer_database_is_refused_and_left_alone(db: Db, dsn: str) -> None:
    db.execute("update howdah.alembic_version set version_num = '9999'")
    before = procedures(db)
    with pytest.raises(MigrationError, match=r"9999.*newer"):
        migrate(dsn)
    assert one(db, "select version_num from howdah.alembic_version") == "9999"
    assert procedures(db) == before


@pytest.mark.slow
def test_alembics_own_command_does_the_same(empty_dsn: str, tmp_path: Any) -> None:
    configuration = os.path.join(
        os.path.dirname(str(import_module("howdah.migrations").__file__)), "..", "..", "..", "alembic.ini"
    )
    done = subprocess.run(
        [sys.executable, "-m", "alembic", "-c", os.path.normpath(configuration), "upgrade", "head"],
        env={**os.environ, "HOWDAH_DSN": empty_dsn},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert state(empty_dsn).current


@pytest.mark.slow
def test_sends_and_receives_go_on_while_the_procedures_are_installed_anew(db: Db, dsn: str) -> None:
    one(db, "select howdah.create_queue('q')")
    stop, failures, counts = threading.Event(), [], {"sent": 0, "received": 0}

    def work(kind: str) -> None:
        try:
            with open_db(dsn) as session:
                while not stop.is_set():
                    if kind == "sent":
                        one(session, "select howdah.send('q', 'x')")
                        counts[kind] += 1
                    else:
                        counts[kind] += len(receive(session, n=5))
        except psycopg.Error as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(kind,)) for kind in counts]
    for thread in threads:
        thread.start()
    for turn in range(4):
        db.execute("update howdah.engine set procedures_checksum = %s", (str(turn),))
        assert migrate(dsn).current
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert counts["received"] > 0
    assert counts["received"] + len(receive(db, n=10000)) == counts["sent"]


@pytest.mark.slow
def test_tampered_procedures_are_restored_when_the_checksum_differs(db: Db, dsn: str) -> None:
    before = procedures(db)
    db.execute("drop function howdah.browse(text, integer, integer, bigint, bigint, text, text)")
    db.execute("create or replace function howdah._caller() returns text language sql as $$ select 'postgres'::text $$")
    db.execute("create function howdah.left_over(x integer) returns integer language sql as 'select 1'")
    db.execute("alter function howdah.purge_queue(text) reset search_path")
    db.execute("grant execute on function howdah.purge_queue(text) to public")
    if not one(db, "select admin_role = producer_role from howdah.engine"):
        db.execute("grant execute on function howdah._caller() to howdah_producer")
    assert procedures(db) != before
    db.execute("update howdah.engine set procedures_checksum = 'other'")
    assert not state(dsn).current
    assert migrate(dsn).current
    after = procedures(db)
    assert [row[:4] + row[5:] for row in after] == [row[:4] + row[5:] for row in before]
    assert [sorted((row[4] or "{}")[1:-1].split(",")) for row in after] == [
        sorted((row[4] or "{}")[1:-1].split(",")) for row in before
    ]


def test_the_checksum_knows_the_roles() -> None:
    assert checksum(Roles()) == checksum(Roles())
    assert checksum(Roles()) != checksum(Roles.with_prefix("other"))


@pytest.mark.slow
def test_the_engines_name_is_set_once(new_database: NEW) -> None:
    dsn = new_database()
    migrate(dsn, engine_name="bus")
    with open_db(dsn) as db:
        assert column(db, "select queue from howdah.list_queues()") == ["_SYSTEM.Exception.Destination.bus"]
        db.execute("update howdah.engine set procedures_checksum = 'other'")
    migrate(dsn, engine_name="other")
    with open_db(dsn) as db:
        assert column(db, "select queue from howdah.list_queues()") == ["_SYSTEM.Exception.Destination.bus"]


def test_a_database_without_howdah_says_so(empty_dsn: str) -> None:
    nothing = state(empty_dsn)
    assert (nothing.revision, nothing.procedures_current, nothing.current) == (None, False, False)


def test_other_roles_than_the_installed_ones_are_refused_in_words(dsn: str) -> None:
    with pytest.raises(MigrationError, match="installed with the roles of howdah_owner"):
        migrate(dsn, roles=Roles.with_prefix("other"))
    assert migrate(dsn, roles=Roles()).current
