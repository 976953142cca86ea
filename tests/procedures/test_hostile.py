"""What an attacker with few rights tries, and what stops him."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from psycopg import sql
from support import Connect, Db, column, identifier, one, refused

# What the attacker's functions do wherever PostgreSQL runs them: they note what they got.
TRAP = """
create table lair.loot (got text);
grant insert on lair.loot to public;
create function lair.tried(what text) returns void language plpgsql volatile as $$
begin
    execute 'insert into lair.loot select ''GOT '' || ' || what;
exception when others then
    insert into lair.loot values (sqlstate);
end $$;
create function lair.steal() returns integer language plpgsql volatile as $$
begin
    perform lair.tried('m.body from howdah.browse(''secret'') m'),
        lair.tried('m.body from howdah.receive(''secret'') m'),
        lair.tried('m.body from howdah.lease(''secret'') m'), lair.tried('howdah.send(''secret'', ''forged'')'),
        lair.tried('m.msg from howdah.activemq_msgs m'), lair.tried('howdah.acquire_lock(''other'', ''evil'')'),
        lair.tried('howdah.release_lock(''mine'', 1, ''me'')'),
        lair.tried('lock_epoch from howdah.hold_audit(''evil'')'),
        lair.tried('howdah.release_audit(1)'), lair.tried('howdah.record_audit(now(), 0, ''none'', now())'),
        lair.tried('howdah.end_conversation(gen_random_uuid())'), lair.tried('howdah.create_temporary_queue()'),
        lair.tried('howdah.close_connection()'), lair.tried('howdah.claim_client_id(''evil'')'),
        lair.tried('howdah.release_client_id()'), lair.tried('howdah.subscribe(''>'', ''evil'')'),
        lair.tried('howdah.schedule(''secret'', ''forged'', delay => ''1 s'')'),
        lair.tried('howdah.open_consumer(''secret'')');
    return 1;
end $$;
create function lair.looks_harmless(integer) returns integer language sql immutable as 'select 1';
create table lair.bait (n integer);
insert into lair.bait values (1), (2);
create index bait_index on lair.bait (lair.looks_harmless(n));
create materialized view lair.shown as select lair.looks_harmless(1) as n;
create or replace function lair.looks_harmless(integer) returns integer language plpgsql immutable
    as $$ begin return lair.steal(); end $$;
