"""Functions of applications change messages on a bridge, a link or a subscription."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest
from links_support import Steps, create
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, column, identifier, one, refused

MADE = """
    m.body := upper(m.body);
    m.headers := m.headers - 'card' || '{"made": true}';
    if m.body = 'BAD' then raise exception 'no such milk'; end if;
    return m;
"""


@pytest.fixture
def shop(db: Db, request: pytest.FixtureRequest) -> Iterator[str]:
    """A role that owns a schema with the function shop.made, which is registered as "made"."""
    role = f"hdt_shop_{one(db, 'select pg_backend_pid()')}"
    db.execute(psycopg.sql.SQL("create role {0}; create schema shop authorization {0}").format(identifier(role)))
    db.execute("grant usage on schema shop to howdah_nobody")
    put(db, role, MADE)
    one(db, "select howdah.register_transformation('made', 'shop.made')")
    yield role
    db.execute("reset role")
    db.execute(psycopg.sql.SQL("drop schema shop cascade; drop role {0}").format(identifier(role)))


def put(db: Db, role: str, body: str, name: str = "made", attributes: str = "security definer") -> None:
    """Create or replace a function of the role."""
    db.execute(
        psycopg.sql.SQL(
            "create or replace function shop.{0} (m howdah.message) returns howdah.message language plpgsql {1}"
            " set search_path = shop, pg_temp as {2}; alter function shop.{0} owner to {3}"
        ).format(
            identifier(name),
            psycopg.sql.SQL(attributes),
            psycopg.sql.Literal(f"begin {body} end"),
            identifier(role),
        )
    )


def topic(db: Db, **options: str) -> None:
    """A topic "t", subscription "t::s" with a transformation."""
    one(db, "select howdah.create_topic('t'), howdah.create_queue('dead')")
    shared = options.pop("shared", "false")
    one(
        db,
        f"select howdah.subscribe('t', 's', shared => {shared}, options => %s)",
        ('{"max_failed_deliveries": 2, "exception_queue": "dead"}',),
    )
    one(db, "select howdah.transform_subscription('t::s', 'made')")


@pytest.mark.first_case
@pytest.mark.parametrize("shared", ["false", "true"])
def test_a_subscription_gives_what_the_function_returns(db: Db, shop: str, shared: str) -> None:
    topic(db, shared=shared)
    sent = one(db, """select howdah.send('t', 'tea', headers => '{"card": 4, "n": 1}')""")
    (message,) = db.execute("select message_id, body, headers, delivery_count from howdah.receive('t::s')").fetchall()
    assert message == (sent, "TEA", {"n": 1, "made": True}, 1)
    assert column(db, "select body from howdah.receive('t::s')") == []


def test_the_other_subscriptions_get_the_message_as_it_was_published(db: Db, shop: str) -> None:
    topic(db)
    one(db, "select howdah.subscribe('t', 'plain')")
    one(db, "select howdah.send('t', 'tea')")
    assert column(db, "select body from howdah.receive('t::plain')") == ["tea"]
    assert column(db, "select body from howdah.browse('t::s')") == ["tea"]


def test_a_rollback_puts_the_message_back(connect: Connect, db: Db, shop: str) -> None:
    topic(db)
    one(db, "select howdah.send('t', 'tea')")
    with db.transaction(force_rollback=True):
        assert column(db, "select body from howdah.receive('t::s')") == ["TEA"]
    assert column(connect(), "select body from howdah.receive('t::s')") == ["TEA"]


def test_a_lease_gives_it_too_and_its_ack_consumes(db: Db, shop: str) -> None:
    topic(db, shared="true")
    one(db, "select howdah.send('t', 'tea')")
    ((lease, body),) = db.execute("select lease, body from howdah.lease('t::s')").fetchall()
    assert body == "TEA"
    assert one(db, "select howdah.ack('t::s', %s)", (lease,)) == 1
    assert one(db, "select behind from howdah.list_subscriptions()") == 0


def test_a_redelivery_is_transformed_too(db: Db, shop: str) -> None:
    topic(db)
    one(db, "select howdah.send('t', 'tea')")
    (lease, number, body) = db.execute("select lease, message_id, body from howdah.lease('t::s')").fetchall()[0]
    assert body == "TEA"
    again = "select body from howdah.redeliver('t::s', %s, %s)"
    assert column(db, again, ([lease], [number])) == ["TEA"]
    put(db, shop, "raise exception 'no milk';")
    lease = one(db, "select lease from howdah.list_leases()")
    assert column(db, again, ([lease], [number])) == [], "at its limit, by the error of the function"
    assert column(db, "select body from howdah.receive('dead')") == ["tea"]


def test_an_attempt_gives_what_the_function_returns_and_its_error_takes_the_attempts_place(db: Db, shop: str) -> None:
    topic(db)
    one(db, "select howdah.send_batch('t', array['tea', 'milk'])")
    begin = "select attempt from howdah.begin_attempts('t::s')"
    take = "select body from howdah.receive_attempt('t::s', %s)"
    assert column(db, take, (one(db, begin),)) == ["TEA"]
    attempt = one(db, begin)
    put(db, shop, "raise exception 'no milk';")
    assert column(db, take, (attempt,)) == []
    assert db.execute("select attempt, outcome from howdah.incidents('t::s')").fetchall() == [(1, "returned")]
    assert one(db, "select count(*) from howdah.attempts") == 0


def test_an_error_is_a_failure_and_the_policy_is_applied(db: Db, shop: str) -> None:
    """The consumer gets the messages behind it at once."""
    topic(db)
    for body in ("bad", "tea"):
        one(db, "select howdah.send('t', %s)", (body,))
    assert column(db, "select body from howdah.receive('t::s', 1)") == ["TEA"]
    assert db.execute(
        "select attempt, error_class, sqlstate, error_text, details from howdah.incidents('t::s') order by 1"
    ).fetchall() == [
        (n, "TransformationFailed", "P0001", "transformation made: no such milk", {"transformation": "made"})
        for n in (1, 2)
    ]
    assert one(db, "select body from howdah.receive('dead')") == "bad"


def test_a_rolled_back_receive_records_no_failure(db: Db, shop: str) -> None:
    topic(db)
    one(db, "select howdah.send('t', 'bad')")
    with db.transaction(force_rollback=True):
        assert column(db, "select body from howdah.receive('t::s')") == []
    assert one(db, "select count(*) from howdah.incidents('t::s')") == 0


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("return null;", "it returned NULL"),
        ("m.body := null; return m;", "it returned not exactly one of body and bytes"),
        ("m.headers := '[]'; return m;", "it returned headers that are no object"),
        ("m.content_type := ''; return m;", "it returned no content_type"),
        ("perform set_config('work_mem', '5MB', false); return m;", "it changed work_mem: give it a SET clause"),
        ("return m.body::integer;", 'invalid input syntax for type integer: "tea"'),
    ],
)
def test_what_cannot_be_a_message_is_a_failure(db: Db, shop: str, body: str, fault: str) -> None:
    topic(db)
    put(db, shop, body)
    one(db, "select howdah.send('t', 'tea')")
    assert column(db, "select body from howdah.receive('t::s')") == []
    assert set(column(db, "select error_text from howdah.incidents('t::s')")) == {f"transformation made: {fault}"}


def test_identity_and_times_stay_whatever_the_function_returns(db: Db, shop: str) -> None:
    topic(db)
    put(db, shop, "m.message_id := 7; m.priority := 9; m.sent_at := '-infinity'; return m;")
    sent = one(db, "select howdah.send('t', 'tea', priority => 3)")
    assert db.execute("select message_id, priority, sent_at > '-infinity' from howdah.receive('t::s')").fetchall() == [
        (sent, 3, True)
    ]


def test_messages_wait_while_the_function_is_not_suitable(db: Db, shop: str) -> None:
    """It is no message's fault."""
    topic(db)
    one(db, "select howdah.send('t', 'tea')")
    db.execute("alter function shop.made security invoker")
    assert "it is not SECURITY DEFINER" in (
        refused(db, "HD049", "select * from howdah.receive('t::s')").message_primary or ""
    )
    assert one(db, "select unfit from howdah.list_transformations()") == "it is not SECURITY DEFINER"
    db.execute("alter function shop.made security definer")
    assert column(db, "select body from howdah.receive('t::s')") == ["TEA"]


