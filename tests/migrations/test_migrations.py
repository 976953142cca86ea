"""Migrations: what the metadata declares is what a database gets, whoever installs it and however often."""

import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from command import howdah
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from sqlalchemy import create_engine, text
from support import Db, Server, column, contents, one, receive

from howdah.migrations import MigrationError, add_facade, downgrade, migrate, remove_facade, state
from howdah.procedures import Roles, checksum
from howdah.schema import metadata

NEW = Callable[[], str]


def open_db(dsn: str) -> Db:
    return psycopg.connect(dsn, autocommit=True)


def dictionary(db: Db) -> dict[str, list[tuple[Any, ...]]]:
    """The tables as the catalog describes them, partitions and Alembic's own left out."""
    tables = (
        "(select * from pg_class where relnamespace = 'howdah'::regnamespace and relkind in ('r', 'p')"
        " and not relispartition and relname <> 'alembic_version') c"
    )
    queries = {
        "tables": "select relname::text, relkind::text, relpersistence::text, reloptions, pg_get_partkeydef(c.oid),"
        f" obj_description(c.oid, 'pg_class') from {tables} order by 1",
        "columns": "select relname::text, attname::text, format_type(atttypid, atttypmod),"
        " attnotnull, attidentity::text,"
        " attstorage::text, attcompression::text, attcollation::regcollation::text, pg_get_expr(adbin, adrelid),"
        " col_description(c.oid, attnum)"
        f" from {tables} join pg_attribute a on attrelid = c.oid and attnum > 0"
        " left join pg_attrdef d on adrelid = c.oid and adnum = attnum order by relname, attnum",
        "constraints": "select relname::text, conname::text, pg_get_constraintdef(k.oid)"
        f" from {tables} join pg_constraint k on conrelid = c.oid where contype <> 'n' order by 1, 2",
        "indexes": f"select relname::text, pg_get_indexdef(indexrelid) from {tables} join pg_index on indrelid = c.oid"
        " order by 1, 2",
        "sequences": "select sequencename::text, data_type::text, cache_size, increment_by from pg_sequences"
        " where schemaname = 'howdah' and sequencename !~ '^(head|search|positions|waiting|alive|room|tickets)_'"
        " order by 1",
        "default partition": "select pg_get_expr(relpartbound, oid), obj_description(oid, 'pg_class') from pg_class"
        " where oid = 'howdah.journal_default'::regclass",
        "types": "select relname::text, attname::text, format_type(atttypid, atttypmod),"
        " obj_description(reltype, 'pg_type')"
        " from pg_class c join pg_attribute on attrelid = c.oid"
        " where relnamespace = 'howdah'::regnamespace and relkind = 'c'"
        " order by relname, attnum",
    }
    return {name: db.execute(query.encode()).fetchall() for name, query in queries.items()}


def procedures(db: Db) -> list[tuple[Any, ...]]:
    """Every function: its text, settings, rights and comment."""
    return db.execute(
        "select p.oid::regprocedure::text, prosrc, proconfig, prosecdef, proacl::text,"
        " obj_description(p.oid, 'pg_proc')"
        " from pg_proc p where pronamespace = 'howdah'::regnamespace order by 1"
    ).fetchall()


@pytest.fixture
def superuser(server: Any) -> None:
    with open_db(server.dsn) as db:
        if not one(db, "select rolsuper from pg_roles where rolname = current_user"):
            pytest.skip("makes roles of its own, so it needs a superuser")


@contextmanager
def _user(dsn: str, attributes: str, prefix: str | None = None) -> Iterator[str]:
    """A login role that may create in the database at `dsn`; it and the roles named with `prefix` go at the end."""
    name, password = f"howdah_test_{secrets.token_hex(4)}", secrets.token_hex(8)
    with open_db(dsn) as db:
        db.execute(
            sql.SQL("create role {} login password {} " + attributes).format(
                sql.Identifier(name), sql.Literal(password)
            )
        )
        db.execute(sql.SQL("grant create on database {} to {}").format(
            sql.Identifier(db.info.dbname), sql.Identifier(name)))  # fmt: skip
        try:
            yield make_conninfo(dsn, user=name, password=password)
        finally:
            made = column(db, "select rolname::text from pg_roles where rolname ~ %s", (f"^{prefix or name}",))
            for role in {*made, name}:
                db.execute(sql.SQL("drop owned by {} cascade").format(sql.Identifier(role)))
            for role in {*made, name}:
                db.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))


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