"""

Ordinary = Callable[..., str]


def has_maintain(db: Db) -> bool:
    return db.info.server_version >= 170000


@pytest.mark.first_case
@pytest.mark.parametrize("victim", ["superuser", "pg_maintain", "granted to everybody", "the owner's group"])
def test_code_that_a_maintenance_command_runs_has_no_right_of_whoever_maintains(
    attacker: Db, ordinary: Ordinary, become: Callable[[str], Db], db: Db, victim: str
) -> None:
    if victim in {"pg_maintain", "granted to everybody"} and not has_maintain(db):
        pytest.skip("since PostgreSQL 17")
    role = ordinary("victim", "howdah_admin", *(["pg_maintain"] if victim == "pg_maintain" else []))
    attacker.execute(TRAP)
    if victim == "granted to everybody":
        attacker.execute("grant maintain on lair.bait, lair.shown to public")
    elif victim == "the owner's group":
        group = ordinary("group")
        for member in (role, attacker.execute("select session_user::text").fetchone()[0]):  # type: ignore[index]
            db.execute(sql.SQL("grant {} to {}").format(identifier(group), identifier(member)))
        db.execute(sql.SQL("grant usage, create on schema lair to {}").format(identifier(group)))
        for table in ("table lair.bait", "materialized view lair.shown"):
            db.execute(sql.SQL("alter {} owner to {}").format(sql.SQL(table), identifier(group)))
        db.execute(sql.SQL("grant howdah_consumer, howdah_producer, howdah_auditor to {}").format(identifier(group)))
    session = db if victim == "superuser" else become(role)
    assert "hush" in column(session, "select body from howdah.browse('secret')") or victim == "superuser"
    assert one(session, "select howdah.acquire_lock('mine', 'me')") == 1
    for command in ("analyze lair.bait", "vacuum analyze lair.bait", "reindex table lair.bait", "analyze"):
        session.execute(command.encode())
    session.execute("refresh materialized view lair.shown")
    assert set(column(db, "select got from lair.loot")) == {"HD010"}
    assert one(session, "select howdah.acquire_lock('mine', 'me')") == 1, "nobody released it"
    session.execute("select lair.looks_harmless(1)")
    if victim != "superuser":
        assert "GOT hush" in column(db, "select got from lair.loot"), (
            "who calls it himself lends it his rights, as in PostgreSQL"
        )


@pytest.mark.parametrize(
    "statement",
    [
        "create trigger t before insert on pg_temp.howdah_copy for each row execute function lair.fired()",
        "create rule r as on insert to pg_temp.howdah_copy do also select lair.steal()",
        "create index on pg_temp.howdah_copy (lair.looks_harmless(priority))",
        "alter table pg_temp.howdah_copy alter priority set default lair.steal()",
        "alter table pg_temp.howdah_copy rename to other",
        "create policy p on pg_temp.howdah_copy using (lair.steal() = 1)",
        "create table pg_temp.child () inherits (pg_temp.howdah_copy)",
        "drop table pg_temp.howdah_copy",
        "select * from pg_temp.howdah_copy",
    ],
)
def test_who_copies_makes_nothing_run_with_the_owners_rights(attacker: Db, db: Db, statement: str) -> None:
    attacker.execute(TRAP)
    attacker.execute(
        "create function lair.fired() returns trigger language plpgsql as"
        " $$ begin perform lair.steal(); return new; end $$"
    )
    with attacker.transaction(force_rollback=True):
        one(attacker, "select howdah.begin_copy()")
        refused(attacker, "42501", statement)
    attacker.execute("create temporary table howdah_copy (body text)")
    refused(attacker, "HD005", "select howdah.send_copied('secret')")


def test_a_membership_reached_through_a_role_without_inherit_is_none(attacker: Db, ordinary: Ordinary, db: Db) -> None:
    if db.info.server_version < 160000:
        pytest.skip("grants with options since PostgreSQL 16")
    team, holder, me = ordinary("team"), ordinary("holder"), one(attacker, "select session_user::text")
    one(db, "select howdah.grant_queue('secret', 'receive', %s)", (holder,))
    for granted, to, how in ((holder, team, "inherit true"), (team, me, "inherit false, set true")):
        db.execute(sql.SQL("grant {} to {} with " + how).format(identifier(granted), identifier(to)))
    refused(attacker, "HD010", "select * from howdah.receive('secret')")
    db.execute(sql.SQL("grant howdah_consumer to {}").format(identifier(team)))
    attacker.execute(sql.SQL("set role {}").format(identifier(team)))
    assert column(attacker, "select body from howdah.receive('secret')") == ["hush"], "but SET ROLE takes it"


def test_a_name_that_a_wrapper_or_a_default_argument_passes_gives_no_right(
    attacker: Db, ordinary: Ordinary, become: Callable[[str], Db], db: Db
) -> None:
    trusted, me = ordinary("trusted", "howdah_consumer"), one(attacker, "select session_user::text")
    one(db, "select howdah.grant_queue('secret', 'receive', %s)", (trusted,))
    wrapper = (
        "create function lair.{}(who text default session_user) returns setof text language {} as"
        " $$ select body from howdah.receive('secret') $$"
    )
    db.execute(sql.SQL("grant create on schema lair to {}").format(identifier(trusted)))
    owner = become(trusted)
    owner.execute(wrapper.format("theirs", "sql security definer").encode())
    attacker.execute(wrapper.format("mine", "sql").encode())
    for name in ("theirs", "mine"):
        refused(attacker, "HD010", f"select lair.{name}()")
        refused(attacker, "HD010", f"select lair.{name}(%s)", (trusted,))
    refused(attacker, "42501", "select set_config('role', %s, false)", (trusted,))
    assert one(owner, "select howdah.acquire_lock('l', %s)", (trusted,)) == 1
    assert one(attacker, "select howdah.acquire_lock('l', %s)", (trusted,)) is None, "the holder's name is no proof"
    one(db, "select howdah.create_queue('q')")
    sent = one(db, "select howdah.send('q', 'x')")
    one(attacker, "select outcome from howdah.record_failure('q', %s, 'no', worker => %s)", (sent, trusted))
    assert column(db, "select recorded_by from howdah.poison_details") == [me]
    assert column(owner, "select * from lair.mine()") == ["hush"], "who calls a function of others lends it his rights"


def test_superusers_have_the_rights_of_the_roles_granted_to_them_directly_or_not_and_of_no_others(
    ordinary: Ordinary, become: Callable[[str], Db], db: Db
) -> None:
    outer, inner, root = ordinary("outer"), ordinary("inner"), ordinary("root")
    db.execute(sql.SQL("alter role {} superuser").format(identifier(root)))
    one(db, "select howdah.create_queue('q')")
    for verb, holder in db.execute("select verb, role from howdah.list_grants('q')").fetchall():
        one(db, "select howdah.revoke_queue('q', %s, %s)", (verb, holder)) if holder != "howdah_admin" else None
    one(db, "select howdah.grant_queue('q', 'browse', %s)", (inner,))
    session = become(root)
    why = refused(session, "HD010", "select * from howdah.browse('q')").message_hint
    assert why
    assert why.startswith("A superuser has no right by that alone")
    assert refused(session, "HD010", "select howdah.create_queue('r')").message_hint == why
    db.execute(sql.SQL("grant {} to {}; ").format(identifier(inner), identifier(outer)))
    db.execute(sql.SQL("grant {} to {}").format(identifier(outer), identifier(root)))
    assert column(session, "select body from howdah.browse('q')") == []
    db.execute(sql.SQL("revoke {} from {}").format(identifier(outer), identifier(root)))
    refused(session, "HD010", "select * from howdah.browse('q')")
    db.execute(sql.SQL("grant {} to {}").format(identifier(inner), identifier(root)))
    assert column(session, "select body from howdah.browse('q')") == []


@pytest.mark.first_case
@pytest.mark.parametrize("how", ["drop role {0}", "alter role {0} rename to {1}"])
def test_the_right_of_a_role_that_is_gone_hinders_nobody_and_is_named_and_taken_back(
    connect: Connect, db: Db, how: str
) -> None:
    gone, renamed = f"aaa_{db.info.dbname[-12:]}", f"aab_{db.info.dbname[-12:]}"
    db.execute(sql.SQL("create role {}").format(identifier(gone)))
    one(db, "select howdah.create_queue('q')")
    verbs = ("send", "receive", "browse", "admin")
    for verb in verbs:
        assert one(db, "select howdah.grant_queue('q', %s, %s)", (verb, gone))
    db.execute(sql.SQL(how).format(identifier(gone), identifier(renamed)))
    producer, consumer, admin = connect("howdah_producer"), connect("howdah_consumer"), connect("howdah_admin")
    for body in ("a", "b"):
        one(producer, "select howdah.send('q', %s)", (body,))
    assert column(consumer, "select body from howdah.browse('q')") == ["a", "b"]
    assert column(consumer, "select body from howdah.receive_locked('q')") == ["a"]
    assert column(consumer, "select body from howdah.receive('q')") == ["a"]
    assert one(admin, "select howdah.purge_queue('q')") == 1
    consumer.execute("select * from howdah.list_listeners()")
    assert {role for _, role in admin.execute("select verb, role from howdah.list_grants('q')")} >= {gone}
    named = "select value from howdah.check_server() where setting = %s order by 1"
    assert column(admin, named, (f"right of {gone}",)) == sorted(f"{verb} q" for verb in verbs)
    for verb in verbs:
        assert one(admin, "select howdah.revoke_queue('q', %s, %s)", (verb, gone))
        assert not one(admin, "select howdah.revoke_queue('q', %s, %s)", (verb, gone)), "a second call"
    assert column(admin, named, (f"right of {gone}",)) == []
    if "rename" in how:
        db.execute(sql.SQL("drop role {}").format(identifier(renamed)))


def test_the_queues_of_the_system_are_persistent_whoever_needs_them_first(db: Db) -> None:
    one(
        db,
        "select howdah.create_queue('q', %s)",
        ('{"persistent": false, "exception_mode": "dead_letter", "disable_after": 1}',),
    )
    made = column(
        db, "select name from howdah.destinations where is_system and own_persistent and persistent order by 1"
    )
    assert {"SYSTEM.DEAD.LETTER.QUEUE", "_SYSTEM.Advisory"} <= set(made)