def test_a_bridge_sends_what_the_function_makes(db: Db, shop: str) -> None:
    one(db, "select howdah.create_topic('t'), howdah.create_queue('q', '{\"stamp_user\": true}')")
    one(db, "select howdah.bridge('t', 'q', null, 'made')")
    one(
        db,
        "select howdah.send_batch('t', array['tea', 'milk'], priorities => array[2, 8],"
        """ headers => array['{"card": 1, "JMSXUserID": "x"}', null]::jsonb[])""",
    )
    assert db.execute(
        "select body, headers ->> 'made', headers ? 'card', priority, headers ->> 'JMSXUserID' = current_user"
        " from howdah.receive('q', 5)"
    ).fetchall() == [("MILK", "true", False, 8, True), ("TEA", "true", False, 2, True)]


def test_what_a_bridge_cannot_transform_is_dead_in_the_queue_and_the_publisher_goes_on(db: Db, shop: str) -> None:
    one(db, "select howdah.create_topic('t'), howdah.create_queue('dead')")
    one(db, "select howdah.create_queue('q', '{\"exception_queue\": \"dead\"}'), howdah.bridge('t', 'q', null, 'made')")
    one(db, "select howdah.send_batch('t', array['bad', 'tea'])")
    assert column(db, "select body from howdah.receive('q', 5)") == ["TEA"]
    assert db.execute("select body, dead_reason from howdah.receive('dead')").fetchall() == [
        ("bad", "rejected by its handler")
    ]
    assert column(db, "select error_text from howdah.incidents('q')") == ["transformation made: no such milk"]


