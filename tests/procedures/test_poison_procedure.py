"""A queue's own poison procedure.

When it is called and as whom, what its answer means, and which functions are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb
from support import SYSTEM, Connect, Db, column, fail, identifier, one, receive, refused, wait_until_blocked

from howdah.migrations import migrate
from howdah.procedures import Roles

OPTIONS = {"max_failed_deliveries": 2, "poison_procedure": "shop.poison"}
GOOD = """
    insert into shop.poisoned (message_id, body, incidents, done_as) values
        (($1).message_id, ($1).body, $2, current_user);
    select ($1).body = 'mine'
"""


WAYS: dict[str, tuple[dict[str, object], str]] = {
    "receive": ({}, "receive('q')"),
    "receive several": ({}, "receive('q', 5)"),
    "receive by selector": ({}, "receive('q', 1, selector => 'true')"),
    "receive_locked": ({}, "receive_locked('q', 2)"),
    "receive of a wildcard": ({}, "receive('*', 5)"),
    "receive_message": ({}, "receive_message('q', {message})"),
    "receive_correlated": ({}, "receive_correlated('q', 'c')"),
    "lease": ({}, "lease('q')"),
    "lease several": ({}, "lease('q', 3)"),
    "strict order": ({"strict_order": True}, "receive('q')"),
    "a group a transaction": ({"message_groups": "transaction"}, "receive('q')"),
    "several of groups": ({"message_groups": "transaction"}, "receive('q', 5)"),
    "groups by selector": ({"message_groups": "transaction"}, "receive('q', 5, selector => 'true')"),
    "groups in strict order": ({"message_groups": "transaction", "strict_order": True}, "receive('q')"),
    "lease of a group": ({"message_groups": "transaction"}, "lease('q', 3)"),
}
"""Options of the queue, and how a consumer asks for a message that was sent with a correlation id, in a group."""


@pytest.fixture
def shop(db: Db) -> Iterator[str]:
    """A role of its own, which owns the schema shop and the functions in it."""
    role = f"shop_{db.info.dbname[-12:]}"
    db.execute(psycopg.sql.SQL("create role {0}; create schema shop authorization {0}").format(identifier(role)))
    db.execute(
        psycopg.sql.SQL(
            "grant usage on schema howdah to {0}; grant usage on schema shop to public; set role {0};"
            " create table shop.poisoned (n bigserial, message_id bigint, body text, incidents jsonb, done_as text);"
            " reset role"
        ).format(identifier(role))
    )
    yield role
    db.execute("reset role")
    db.execute(psycopg.sql.SQL("drop owned by {0} cascade; drop role {0}").format(identifier(role)))


def send(db: Db, **more: Any) -> int:
    """Send to q."""
    named = "".join(f', "{name}" => %s' for name in more if name != "body")
    values = [value for name, value in more.items() if name != "body"]
    return int(one(db, f"select howdah.send('q', %s{named})", (more.get("body", "x"), *values)))


def make(db: Db, owner: str, body: str = GOOD, rights: str = "security definer", language: str = "sql") -> None:
    """Replace shop.poison."""
    db.execute(psycopg.sql.SQL("set role {}").format(identifier(owner)))
    db.execute(
        f"create or replace function shop.poison(howdah.message, jsonb) returns boolean language {language}"
        f" volatile {rights} set search_path = pg_catalog, pg_temp as $body${body}$body$".encode()
    )
    db.execute("reset role")


def raising(what: str) -> str:
    return f"begin insert into shop.poisoned (body) values ('undone'); {what}; return true; end"


@pytest.fixture
def queue(db: Db, shop: str) -> str:
    make(db, shop)
    one(db, "select howdah.create_queue('q', %s)", (Jsonb(OPTIONS),))
    return "q"


def poison(db: Db, body: str = "x", failures: int = 2, **more: Any) -> int:
    """A message at its limit, still in its queue."""
    sent: int = send(db, body=body, **more)
    for _ in range(failures):
        fail(db, sent, error_text=f"broken {body}")
    return sent


def dead(db: Db) -> list[tuple[int, str]]:
    return db.execute("select message_id, dead_reason from howdah.browse(%s, 100)", (SYSTEM,)).fetchall()


def went_the_usual_way(db: Db, message: int, why: str) -> None:
    """What a receive does with a message whose procedure cannot be called."""
    assert receive(db) == []
    ((found, reason),) = dead(db)
    assert found == message
    assert "poison procedure shop.poison failed" in reason
    assert why in reason
    assert column(db, "select body from shop.poisoned") == []


@pytest.mark.first_case
@pytest.mark.parametrize("way", WAYS)
def test_it_is_called_in_the_receive_with_the_message_and_its_incidents_and_as_its_owner(
    db: Db, queue: str, shop: str, connect: Connect, way: str
) -> None:
    options, call = WAYS[way]
    if options:
        one(db, "select howdah.alter_queue('q', %s)", (Jsonb(options),))
    message = poison(db, "mine", correlation_id="c", headers=Jsonb({"JMSXGroupID": "g"}))
    assert column(db, "select body from shop.poisoned") == [], "not before a receive"
    consumer = connect("howdah_consumer")
    asked = f"select message_id from howdah.{call.format(message=message)}"
    consumer.execute("begin")
    assert column(consumer, asked) == []
    assert column(db, "select body from shop.poisoned") == []
    consumer.execute("rollback")
    assert column(db, "select body from shop.poisoned") == [], "what it did is undone with the receive"
    assert column(consumer, asked) == []
    ((found, body, incidents, done_as),) = db.execute(
        "select message_id, body, incidents, done_as from shop.poisoned"
    ).fetchall()
    assert (found, body, done_as) == (message, "mine", shop)
    assert [(i["attempt"], i["error_text"]) for i in incidents] == [(1, "broken mine"), (2, "broken mine")]
    assert dead(db) == []
    reason = "select reason from howdah.journal where event = 'discarded'"
    assert "dealt with by poison procedure shop.poison" in one(db, reason)


def test_what_it_does_not_deal_with_goes_the_usual_way(db: Db, queue: str) -> None:
    message = poison(db, "not mine")
    assert receive(db) == []
    assert [found for found, _ in dead(db)] == [message]
    assert column(db, "select body from shop.poisoned") == ["not mine"]


def test_a_rejected_message_is_dealt_with_by_the_next_receive(db: Db, queue: str) -> None:
    sent = send(db, body="mine")
    assert fail(db, sent, reject=True)[2] == "returned"
    assert receive(db) == []
    assert column(db, "select message_id from shop.poisoned") == [sent]
    assert dead(db) == []


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("raise exception 'it broke'", "P0001: it broke"),
        ("perform 1 / 0", "22012: division by zero"),
        ("assert false, 'never'", "P0004: never"),
        ("delete from howdah.msgs", "42501: permission denied"),
        ("perform set_config('role', 'howdah_admin', false)", "42501: cannot set parameter"),
    ],
)
def test_an_error_of_it_is_undone_and_recorded_and_the_message_goes_the_usual_way(
    db: Db, queue: str, shop: str, what: str, why: str
) -> None:
    one(db, "select howdah.alter_queue('q', '{\"notify_admin\": true}')")
    make(db, shop, raising(what), language="plpgsql")
    good = send(db, body="good", priority=0)
    message = poison(db)
    assert [m.message_id for m in receive(db)] == [good], "the receive goes on"
    ((found, reason),) = dead(db)
    assert found == message
    assert f"poison procedure shop.poison failed: {why}" in reason
    assert column(db, "select body from shop.poisoned") == []
    told = "select body::jsonb ->> 'procedure' from howdah.browse('_SYSTEM.Advisory') where message_type = %s"
    assert column(db, told, ("POISON_PROCEDURE_FAILED",)) == ["shop.poison"]


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


@pytest.mark.slow
def test_a_subscription_has_one_too(db: Db, queue: str) -> None:
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's', options => %s)", (Jsonb(OPTIONS),))
    for body in ("mine", "other"):
        one(db, "select howdah.send('t', %s)", (body,))
    for message in column(db, "select message_id from howdah.browse('t::s')"):
        for _ in range(2):
            fail(db, message, queue="t::s")
    assert receive(db, "t::s", 9) == []
    assert column(db, "select body from shop.poisoned order by n") == ["mine", "other"]
    assert len(dead(db)) == 1


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


def test_it_makes_no_later_statement_of_the_receive_call_functions_of_its_owner(
    db: Db, queue: str, shop: str, connect: Connect
) -> None:
    db.execute(psycopg.sql.SQL("set role {}").format(identifier(shop)))
    for name, arguments in (("split_part", "text, text, integer"), ("format", "text, text, text")):
        db.execute(
            f"create function shop.{name}({arguments}) returns text language plpgsql as"
            " $$ begin raise warning 'runs as %', current_user; return 'x'; end $$".encode()
        )
    db.execute("reset role")
    make(
        db, shop, raising("perform set_config('search_path', 'shop, pg_catalog', false)"), "security definer", "plpgsql"
    )
    db.execute("alter function shop.poison(howdah.message, jsonb) reset search_path")
    consumer = connect("howdah_consumer")
    said: list[str] = []
    consumer.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
    poison(db)
    assert receive(consumer) == []
    assert [text for text in said if text.startswith("runs as")] == []
    assert "it changed search_path" in dead(db)[0][1]
    assert one(consumer, "show search_path") == one(db, "show search_path")


@pytest.mark.first_case
@pytest.mark.parametrize("setting", ["standard_conforming_strings", "row_security", "default_transaction_read_only"])
@pytest.mark.parametrize("local", ["false", "true"])
def test_a_setting_that_it_leaves_changed_is_a_failure_of_it(
    db: Db, queue: str, shop: str, setting: str, local: str
) -> None:
    before = one(db, "select current_setting(%s)", (setting,))
    other = "off" if before == "on" else "on"
    make(db, shop, raising(f"perform set_config('{setting}', '{other}', {local})"), language="plpgsql")
    went_the_usual_way(db, poison(db), f"it changed {setting}")
    assert one(db, "select current_setting(%s)", (setting,)) == before


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


@pytest.mark.first_case
@pytest.mark.parametrize("setting", ["role", "session_authorization"])
def test_a_set_clause_does_not_make_it_another_role(db: Db, queue: str, shop: str, setting: str) -> None:
    function = "alter function shop.poison(howdah.message, jsonb) set {} to {}"
    owner = one(db, "select pg_get_userbyid(nspowner)::text from pg_namespace where nspname = 'howdah'")
    db.execute(psycopg.sql.SQL(function).format(identifier(setting), identifier(owner)))
    went_the_usual_way(db, poison(db, "mine"), "cannot set parameter")


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


@pytest.mark.first_case
@pytest.mark.parametrize("ends", ["return true", "raise exception 'no'"])
def test_it_does_not_see_the_secret_with_which_attempts_are_begun(db: Db, queue: str, shop: str, ends: str) -> None:
    """Whoever knows it receives from hardened queues without an attempt on record."""
    poison(db)
    one(db, "select howdah.alter_queue('q', '{\"backout_count\": \"hardened\"}')")
    make(
        db,
        shop,
        f"begin raise warning 'seen: %', current_setting('howdah.attempting', true); {ends}; end",
        language="plpgsql",
    )
    said: list[str] = []
    db.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
    good = send(db, body="good")
    assert column(db, "select message_id from howdah.begin_attempts('q')") == [good], "and goes on with its attempts"
    assert [text for text in said if text.startswith("seen")] == ["seen: "]


@pytest.mark.first_case
@pytest.mark.parametrize("ends", ["return true", "raise exception 'no'"])
def test_it_does_not_see_the_token_of_the_connection_which_is_the_sessions_again_afterwards(
    db: Db, queue: str, shop: str, ends: str
) -> None:
    token = "the-token-of-a-connection"
    db.execute("select howdah.set_connection(%s)", (token,))
    note = f"begin raise warning 'seen: %', current_setting('howdah.connection', true); {ends}; end"
    make(db, shop, note, language="plpgsql")
    said: list[str] = []
    db.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
    poison(db)
    assert receive(db) == []
    assert [text for text in said if text.startswith("seen")] == ["seen: "]
    assert one(db, "select current_setting('howdah.connection')") == token


@pytest.mark.first_case
@pytest.mark.parametrize("setting", ["connection", "client_id"])
def test_it_does_not_make_the_session_another_clients(db: Db, queue: str, shop: str, setting: str) -> None:
    db.execute(f"select howdah.set_{setting}('the-sessions-own-name')".encode())
    taken = f"perform set_config('howdah.{setting}', 'the-name-of-another-one', false)"
    make(db, shop, raising(taken), language="plpgsql")
    went_the_usual_way(db, poison(db), f"it changed howdah.{setting}")
    assert one(db, "select current_setting(%s)", (f"howdah.{setting}",)) == "the-sessions-own-name"


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("execute 'prepare theirs as select 1'", "it left a prepared statement"),
        ("execute 'deallocate ours'; execute 'prepare ours as select 1'", "it left a prepared statement"),
        ("execute 'prepare theirs as select 1'; raise exception 'no'", "P0001: no"),
        ("execute 'declare theirs cursor with hold for select 1'", "a cursor WITH HOLD"),
    ],
)
def test_it_leaves_no_statement_and_no_cursor_for_the_session_to_use(
    db: Db, queue: str, shop: str, what: str, why: str
) -> None:
    db.execute("prepare ours as select 1; begin; declare mine cursor with hold for select 1; commit")
    make(db, shop, raising(what), language="plpgsql")
    went_the_usual_way(db, poison(db), why)
    left = column(db, "select name from pg_prepared_statements where from_sql")
    assert left == ([] if "deallocate" in what else ["ours"])
    assert column(db, "select name from pg_cursors where is_holdable") == ["mine"]


def test_one_that_prepares_and_tidies_up_is_no_failure(db: Db, queue: str, shop: str) -> None:
    make(
        db, shop, "begin execute 'prepare theirs as select 1'; deallocate theirs; return true; end", language="plpgsql"
    )
    poison(db)
    assert receive(db) == []
    assert dead(db) == []