@pytest.mark.first_case
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
@pytest.mark.behaviour("IMQ-51")
def test_downgrade_leaves_an_empty_schema_and_up_again_gives_the_same(db: Db, dsn: str) -> None:
    migrate(dsn)
    before, functions = dictionary(db), procedures(db)
    assert downgrade(dsn, "base").revision is None
    assert column(db, "select relname::text from pg_class where relnamespace = 'howdah'::regnamespace") in (
        ["alembic_version", "alembic_version_pkc"],
        ["alembic_version_pkc", "alembic_version"],
    )
    assert procedures(db) == []
    assert migrate(dsn).current
    assert (dictionary(db), procedures(db)) == (before, functions)
    one(db, "select howdah.create_queue('q')")


@pytest.mark.slow
@pytest.mark.own_database
def test_facades_go_with_a_downgrade_to_base_and_work_when_installed_again(db: Db, dsn: str) -> None:
    for facade in ("pgmq", "pgmq_public"):
        add_facade(dsn, facade)
    one(db, "select pgmq.create('tasks')")
    assert downgrade(dsn, "base").revision is None
    assert one(db, "select to_regnamespace('pgmq') is null and to_regnamespace('pgmq_public') is null")
    assert migrate(dsn).current
    for facade in ("pgmq", "pgmq_public"):
        add_facade(dsn, facade)
    assert column(db, "select queue_name from pgmq.list_queues()") == []
    one(db, "select pgmq.create('tasks')")
    assert column(db, "select pgmq_public.send('tasks', '{}')")


@pytest.mark.slow
@pytest.mark.own_database
def test_a_downgrade_to_base_is_refused_while_something_else_stands_on_a_facade(db: Db, dsn: str) -> None:
    add_facade(dsn, "pgmq")
    db.execute("create view public.ours as select queue_name from pgmq.meta")
    with pytest.raises(MigrationError, match=r"ours.*this stands on pgmq"):
        downgrade(dsn, "base")
    assert state(dsn).current
    assert column(db, "select queue_name from public.ours") == []
    db.execute("drop view public.ours")


@pytest.mark.slow
def test_one_who_may_create_roles_installs_without_being_superuser(empty_dsn: str, superuser: None) -> None:
    prefix = f"hdt_{secrets.token_hex(3)}"
    with _user(empty_dsn, "createrole", prefix) as dsn:
        assert migrate(dsn, roles=Roles.with_prefix(prefix)).current
        assert migrate(dsn).current
        with open_db(empty_dsn) as db:
            db.execute(f"set role {prefix}_admin".encode())
            one(db, "select howdah.create_queue('q')")
            db.execute(f"set role {prefix}_producer".encode())
            one(db, "select howdah.send('q', 'x')")
            db.execute(f"set role {prefix}_consumer".encode())
            assert len(receive(db)) == 1
            db.execute("reset role")


@pytest.mark.slow
def test_one_who_may_not_gets_the_script_for_an_administrator_and_it_suffices(empty_dsn: str, superuser: None) -> None:
    prefix = f"hdt_{secrets.token_hex(3)}"
    roles = Roles.with_prefix(prefix)
    with _user(empty_dsn, "", prefix) as dsn:
        with pytest.raises(MigrationError) as refused:
            migrate(dsn, roles=roles)
        script = str(refused.value).split("\n\n")[1]
        assert f'create role "{prefix}_owner" nologin;' in script
        assert f'create role "{prefix}_nobody" nologin;' in script
        with open_db(empty_dsn) as db:
            assert one(db, "select to_regnamespace('howdah') is null")
            db.execute(script.encode())
            db.execute(f'grant create on database "{db.info.dbname}" to "{prefix}_owner"'.encode())
        assert migrate(dsn, roles=roles).current


