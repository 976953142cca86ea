"""Whoever installs Howdah without being superuser is asked for what is missing, in words that suffice."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from command import howdah
from migrations_support import open_db
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from support import column, one, receive

from howdah.migrations import MigrationError, downgrade, migrate, state
from howdah.procedures import Roles


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
