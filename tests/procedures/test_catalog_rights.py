"""What the catalog grants is what each kind of role needs, and rights are decided in one place."""

import re

from support import Db, column, one

from howdah.procedures import FILES, source


def test_public_may_execute_and_read_nothing(db: Db) -> None:
    assert column(
        db,
        "select p.oid::regprocedure::text from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a"
        " where p.pronamespace = 'howdah'::regnamespace and a.grantee = 0",
    ) == []  # fmt: skip
    assert one(db, "select has_schema_privilege('public', 'howdah', 'usage')") is False


def test_no_table_is_granted_to_anybody_but_the_owner(db: Db) -> None:
    granted = column(
        db,
        "select c.relname::text from pg_class c, aclexplode(c.relacl) a where c.relnamespace = 'howdah'::regnamespace"
        " and c.relkind in ('r', 'p', 'S') and a.grantee <> c.relowner",
    )
    assert granted == []


def test_no_argument_is_by_default_the_name_of_who_calls(db: Db) -> None:
    """A name that is passed can be any name: who calls is asked by _caller() only."""
    defaults = db.execute(
        "select p.oid::regprocedure::text, lower(pg_get_expr(p.proargdefaults, 0)) from pg_proc p"
        " where p.pronamespace = 'howdah'::regnamespace and p.proargdefaults is not null"
    ).fetchall()
    assert len(defaults) > 50, "there are defaults"
    naming = re.compile(r"current_user|session_user|current_role|\buser\b|_caller|current_setting|getpgusername")
    assert [name for name, text in defaults if naming.search(re.sub(r"'(?:[^']|'')*'", "''", text))] == []


def test_views_are_granted_to_auditors_and_administrators_for_reading_only(db: Db) -> None:
    rows = db.execute(
        "select distinct a.grantee::regrole::text, a.privilege_type from pg_class c, aclexplode(c.relacl) a"
        " where c.relnamespace = 'howdah'::regnamespace and c.relkind = 'v' and a.grantee <> c.relowner order by 1"
    ).fetchall()
    one_role = one(db, "select admin_role = producer_role from howdah.engine")
    assert rows == ([] if one_role else [("howdah_admin", "SELECT"), ("howdah_auditor", "SELECT")])


def test_rights_are_decided_in_one_place() -> None:
    asked = re.compile(
        r"pg_has_role|session_user|current_setting\('role'\)|\bcurrent_(user|role)\b|is_superuser|pg_auth_members"
    )
    found = {name: set(asked.findall(source(name))) for name in FILES}
    assert {name for name, found in found.items() if found} == {
        "base/_caller",
        "base/_is_member",
        "base/_has_role",
        "base/_rights_hint",  # what a superuser is told, not what it may do
        "poison/_call_poison_procedure",  # with nobody's rights
        "transformations/_call_transformation",  # likewise
        "functions/_function_fault",  # whose the function is, not what the caller may do
        "send/send_copied",
        "runtime/list_open_transactions",  # what PostgreSQL tells the owner, not what the caller may do
        "changes/user_state",  # what a role is, not what the caller may do
    }


def test_compiled_rights_are_read_where_they_are_decided_listed_and_made_and_nowhere_else() -> None:
    """So a rule that denies counts everywhere."""
    reads = {name for name in FILES if "howdah.destination_grants" in re.sub(r"--[^\n]*", "", source(name))}
    assert {name for name in reads if not name.startswith("access/")} == {
        "destinations/_has_right",  # decided
        "destinations/_seen_queues",  # the same for all queues at once: a test compares the two
        "destinations/list_grants",
        "destinations/revoke_queue",  # of what a subscription copied
        "topics/_copy_rights",
        "runtime/check_server",  # names roles that no longer exist
        *("changes/_grants_of", "changes/_set_grants"),  # of what a subscription copied, too
    }
