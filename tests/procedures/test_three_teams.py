"""Three teams in one database: none of them uses or sees what another one has."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from support import Connect, Db, column, identifier, one, refused

TEAMS = ("shop", "kitchen", "till")

#: Of a team's, in every name and body that another team must not see.
MARK = "zebra"

#: What lists show to everybody by design: objects are a directory, and policies belong to the engine.
SHOWN_TO_ALL = ("list_objects", "list_policies")


@pytest.fixture
def teams(db: Db) -> Iterator[dict[str, str]]:
    """Each team's role, by the team's name. The names of a team begin with its own and a dot."""
    if not one(db, "select rolsuper from pg_roles where rolname = current_user"):
        pytest.skip("only a superuser makes roles and becomes others")
    roles = {team: f"{team}_{db.info.dbname[-12:]}" for team in TEAMS}
    rules = ["connection.NORMAL.allow.user=*", "connection.ADMIN.allow.group=howdah_admin"]
    for kind in ("queue", "topic"):
        operations = ("produce", "consume", "browse", "create")
        rules += [f"{kind}.*.{operation}.allow.group=howdah_admin" for operation in (*operations, "admin")]
        for team, role in roles.items():
            rules += [f"{kind}.{team}.>.{operation}.allow.group={role},howdah_admin" for operation in operations]
    # answers to requests: a temporary queue is read by its own connection alone, whatever rules say
    rules += ["queue._TEMP.>.produce.allow.user=*", "queue._TEMP.>.consume.allow.user=*"]
    for role in roles.values():
        db.execute(
            sql.SQL("create role {0}; grant howdah_producer, howdah_consumer, howdah_browser to {0}").format(
                identifier(role)
            )
        )
    one(db, "select howdah.create_rule_set('teams')")
    one(db, "select howdah.import_rules('teams', %s)", ("\n".join(rules),))
    one(db, 'select howdah.alter_engine(\'{"rule_set": "teams", "autocreate_queue": true, "autocreate_topic": true}\')')
    yield roles
    for role in roles.values():
        db.execute(sql.SQL("drop owned by {0} cascade; drop role {0}").format(identifier(role)))


@pytest.fixture
def shop(db: Db, connect: Connect, teams: dict[str, str]) -> Db:
    """A session of the team shop, which has one of everything."""
    one(db, "select howdah.create_queue('shop.zebra')")
    one(db, "select howdah.create_topic('shop.zebras')")
    one(db, "select howdah.create_queue('shop.zebra.dead')")
    one(db, "select howdah.alter_queue('shop.zebra', '{\"exception_queue\": \"shop.zebra.dead\"}')")
    one(db, "select howdah.create_alias('shop.alias.zebra', 'shop.zebra')")
    one(db, "select howdah.create_listener('zebra', 'shop.zebra')")
    one(db, "select howdah.create_link('zebra', 'shop.zebra', 'zebra', 'elsewhere')")
    one(db, "select howdah.pause_link('zebra')")
    db.execute(
        "insert into howdah.link_arrivals (link_id, engine_id, batch, created_at, arrived_at, link_name, engine_name,"
        " source_queue, arrived_as) select gen_random_uuid(), gen_random_uuid(), 1, now(), now(), 'far', 'far', name,"
        " 'far' from unnest(array['shop.zebra', 'shop.zebras::zebra']) name"
    )
    session = connect(teams["shop"])
    one(session, "select howdah.subscribe('shop.zebras', 'zebra', durable => true)")
    one(session, "select howdah.send('shop.zebras', 'zebra')")
    (failing,) = column(session, "select howdah.send('shop.zebra', 'a zebra that fails')")
    one(
        session,
        "select outcome from howdah.record_failure('shop.zebra', %s, 'ZebraError', 'the zebra is ill')",
        (failing,),
    )
    for _ in range(3):
        one(session, "select howdah.send('shop.zebra', 'a zebra')")
    one(session, "select howdah.schedule('shop.zebra', 'zebra', delay => '1 hour', name => 'zebra')")
    one(session, "select howdah.open_consumer('shop.zebra')")
    one(session, "select howdah.create_temporary_queue()")
    one(session, "select count(*) from howdah.lease('shop.zebra', 1)")
    one(session, "select howdah.log('WARNING', 'the zebra is ill')")
    return session


@pytest.fixture
def ken(connect: Connect, shop: Db, teams: dict[str, str]) -> Db:
    """A session of the team kitchen."""
    return connect(teams["kitchen"])


def readings(db: Db, role: str) -> list[str]:
    """Calls of what a role may call without an argument, and that changes nothing."""
    return column(
        db,
        "select p.proname from pg_proc p where p.pronamespace = 'howdah'::regnamespace and p.prokind = 'f'"
        " and p.pronargs = p.pronargdefaults and has_function_privilege(%s, p.oid, 'execute')"
        " and (p.proretset or p.prorettype in ('jsonb'::regtype, 'text'::regtype))"
        " and p.proname !~ '^(_|maintain|process|create|close|claim|release|fire|due)' order by 1",
        (role,),
    )


def shown(session: Db, call: str) -> str:
    """All that a call returns, or the error that refuses it."""
    try:
        return "".join(filter(None, column(session, call)))
    except psycopg.errors.OperationalError as error:  # what Howdah refuses
        return str(error)


def test_no_list_figure_log_or_record_shows_what_another_team_has(
    db: Db, shop: Db, ken: Db, teams: dict[str, str]
) -> None:
    names = set(readings(db, teams["kitchen"]))
    assert names >= {"list_queues", "list_topics", "list_changes", "list_log", "queue_stats", "incidents"}
    seen_by_shop = set()
    for name in sorted(names - set(SHOWN_TO_ALL)):
        call = f"select to_jsonb(t)::text from howdah.{name}() t"
        assert MARK not in shown(ken, call), name
        if MARK in shown(shop, call):
            seen_by_shop.add(name)
    assert seen_by_shop >= {
        "list_aliases",
        "list_arrivals",
        "list_links",
        "list_listeners",
        "list_log",
        "list_changes",
        "list_queues",
        "list_schedules",
        "list_subscriptions",
        "list_topics",
        "queue_stats",
        "incidents",
    }, "the owner of it all sees it"


def test_an_auditor_and_an_administrator_see_all_names(connect: Connect, shop: Db) -> None:
    for role in ("howdah_auditor", "howdah_admin"):
        assert one(connect(role), "select count(*) from howdah.list_arrivals()") == 2
        assert "shop.zebra" in column(connect(role), "select queue from howdah.list_queues()")
        assert "shop.zebra" in column(connect(role), "select queue_name from howdah.queue_stats()")


#: Each is refused, or finds nothing.
TRIED = {
    "HD010": [
        "select howdah.send('shop.zebra', 'x')",
        "select howdah.send('shop.alias.zebra', 'x')",
        "select howdah.send('shop.zebras', 'x')",
        "select howdah.send('kitchen.own,shop.zebra', 'x')",
        "select howdah.send('topic://shop.zebras', 'x')",
        "select howdah.send('shop.new', 'x')",
        "select howdah.send('topic://shop.new', 'x')",
        "select howdah.send('shopping', 'x')",
        "select howdah.send_batch('shop.zebra', array['x'])",
        "select howdah.schedule('shop.zebra', 'x', delay => '1 s')",
        "select * from howdah.receive('shop.zebra')",
        "select * from howdah.receive('shop.alias.zebra')",
        "select * from howdah.receive_locked('shop.zebra')",
        "select * from howdah.receive('shop.zebras::zebra')",
        "select * from howdah.receive('shop.new')",
        "select * from howdah.lease('shop.zebra', 1)",
        "select * from howdah.browse('shop.zebra')",
        "select * from howdah.browse('shop.zebra.dead')",
        "select howdah.subscribe('shop.zebras', 'mine')",
        "select howdah.subscribe('shop.new', 'mine')",
        "select howdah.unsubscribe('shop.zebras::zebra')",
        "select howdah.open_consumer('shop.zebra')",
        "select * from howdah.list_consumers('shop.zebra')",
        "select * from howdah.list_leases('shop.zebra')",
        "select * from howdah.queue_stats('shop.zebra')",
        "select * from howdah.incidents('shop.zebra')",
        "select * from howdah.list_bridges('shop.zebras')",
        "select howdah.record_failure('shop.zebra', 1, 'E', 'x')",
    ],
    "HD001": [
        "select howdah.queue_options('shop.zebra')",
        "select howdah.topic_options('shop.zebras')",
        "select * from howdah.list_subscriptions('shop.zebras')",
    ],
    "42501": [
        "select * from howdah.list_grants('shop.zebra')",
        "select * from howdah.explain_access('howdah_admin', 'queue', 'shop.zebra', 'produce')",
        "select * from howdah.list_rules('teams')",
        "select * from howdah.list_acts()",
        "select howdah.bridge('shop.zebras', 'kitchen.own')",
        "select howdah.create_alias('kitchen.alias', 'shop.zebra')",
        "select howdah.alter_queue('shop.zebra', '{}')",
        "select howdah.drop_queue('shop.zebra', true)",
        "select howdah.grant_queue('shop.zebra', 'receive', 'public')",
        "select howdah.set_rule('teams', 'queue', '*', 'consume', true, 'user', '{*}')",
        "select howdah.undo_change(1)",
        "select howdah.create_object('kitchen', 'queue', '{\"destination\": \"shop.zebra\"}')",
        "select * from howdah.audit_journal",
        "select * from howdah.audit_incidents",
        "select * from howdah.msgs",
        "select * from howdah.access_rules",
        "select * from howdah.config_changes",
        "select * from howdah.log_events",
    ],
}


@pytest.mark.first_case
@pytest.mark.parametrize("sqlstate", TRIED)
def test_a_member_of_another_team_can_do_nothing_with_it(db: Db, ken: Db, sqlstate: str) -> None:
    for call in TRIED[sqlstate]:
        try:
            said = refused(ken, sqlstate, call)
        except Exception as error:
            raise AssertionError(f"{call}: {error}") from error
        assert "ill" not in f"{said.message_primary} {said.message_detail} {said.message_hint}"
    assert column(db, "select queue from howdah.list_queues() where queue ~ 'new'") == []


def test_a_wildcard_brings_nothing_of_another_team_nor_does_a_wildcard_subscription(ken: Db, shop: Db) -> None:
    one(ken, "select howdah.send('kitchen.own', 'an egg')")
    assert column(ken, "select body from howdah.receive('>', 10)") == ["an egg"]
    for wildcard in ("shop.>", "*.zebra", "shop.*"):
        with contextlib.suppress(psycopg.errors.Error):
            assert column(ken, "select body from howdah.receive(%s, 10)", (wildcard,)) == []
    with contextlib.suppress(psycopg.errors.Error):
        name = one(ken, "select howdah.subscribe('shop.>', 'mine')")
        one(shop, "select howdah.send('shop.zebras', 'a later zebra')")
        assert column(ken, "select body from howdah.receive(%s, 10)", (name,)) == []


def test_an_answer_goes_only_where_its_sender_may_send(db: Db, ken: Db, shop: Db) -> None:
    """Whoever receives a request with another team's queue in reply_to answers with its own rights."""
    one(ken, "select howdah.send('kitchen.own', 'which?', reply_to => 'shop.zebra')")
    before = one(db, "select count(*) from howdah.browse('shop.zebra', 100)")
    refused(ken, "HD010", "select howdah.send(%s, 'forged')", ("shop.zebra",))
    assert one(db, "select count(*) from howdah.browse('shop.zebra', 100)") == before


def test_a_temporary_queue_of_another_teams_connection_is_not_read(ken: Db, shop: Db) -> None:
    own = one(shop, "select howdah.create_temporary_queue()")
    one(shop, "select howdah.send(%s, 'a zebra')", (own,))
    for call in ("receive", "browse", "lease"):
        refused(ken, "HD010", f"select * from howdah.{call}(%s, 1)", (own,))


def test_what_a_team_creates_is_its_own_and_no_other_team_gets_a_name_beside_it(ken: Db, shop: Db) -> None:
    one(ken, "select howdah.send('kitchen.own', 'an egg')")
    assert "kitchen.own" in column(ken, "select queue from howdah.list_queues()")
    assert column(shop, "select queue from howdah.list_queues() where queue ~ 'kitchen'") == []
    refused(shop, "HD010", "select * from howdah.receive('kitchen.own')")
