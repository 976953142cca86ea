"""Rights by user and by group: who may connect, send, receive, browse and create, at one queue or at all."""

from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg import sql
from support import Connect, Db, column, identifier, one, refused

VERBS = {
    "send": "select howdah.send('q', 'x')",
    "receive": "select howdah.receive('q')",
    "browse": "select howdah.browse('q')",
}
"""A call of each verb that is granted at a queue."""

MakeRole = Callable[..., str]


@pytest.fixture
def make_role(db: Db) -> Iterator[MakeRole]:
    """Make a role of this test's, a member of others."""
    made: list[str] = []

    def make(name: str, *groups: str) -> str:
        if not one(db, "select rolsuper from pg_roles where rolname = current_user"):
            pytest.skip("only a superuser makes roles and becomes others")
        role = f"{name}_{db.info.dbname[-12:]}"
        made.append(role)
        db.execute(sql.SQL("create role {} login password 'secret'").format(identifier(role)))
        for group in groups:
            db.execute(sql.SQL("grant {} to {}").format(identifier(group), identifier(role)))
        return role

    yield make
    for role in reversed(made):
        db.execute(sql.SQL("drop owned by {0} cascade; drop role {0}").format(identifier(role)))


def of_nobody(db: Db) -> None:
    """A queue at which nobody but administrators has a right."""
    one(db, "select howdah.create_queue('q')")
    for verb, holder in db.execute("select verb, role from howdah.list_grants('q')").fetchall():
        if holder != "howdah_admin":
            one(db, "select howdah.revoke_queue('q', %s, %s)", (verb, holder))


@pytest.mark.first_case
@pytest.mark.behaviour("IMQ-58")
@pytest.mark.behaviour("IMQ-62")
@pytest.mark.parametrize("verb", VERBS)
def test_a_member_has_the_right_of_its_group_and_nobody_else(
    db: Db, connect: Connect, make_role: MakeRole, verb: str
) -> None:
    all_functions = ("howdah_producer", "howdah_consumer", "howdah_browser")
    group = make_role("group", *all_functions)
    member, stranger = make_role("member", group), make_role("stranger", *all_functions)
    of_nobody(db)
    for role in (member, stranger):
        refused(connect(role), "HD010", VERBS[verb])
    assert one(db, "select howdah.grant_queue('q', %s, %s)", (verb, group))
    connect(member).execute(VERBS[verb].encode())
    refused(connect(stranger), "HD010", VERBS[verb])
    for other in VERBS.keys() - {verb}:
        refused(connect(member), "HD010", VERBS[other])


@pytest.mark.behaviour("IMQ-62")
def test_a_user_has_the_right_that_was_given_to_it_alone(db: Db, connect: Connect, make_role: MakeRole) -> None:
    group = make_role("group", "howdah_producer")
    user, colleague = make_role("user", group), make_role("colleague", group)
    of_nobody(db)
    one(db, "select howdah.grant_queue('q', 'send', %s)", (user,))
    one(connect(user), VERBS["send"])
    refused(connect(colleague), "HD010", VERBS["send"])


@pytest.mark.behaviour("IMQ-63")
def test_connecting_sending_receiving_browsing_and_creating_are_each_allowed_or_denied(
    dsn: str, db: Db, connect: Connect, make_role: MakeRole
) -> None:
    create = "select howdah.create_queue('new')"
    user = make_role("user")
    database = sql.SQL("{} on database {} {} {}")
    name = identifier(db.info.dbname)
    db.execute(database.format(sql.SQL("revoke connect"), name, sql.SQL("from"), sql.SQL("public")))
    with pytest.raises(psycopg.OperationalError, match="CONNECT"):
        psycopg.connect(dsn, user=user, password="secret")
    db.execute(database.format(sql.SQL("grant connect"), name, sql.SQL("to"), identifier(user)))
    with psycopg.connect(dsn, user=user, password="secret", autocommit=True) as session:
        of_nobody(db)
        for verb, role in (("send", "producer"), ("receive", "consumer"), ("browse", "browser")):
            refused(session, "HD010" if verb == "browse" else "42501", VERBS[verb])  # consumers may call both
            db.execute(sql.SQL("grant {} to {}").format(identifier(f"howdah_{role}"), identifier(user)))
            refused(session, "HD010", VERBS[verb])
            one(db, "select howdah.grant_queue('q', %s, %s)", (verb, user))
            session.execute(VERBS[verb].encode())
        one(db, "select howdah.create_queue('open')")
        one(session, "select howdah.send('open', 'x')")  # a new queue is for each role as a whole
        refused(session, "42501", create)
        db.execute(sql.SQL("grant howdah_admin to {}").format(identifier(user)))
        one(session, create)