@pytest.mark.parametrize("decided_at", ["failure", "receive"])
def test_what_a_bridge_cannot_transform_does_not_come_back_as_it_was_published(
    db: Db, shop: str, clock: Clock, decided_at: str
) -> None:
    topic(db)
    options = {"exception_queue": "dead", "at_limit": "quarantine", "quarantine_ms": 1000, "max_failed_deliveries": 2}
    options["decided_at"] = decided_at
    one(db, "select howdah.create_queue('q', %s), howdah.bridge('t', 'q', null, 'made')", (Jsonb(options),))
    if decided_at == "receive":
        db.execute(
            "create function shop.judge(howdah.message, jsonb) returns boolean language sql security definer"
            " set search_path = pg_temp as 'select false'"
        )
        db.execute(psycopg.sql.SQL("alter function shop.judge owner to {}").format(identifier(shop)))
        one(db, "select howdah.alter_queue('q', %s)", (Jsonb({"poison_procedure": "shop.judge"}),))
    one(db, "select howdah.send('t', 'bad')")
    for _ in range(2):
        assert column(db, "select body from howdah.receive('q')") == []
        clock.advance(2)
    assert column(db, "select body from howdah.receive('dead')") == ["bad"]


def test_what_a_bridge_cannot_transform_replaces_no_last_value(db: Db, shop: str) -> None:
    topic(db)
    one(db, """select howdah.create_queue('q', '{"exception_queue": "dead", "last_value_key": "k"}')""")
    one(db, "select howdah.bridge('t', 'q', null, 'made')")
    for body in ("good", "bad"):
        one(db, """select howdah.send('t', %s, headers => '{"k": "a"}')""", (body,))
    assert column(db, "select body from howdah.browse('dead')") == ["bad"]
    assert column(db, "select body from howdah.receive('q', 9)") == ["GOOD"]


def test_a_publisher_with_an_older_snapshot_gets_an_error_and_no_message_is_dead(
    db: Db, connect: Connect, shop: str
) -> None:
    topic(db)
    one(db, "select howdah.create_queue('q', '{\"exception_queue\": \"dead\"}'), howdah.bridge('t', 'q', null, 'made')")
    publisher = connect("howdah_producer")
    publisher.execute("begin isolation level repeatable read")
    error = refused(publisher, "HD049", "select howdah.send('t', 'tea')")
    assert error.message_primary == "publishing to 't' needs READ COMMITTED"
    publisher.execute("rollback")
    one(publisher, "select howdah.send('t', 'milk')")
    assert column(db, "select body from howdah.browse('q')") == ["MILK"]
    assert column(db, "select body from howdah.browse('dead')") == []


