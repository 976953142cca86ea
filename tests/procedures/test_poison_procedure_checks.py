"""A function that may not be a poison procedure is refused when it is set, and not called later."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from poison_procedure_support import OPTIONS, dead, make, poison, queue_of, raising, send, shop_of, went_the_usual_way
from psycopg.types.json import Jsonb
from support import SYSTEM, Connect, Db, column, fail, identifier, one, receive, refused


@pytest.fixture
def shop(db: Db) -> Iterator[str]:
    """A role of its own, which owns the schema shop and the functions in it."""
    with shop_of(db) as role:
        yield role


@pytest.fixture
def queue(db: Db, shop: str) -> str:
    return queue_of(db, shop)


@pytest.mark.slow
def test_the_function_is_checked_when_it_is_set(db: Db, shop: str, connect: Connect) -> None:
    one(db, "select howdah.create_queue('q')")

    def refuse(state: str, why: str, by: Db = db, name: Any = "shop.poison") -> None:
        options = Jsonb({"poison_procedure": name})
        with pytest.raises(psycopg.Error, match=why) as error:
            by.execute("select howdah.alter_queue('q', %s)", (options,))
        assert error.value.sqlstate == state

    refuse("HD004", "no such function")
    for name in ("poison", "a.b.c", "shop.poison(); drop table x", "", 7):
        refuse("HD004", "option poison_procedure cannot be", name=name)
    make(db, shop, rights="security invoker")
    refuse("HD004", "not SECURITY DEFINER")
    make(db, shop)
    owner = one(db, "select pg_get_userbyid(nspowner)::text from pg_namespace where nspname = 'howdah'")
    function = "alter function shop.poison(howdah.message, jsonb) owner to {}"
    db.execute(psycopg.sql.SQL(function).format(identifier(one(db, "select current_user"))))
    refuse("HD004", "a superuser")
    db.execute(psycopg.sql.SQL("grant create on schema shop to {}").format(identifier(owner)))
    db.execute(psycopg.sql.SQL(function).format(identifier(owner)))
    refuse("HD004", "may act as Howdah's owner|a superuser")
    db.execute(psycopg.sql.SQL(function).format(identifier(shop)))
    db.execute("revoke execute on function shop.poison from public")
    refuse("HD004", "may not EXECUTE")
    db.execute(psycopg.sql.SQL("grant execute on function shop.poison to {}").format(identifier(owner)))
    refuse("HD004", "may not EXECUTE")
    db.execute("grant execute on function shop.poison to howdah_nobody")
    refuse("HD010", "may not call shop.poison", connect("howdah_admin"))
    db.execute("grant execute on function shop.poison to public")
    refuse("42501", "permission denied", connect("howdah_consumer"))
    one(db, "select howdah.grant_queue('q', 'admin', 'howdah_consumer')")
    one(connect("howdah_admin"), "select howdah.alter_queue('q', %s)", (Jsonb(OPTIONS),))
    assert one(db, "select howdah.queue_options('q') ->> 'poison_procedure'") == "shop.poison"


@pytest.mark.slow
def test_only_an_administrator_sets_it_and_only_of_one_queue(db: Db, queue: str, connect: Connect) -> None:
    one(db, "select howdah.create_topic('t')")
    refused(
        connect("howdah_consumer"),
        "HD010",
        "select howdah.subscribe('t', 's', options => %s)",
        (Jsonb(OPTIONS),),
    )
    refused(db, "HD004", "select howdah.set_policy('a.*', %s)", (Jsonb(OPTIONS),))
    for contradiction in ({"decided_at": "failure"}, {"exception_mode": "none"}, {"preset": "howdah"}):
        refused(db, "HD004", "select howdah.alter_queue('q', %s)", (Jsonb(contradiction),))
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb({"poison_procedure": None, "decided_at": "failure"}),))
    message = send(db)
    fail(db, message)
    assert fail(db, message)[2] == "moved"


def test_one_that_was_replaced_by_an_invokers_function_is_not_called(db: Db, queue: str, shop: str) -> None:
    make(db, shop, rights="security invoker")
    went_the_usual_way(db, poison(db, "mine"), "not SECURITY DEFINER")


def test_one_that_was_dropped_or_made_again_by_another_role_is_not_called(db: Db, queue: str, shop: str) -> None:
    db.execute("drop function shop.poison")
    went_the_usual_way(db, poison(db, "mine"), "no such function")
    one(db, "select howdah.purge_queue(%s)", (SYSTEM,))
    make(db, shop)
    other = f"{shop}x"
    db.execute(psycopg.sql.SQL("create role {0}; grant create on schema shop to {0}").format(identifier(other)))
    try:
        db.execute(
            psycopg.sql.SQL("alter function shop.poison(howdah.message, jsonb) owner to {}").format(identifier(other))
        )
        went_the_usual_way(db, poison(db, "mine"), "not to")
    finally:
        db.execute(psycopg.sql.SQL("drop owned by {0} cascade; drop role {0}").format(identifier(other)))


def test_one_that_nobody_may_execute_any_more_is_not_called(db: Db, queue: str) -> None:
    db.execute("revoke execute on function shop.poison from public")
    went_the_usual_way(db, poison(db, "mine"), "may not EXECUTE")


def test_one_that_replaces_itself_is_undone(db: Db, queue: str, shop: str) -> None:
    make(
        db,
        shop,
        raising("execute 'alter function shop.poison(howdah.message, jsonb) security invoker'"),
        language="plpgsql",
    )
    went_the_usual_way(db, poison(db, "mine"), "replaced while it ran")


def test_under_an_older_snapshot_it_is_not_called(db: Db, queue: str) -> None:
    message = poison(db, "mine")
    with db.transaction():
        db.execute("set transaction isolation level repeatable read")
        went_the_usual_way(db, message, "not READ COMMITTED")


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("poison", "m howdah.message, i jsonb, more integer default 0"),
        ("poison", "m howdah.message, variadic i jsonb[]"),
        ("poison", "m anyelement, i jsonb"),
        ("poison", "m record, i jsonb"),
        ("Poison", "m howdah.message, i jsonb"),
    ],
)
def test_a_function_of_like_name_is_not_called_in_its_place(
    db: Db, queue: str, shop: str, name: str, arguments: str
) -> None:
    try:
        db.execute(
            f'create function shop."{name}"({arguments}) returns boolean language plpgsql as'
            " $$ begin raise exception 'wrong one'; end $$".encode()
        )
    except psycopg.errors.InvalidFunctionDefinition:
        pytest.skip("PostgreSQL has no such function")
    message = poison(db, "mine")
    assert receive(db) == []
    if "default" in arguments:  # which of the two is meant nobody can tell
        assert "42725" in dead(db)[0][1]
    else:
        assert column(db, "select message_id from shop.poisoned") == [message]
    db.execute("drop function shop.poison(howdah.message, jsonb)")
    one(db, "select howdah.purge_queue(%s)", (SYSTEM,))
    poison(db, "mine")
    assert receive(db) == []
    assert "no such function" in dead(db)[0][1]


def test_attributes_of_a_name_do_not_pass_for_those_of_the_function(db: Db, queue: str, shop: str) -> None:
    db.execute("drop function shop.poison(howdah.message, jsonb)")
    db.execute(psycopg.sql.SQL("set role {}").format(identifier(shop)))
    db.execute(
        'create function shop.poison("m\n SECURITY DEFINER" howdah.message,'
        ' "i\n LANGUAGE sql\n SECURITY DEFINER" jsonb) returns boolean language plpgsql'
        " as $$ begin raise exception 'ran'; end $$"
    )
    db.execute("reset role")
    assert not one(
        db,
        "select howdah._function_is_definers('shop.poison', 'shop.poison(howdah.message,jsonb)'::regprocedure,"
        " 'poison procedure')",
    )
    db.execute(
        "alter function shop.poison(howdah.message, jsonb) security definer stable strict"
        " leakproof parallel safe cost 7"
    )
    assert one(
        db,
        "select howdah._function_is_definers('shop.poison', 'shop.poison(howdah.message,jsonb)'::regprocedure,"
        " 'poison procedure')",
    )