@pytest.mark.slow
def test_an_upgrade_by_one_who_may_make_no_roles_asks_for_the_missing_one(empty_dsn: str, superuser: None) -> None:
    """As from a release that had no role without rights."""
    prefix = f"hdt_{secrets.token_hex(3)}"
    roles = Roles.with_prefix(prefix)
    with _user(empty_dsn, "createrole", prefix) as dsn:
        assert migrate(dsn, roles=roles).current
        me = str(conninfo_to_dict(dsn)["user"])
        with open_db(empty_dsn) as db:
            functions = (
                "howdah._call_poison_procedure(name, text, text, howdah.message, jsonb),"
                " howdah._call_transformation(name, text, text, howdah.message)"
            )
            db.execute(f'drop function {functions}; drop role "{prefix}_nobody"'.encode())
            db.execute(f'alter role "{me}" nocreaterole'.encode())
            db.execute("update howdah.engine set procedures_checksum = ''")
        with pytest.raises(MigrationError) as refused:
            migrate(dsn)
        assert str(refused.value).split("\n\n")[1].split("\n")[:2] == [
            f'create role "{prefix}_nobody" nologin;',
            f'grant "{prefix}_nobody" to "{prefix}_owner";',
        ]
        with open_db(empty_dsn) as db:
            db.execute(f'create role "{prefix}_nobody" nologin'.encode())
        with pytest.raises(MigrationError, match=r"may not let .*_owner act as .*_nobody") as refused:
            migrate(dsn)
        with open_db(empty_dsn) as db:
            db.execute(str(refused.value).split("\n\n")[1].encode())
        assert migrate(dsn).current


def test_the_role_without_rights_may_not_have_the_owners(empty_dsn: str, superuser: None) -> None:
    prefix = f"hdt_{secrets.token_hex(3)}"
    with _user(empty_dsn, "createrole", prefix) as dsn:
        with open_db(empty_dsn) as db:
            db.execute(f'create role "{prefix}_nobody" superuser'.encode())
        with pytest.raises(MigrationError, match="must have none"):
            migrate(dsn, roles=Roles.with_prefix(prefix))


def test_one_who_is_no_member_of_the_owner_gets_the_grant_for_an_administrator(
    dsn: str, template: str, superuser: None
) -> None:
    with _user(dsn, "") as outsider:
        with pytest.raises(MigrationError) as refused:
            migrate(outsider, roles=Roles())
        assert f'grant "howdah_owner" to "{conninfo_to_dict(outsider)["user"]}";' in str(refused.value)
        assert state(dsn).current


@pytest.mark.parametrize("words", [(), ("--check",), ("--status",)])
def test_the_command_says_the_grant_to_one_who_is_no_member_of_the_owner(
    dsn: str, template: str, superuser: None, words: tuple[str, ...]
) -> None:
    with _user(dsn, "") as outsider:
        failed = howdah(outsider, "migrate", *words)
        assert (failed.code, failed.out) == (1, "")
        assert f'\ngrant "howdah_owner" to "{conninfo_to_dict(outsider)["user"]}";' in failed.err


@pytest.mark.slow
@pytest.mark.behaviour("IMQ-57")
def test_in_one_role_mode_the_installer_may_do_everything_and_nobody_else_anything(
    empty_dsn: str, superuser: None
) -> None:
    with _user(empty_dsn, "") as dsn, _user(empty_dsn, "") as stranger_dsn:
        assert migrate(dsn, roles=Roles.one(str(conninfo_to_dict(dsn)["user"]))).current
        assert migrate(dsn).current
        with open_db(dsn) as db, open_db(stranger_dsn) as stranger:
            one(db, "select howdah.create_queue('q')")
            one(db, "select howdah.send('q', 'x')")
            for query in (
                "select howdah.send('q', 'x')",
                "select * from howdah.msgs",
                "select * from howdah.audit_messages",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    stranger.execute(query.encode())
            assert len(receive(db)) == 1
        downgrade(dsn, "base")


@pytest.mark.slow
def test_in_one_role_mode_what_the_installer_makes_elsewhere_has_its_usual_rights(
    empty_dsn: str, superuser: None
) -> None:
    with _user(empty_dsn, "") as dsn, _user(empty_dsn, "") as stranger_dsn:
        migrate(dsn, roles=Roles.one(str(conninfo_to_dict(dsn)["user"])))
        with open_db(dsn) as db, open_db(stranger_dsn) as stranger:
            db.execute("create schema app; grant usage on schema app to public")
            db.execute("create function app.seven() returns integer language sql return 7")
            assert one(stranger, "select app.seven()") == 7
            assert one(db, "select count(*) from pg_default_acl") == 0
            assert column(
                db,
                "select p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'howdah'::regnamespace"
                " and has_function_privilege('public', p.oid, 'execute')",
            ) == []  # fmt: skip


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
