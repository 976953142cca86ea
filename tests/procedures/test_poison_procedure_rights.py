"""A poison procedure runs with its owner's rights and never with those of Howdah's owner."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from poison_procedure_support import OPTIONS, dead, make, poison, queue_of, shop_of, went_the_usual_way
from psycopg.types.json import Jsonb
from support import Connect, Db, column, identifier, one, receive, wait_until_blocked

from howdah.migrations import migrate
from howdah.procedures import Roles


@pytest.fixture
def shop(db: Db) -> Iterator[str]:
    """A role of its own, which owns the schema shop and the functions in it."""
    with shop_of(db) as role:
        yield role


@pytest.fixture
def queue(db: Db, shop: str) -> str:
    return queue_of(db, shop)


@pytest.mark.first_case
@pytest.mark.parametrize(
    "swap",
    [
        "alter schema shop rename to shop_good; alter schema shop_evil rename to shop",
        "alter function shop.poison(howdah.message, jsonb) security invoker",
    ],
)
def test_one_that_is_put_there_between_the_check_and_the_call_runs_without_rights(
    db: Db, queue: str, shop: str, connect: Connect, swap: str
) -> None:
    note = "begin raise warning 'runs as %', current_user; return true; end"
    make(db, shop, note, language="plpgsql")
    db.execute("create table public.fresh (); grant select on public.fresh to public")
    db.execute(
        "create or replace function howdah._has_old_snapshot() returns boolean language plpgsql as $$ begin"
        " perform pg_advisory_xact_lock(4711); perform from public.fresh; return false; end $$"
    )
    db.execute(
        psycopg.sql.SQL(
            "create schema shop_evil authorization {0}; grant usage on schema shop_evil to public; set role {0};"
            " create function shop_evil.poison(howdah.message, jsonb) returns boolean language plpgsql as {1};"
            " reset role"
        ).format(identifier(shop), psycopg.sql.Literal(note))
    )
    message = poison(db)
    consumer, other = connect("howdah_consumer"), connect()
    said: list[str] = []
    consumer.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
    with other.transaction():
        other.execute("select pg_advisory_xact_lock(4711)")
        with ThreadPoolExecutor(1) as pool:
            receiving = pool.submit(receive, consumer)
            wait_until_blocked(db, consumer)
            db.execute(f"begin; {swap}; commit".encode())
            other.execute("commit")
            assert receiving.result() == []
    assert [text for text in said if text.startswith("runs as")] == ["runs as howdah_nobody"]
    ((found, reason),) = dead(db)
    assert found == message
    assert "replaced while it ran" in reason


def test_it_does_not_run_with_the_owners_rights_by_altering_what_calls_it(db: Db, queue: str, shop: str) -> None:
    """An invoker's function put there after the check owns the caller, and may alter it."""
    (calls,) = column(db, "select oid::regprocedure::text from pg_proc where proname = '_call_poison_procedure'")
    db.execute("grant usage on schema howdah to howdah_nobody; set role howdah_nobody")
    db.execute(f"alter function {calls} security invoker set search_path = shop, pg_catalog".encode())
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        db.execute(f"alter function {calls} rename to other".encode())
    db.execute("reset role")
    went_the_usual_way(db, poison(db, "mine"), "it would run with the rights of howdah_owner")


def test_what_calls_it_has_no_rights(db: Db) -> None:
    if one(db, "select admin_role = producer_role from howdah.engine"):
        pytest.skip("installed in one-role mode")
    assert column(db, "select p.proowner::regrole::text from pg_proc p where p.proname = '_call_poison_procedure'") == [
        "howdah_nobody"
    ]
    assert one(db, "select has_schema_privilege('howdah_nobody', 'howdah', 'usage, create')") is False
    assert column(db, "select roleid::regrole::text from pg_auth_members where member = 'howdah_nobody'::regrole") == []


@pytest.mark.slow
def test_in_one_role_mode_howdahs_owner_calls_it(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as db:
        shop = f"shop_{db.info.dbname[-12:]}"
        migrate(empty_dsn, roles=Roles.one(db.info.user))
        db.execute(psycopg.sql.SQL("create role {0}; create schema shop authorization {0}").format(identifier(shop)))
        try:
            db.execute(psycopg.sql.SQL("grant usage on schema howdah to {}").format(identifier(shop)))
            make(db, shop, "begin raise warning 'runs as %', current_user; return true; end", language="plpgsql")
            one(db, "select howdah.create_queue('q', %s)", (Jsonb(OPTIONS),))
            said: list[str] = []
            db.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
            poison(db)
            assert receive(db) == []
            assert (said, dead(db)) == ([f"runs as {shop}"], [])
        finally:
            db.execute(psycopg.sql.SQL("drop owned by {0} cascade; drop role {0}").format(identifier(shop)))


def test_an_older_version_that_the_session_has_at_hand_does_not_run_with_the_rights_of_howdahs_owner(
    db: Db, queue: str, shop: str, connect: Connect
) -> None:
    """In a transaction that received before, a session takes no new lock: a replaced function goes unnoticed."""
    note = "begin raise warning 'runs as %', current_user; return true; end"

    def replace(by: Db, rights: str) -> None:
        make(by, shop, note, rights, "plpgsql")

    db.execute(
        psycopg.sql.SQL(
            "grant howdah_consumer to {0}; create table shop.fresh (); alter table shop.fresh owner to {0}"
        ).format(identifier(shop))
    )
    attacker, other = connect(), connect()
    attacker.execute(psycopg.sql.SQL("set session authorization {}").format(identifier(shop)))
    said: list[str] = []
    attacker.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
    replace(other, "security definer")
    with attacker.transaction():
        for _ in range(2):
            poison(db)
            assert receive(attacker) == []
        replace(other, "security invoker")
        attacker.execute("select from shop.fresh; select shop.poison(null, null)")
        replace(other, "security definer")
        poison(db)
        assert receive(attacker) == []
    assert set(said) >= {f"runs as {shop}"}
    assert [text for text in said if text.startswith("runs as") and text != f"runs as {shop}"] == []


@pytest.mark.first_case
@pytest.mark.parametrize("setting", ["role", "session_authorization"])
def test_a_set_clause_does_not_make_it_another_role(db: Db, queue: str, shop: str, setting: str) -> None:
    function = "alter function shop.poison(howdah.message, jsonb) set {} to {}"
    owner = one(db, "select pg_get_userbyid(nspowner)::text from pg_namespace where nspname = 'howdah'")
    db.execute(psycopg.sql.SQL(function).format(identifier(setting), identifier(owner)))
    went_the_usual_way(db, poison(db, "mine"), "cannot set parameter")