@pytest.mark.behaviour("IMQ-64")
def test_after_the_installation_only_administrators_may_administer(db: Db, connect: Connect) -> None:
    may = (
        "select p.proname::text from pg_proc p where p.pronamespace = 'howdah'::regnamespace"
        " and has_function_privilege(%s, p.oid, 'execute') order by 1"
    )
    others = {
        name for role in ("producer", "consumer", "browser", "auditor") for name in column(db, may, (f"howdah_{role}",))
    }
    own = set(column(db, may, ("howdah_admin",))) - others
    assert own >= {
        *("create_queue", "alter_queue", "drop_queue", "purge_queue", "pause", "resume", "grant_queue", "revoke_queue"),
        *("create_topic", "alter_topic", "drop_topic", "bridge", "alter_engine", "set_policy", "create_listener"),
        *("discard", "replay", "move_messages", "retry", "set_storage"),
    }
    one(db, "select howdah.create_queue('q')")
    for role in ("producer", "consumer", "browser", "auditor"):
        session = connect(f"howdah_{role}")
        for call in ("create_queue('new')", "drop_queue('q')", "alter_engine('{}')", "grant_queue('q', 'send', 'x')"):
            refused(session, "42501", f"select howdah.{call}")


@pytest.mark.behaviour("IMQ-100")
def test_no_maintenance_drops_a_queue_or_a_topic_that_nobody_uses(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.send('q', 'x')")
    assert len(column(db, "select howdah.receive('q')")) == 1
    db.execute("create or replace function howdah.now() returns timestamptz language sql volatile parallel safe as"
               " $$ select clock_timestamp() + interval '10 years' $$")  # fmt: skip
    maintain = column(
        db,
        "select proname::text from pg_proc where pronamespace = 'howdah'::regnamespace and proname ~ '^maintain_'"
        " and prokind = 'f' order by 1",
    )
    assert len(maintain) > 10
    for name in maintain:
        db.execute(f"select howdah.{name}()".encode())
    assert column(db, "select name from howdah.destinations where name in ('q', 't') order by 1") == ["q", "t"]
    one(db, "select howdah.send('q', 'x')")


def test_my_rights_are_those_of_the_caller_at_one_queue_and_null_where_there_is_none(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.create_queue('r')")
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.grant_queue('r', 'receive', 'howdah_browser')")
    one(db, "select howdah.revoke_queue('r', 'admin', 'howdah_admin')")
    mine = "select howdah.my_rights(%s)"
    assert one(connect("howdah_browser"), mine, ("q",)) == ["browse"]
    assert one(connect("howdah_browser"), mine, ("r",)) == ["receive", "browse"]
    assert "admin" in one(connect("howdah_admin"), mine, ("q",))
    assert "admin" not in one(connect("howdah_admin"), mine, ("r",))
    assert "send" in one(connect("howdah_producer"), mine, ("t",))
    assert one(db, mine, ("none",)) is None
    assert one(db, mine, (None,)) is None


def test_a_login_without_a_role_sees_how_much_there_is_and_nothing_of_it(db: Db, connect: Connect) -> None:
    """What docs/security.md says of it: sizes and counts are PostgreSQL's to tell, rows and hidden numbers are not."""
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send('q', 'body'::text)")
    db.execute("create role stranger")
    stranger = connect()
    stranger.execute("set session authorization stranger")
    table = "(select oid from pg_class where relname = 'msgs' and relkind = 'r')"
    assert one(stranger, f"select pg_relation_size({table}) > 0")
    assert (
        one(stranger, "select count(*) from pg_stat_all_tables where relname = 'msgs' and schemaname = 'howdah'") == 1
    )
    secret = "(select oid from pg_class where relname = 'lock_secret')"
    if db.info.server_version >= 180000:
        assert one(stranger, f"select pg_sequence_last_value({secret})") is None
    else:
        refused(stranger, "42501", f"select pg_sequence_last_value({secret})")
    for query in ("select * from howdah.activemq_msgs", "select howdah.now()", "select howdah.send('q', 'x'::text)"):
        refused(stranger, "42501", query)