def test_a_link_forwards_what_the_function_makes(
    dsn: str, db: Db, connect: Connect, shop: str, new_engine: Callable[[], str]
) -> None:
    other = new_engine()
    one(db, "select howdah.create_queue('dead')")
    one(db, 'select howdah.create_queue(\'out\', \'{"max_failed_deliveries": 1, "exception_queue": "dead"}\')')
    with psycopg.connect(other, autocommit=True) as b:
        b.execute("select howdah.create_queue('in')")
        create(db, transformation="made")
        one(db, "select howdah.send_batch('out', array['bad', 'tea', 'milk'])")
        steps = Steps(dsn, other)
        steps.forward_all()
        steps.close()
        came = b.execute("select body, headers from howdah.receive('in', 5)").fetchall()
    assert [body for body, _ in came] == ["TEA", "MILK"]
    assert {name for _, headers in came for name in headers} == {"made", "JMS_Howdah_Origin", "JMS_Howdah_Route"}
    assert column(db, "select body from howdah.receive('dead')") == ["bad"]
    one(db, "select howdah.alter_link('to_b', transformation => '')")
    assert one(db, "select transformation from howdah.list_links()") is None


def test_a_function_cannot_take_away_by_which_way_a_message_came(db: Db, shop: str) -> None:
    topic(db)
    put(db, shop, """m.headers := '{"x": 1, "JMS_Howdah_Origin": "me"}'; return m;""")
    sent = """'{"JMS_Howdah_Route": "b", "y": 2}'"""
    one(db, f"select howdah.send('t', 'tea', headers => {sent})")
    assert column(db, "select headers from howdah.receive('t::s')") == [{"x": 1, "JMS_Howdah_Route": "b"}]


def test_only_suitable_functions_are_registered(db: Db, shop: str) -> None:
    put(db, shop, "return m;", "invokers", "")
    put(db, one(db, "select current_user"), "return m;", "mine")
    for name, function, state, says in (
        ("x", "shop.nowhere", "HD004", "there is no such function (howdah.message)"),
        ("x", "made", "HD004", "there is no such function"),
        ("x", "shop.invokers", "HD004", "it is not SECURITY DEFINER"),
        ("x", "shop.mine", "HD004", "a superuser"),
        ("a b", "shop.made", "HD003", "bad name"),
        ("made", "shop.other", "HD004", "there is no such function"),
    ):
        said = refused(db, state, "select howdah.register_transformation(%s, %s)", (name, function))
        assert says in (said.message_primary or "")
    put(db, shop, "return m;", "other")
    refused(db, "HD049", "select howdah.register_transformation('made', 'shop.other')")
    assert one(db, "select howdah.register_transformation('made', 'shop.made')") is False


def test_one_that_is_used_is_not_dropped(db: Db, shop: str) -> None:
    topic(db)
    assert "subscription t::s" in (
        refused(db, "HD049", "select howdah.drop_transformation('made')").message_primary or ""
    )
    assert one(db, "select used_by from howdah.list_transformations()") == ["subscription t::s"]
    one(db, "select howdah.transform_subscription('t::s')")
    assert one(db, "select howdah.drop_transformation('made')") is True
    assert one(db, "select howdah.drop_transformation('made')") is False
    refused(db, "HD005", "select howdah.transform_subscription('t::s', 'made')")


def test_one_of_an_ended_subscription_or_a_dropped_bridge_is_dropped(db: Db, shop: str) -> None:
    topic(db)
    one(db, "select howdah.create_queue('q'), howdah.bridge('t', 'q', null, 'made')")
    one(db, "select howdah.unsubscribe('t::s')")
    refused(db, "HD049", "select howdah.drop_transformation('made')")
    one(db, "select howdah.drop_queue('q')")
    assert one(db, "select howdah.drop_transformation('made')") is True


