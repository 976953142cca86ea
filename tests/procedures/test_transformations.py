"""Functions of applications change the messages that a subscription gives."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support import Connect, Db, column, one
from transformation_support import put, shop_of, topic


@pytest.fixture
def shop(db: Db) -> Iterator[str]:
    """A role that owns a schema with the function shop.made, which is registered as "made"."""
    with shop_of(db) as role:
        yield role


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


def test_a_function_cannot_take_away_by_which_way_a_message_came(db: Db, shop: str) -> None:
    topic(db)
    put(db, shop, """m.headers := '{"x": 1, "JMS_Howdah_Origin": "me"}'; return m;""")
    sent = """'{"JMS_Howdah_Route": "b", "y": 2}'"""
    one(db, f"select howdah.send('t', 'tea', headers => {sent})")
    assert column(db, "select headers from howdah.receive('t::s')") == [{"x": 1, "JMS_Howdah_Route": "b"}]


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