def test_administrators_alone_set_them(db: Db, connect: Connect, shop: str) -> None:
    topic(db)
    for role in ("howdah_producer", "howdah_consumer"):
        other = connect(role)
        for call in ("register_transformation('x', 'shop.made')", "transform_subscription('t::s')"):
            refused(other, "42501", f"select howdah.{call}")


def test_a_receive_with_hold_gives_it_and_consume_locked_ends_it(db: Db, shop: str) -> None:
    topic(db, shared="true")
    one(db, "select howdah.send('t', 'tea')")
    with db.transaction():
        ((body, message_id, position),) = db.execute(
            "select body, message_id, position from howdah.receive('t::s', 1, hold => true)"
        ).fetchall()
        assert body == "TEA"
        db.execute("select howdah.consume_locked('t::s', %s, %s, %s)", ([message_id], [4], [position]))
    assert column(db, "select body from howdah.receive('t::s')") == []


def test_the_record_of_changes_has_it_and_can_undo_it(db: Db, shop: str) -> None:
    topic(db)
    change = one(db, "select max(change_id) from howdah.list_changes() where kind = 'subscription'")
    one(db, "select howdah.undo_change(%s)", (change,))
    one(db, "select howdah.send('t', 'tea')")
    assert column(db, "select body from howdah.receive('t::s')") == ["tea"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("alter function shop.made owner to howdah_consumer", "it belongs to howdah_consumer, not to"),
        ("alter function shop.made owner to current_user", "a superuser"),
        ("drop function shop.made", "there is no such function"),
        ("alter function shop.made rename to other", "there is no such function"),
        ("revoke execute on function shop.made from public", "may not EXECUTE it"),
        ("revoke usage on schema shop from howdah_nobody", "has no USAGE of its schema"),
        (
            "drop function shop.made; create function shop.made(m howdah.message) returns setof howdah.message"
            + " language sql security definer as 'select m'",
            "it is no function that returns",
        ),
    ],
)
def test_a_function_that_became_another_is_not_called(db: Db, shop: str, change: str, says: str) -> None:
    """Subscriptions wait, bridges reject, and nobody registers it."""
    topic(db)
    one(db, "select howdah.create_queue('q', '{\"exception_queue\": \"dead\"}'), howdah.bridge('t', 'q', null, 'made')")
    one(db, "select howdah.send('t', 'before')")
    assert column(db, "select body from howdah.receive('q')") == ["BEFORE"]
    db.execute(change.encode())
    assert says in one(db, "select unfit from howdah.list_transformations()")
    one(db, "select howdah.send('t', 'after')")
    assert says in (refused(db, "HD049", "select * from howdah.receive('t::s')").message_primary or "")
    assert says in one(db, "select error_text from howdah.incidents('q')")
    assert column(db, "select body from howdah.receive('dead')") == ["after"]
    assert one(db, "select behind from howdah.list_subscriptions()") == 2
    if "howdah_consumer" not in says:  # who may own one, but did not when it was registered
        refused(db, "HD004", "select howdah.register_transformation('again', 'shop.made')")


HOSTILE = {
    "it ends the transaction": ("commit; return m;", "2D000"),
    "it asks for a retry": ("raise exception using errcode = '40001'; return m;", "40001"),
    "it says that the engine is paused": ("raise exception using errcode = 'HD040'; return m;", "HD040"),
    "it is cancelled": ("raise query_canceled; return m;", "57014"),
    "it never ends": ("loop end loop; return m;", "57014"),
    "it sends without a right": ("perform howdah.send('dead', 'x'); return m;", "42501"),
    "it changes its rights": ("set role howdah_admin; return m;", "42501"),
    "it receives what it is called for": ("perform howdah.receive('t::s'); return m;", "42501"),
}


@pytest.mark.parametrize("way", HOSTILE)
def test_an_error_that_blames_no_message_reaches_the_consumer_and_the_message_waits(
    db: Db, connect: Connect, shop: str, way: str
) -> None:
    body, state = HOSTILE[way]
    topic(db)
    one(db, "select howdah.send('t', 'tea')")
    put(db, shop, body)
    consumer = connect("howdah_consumer")
    if way == "it never ends":
        consumer.execute("set statement_timeout = '500ms'")
    refused(consumer, state, "select * from howdah.receive('t::s')")
    consumer.execute("reset statement_timeout")
    put(db, shop, MADE)
    assert column(consumer, "select body from howdah.receive('t::s')") == ["TEA"]
    assert one(db, "select count(*) from howdah.incidents('t::s')") == 0


FAILING = {
    "it blames itself by a state of ours": ("raise exception 'oh' using errcode = 'HD007'; return m;", "oh"),
    "it asserts": ("assert false, 'not so'; return m;", "not so"),
    "it calls itself": ("return shop.made(m);", "stack depth limit exceeded"),
    "it prepares": ("prepare leftover as select 1; return m;", "it left a prepared statement"),
    "it changes search_path": ("perform set_config('search_path', 'shop', false); return m;", "it changed search_path"),
    "it writes more than an int": ("return jsonb_populate_record(m, '{\"priority\": 99999999999}');", "out of range"),
    "its CASE knows no answer": ("case m.body when 'x' then null; end case; return m;", "case not found"),
    "it expects one row and gets two": ("m.body := (values ('a'), ('b')); return m;", "more than one row"),
    "it ends without RETURN": ("m.body := 'x';", "control reached end of function without RETURN"),
    "it has a state of its own": ("raise exception 'no shop' using errcode = 'U0001'; return m;", "no shop"),
    "it says what PL/Python would": ("raise exception 'ValueError' using errcode = '38000'; return m;", "ValueError"),
    "its headers cannot be": ("m.headers := '[1]'; return m;", "headers that are no object"),
}


@pytest.mark.parametrize("way", FAILING)
def test_what_it_must_not_do_is_its_failure_and_undone(db: Db, connect: Connect, shop: str, way: str) -> None:
    body, says = FAILING[way]
    topic(db)
    db.execute("create table shop.seen (body text); grant insert on shop.seen to public")
    one(db, "select howdah.send('t', 'tea')")
    put(db, shop, f"insert into shop.seen values (m.body); {body}")
    consumer = connect("howdah_consumer")
    assert column(consumer, "select body from howdah.receive('t::s')") == []
    errors = column(db, "select error_text from howdah.incidents('t::s')")
    assert (len(errors), all(says in error for error in errors)) == (2, True), errors
    assert one(db, "select count(*) from shop.seen") == 0
    assert one(db, "select count(*) from pg_prepared_statements where name = 'leftover'") == 0
    assert column(db, "select body from howdah.receive('dead')") == ["tea"]


def test_what_it_writes_is_there_with_the_consumers_transaction(db: Db, connect: Connect, shop: str) -> None:
    topic(db)
    db.execute("create table shop.seen (who text, body text); grant insert on shop.seen to public")
    put(db, shop, "insert into shop.seen values (current_user, m.body); return m;")
    one(db, "select howdah.send('t', 'tea')")
    consumer = connect("howdah_consumer")
    with consumer.transaction(force_rollback=True):
        assert column(consumer, "select body from howdah.receive('t::s')") == ["tea"]
    assert column(consumer, "select body from howdah.receive('t::s')") == ["tea"]
    assert db.execute("select * from shop.seen").fetchall() == [(shop, "tea")]


def test_a_consumers_search_path_brings_in_no_function(db: Db, connect: Connect, shop: str) -> None:
    """The function without a SET clause sees the path of Howdah's functions, not the consumer's."""
    topic(db)
    db.execute(
        "create schema other; create function other.upper(text) returns text language sql as $$ select 'forged' $$;"
        " grant usage on schema other to public; alter function shop.made reset search_path"
    )
    one(db, "select howdah.send('t', 'tea')")
    consumer = connect("howdah_consumer")
    consumer.execute("set search_path = other, pg_catalog")
    assert column(consumer, "select body from howdah.receive('t::s')") == ["TEA"]
