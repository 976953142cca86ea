"""Who may make, change and end subscriptions, which are refused, and what those see who do so at once."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb
from support import Connect, Db, all_refused, column, fail, one, refused, wait_until_blocked
from topics_support import bodies, publish, subscribe, topic


@pytest.fixture(autouse=True)
def a_topic(db: Db) -> None:
    topic(db, retain_ms=3_600_000)


def test_the_same_definition_again_changes_nothing(db: Db) -> None:
    name = subscribe(db, selector=" a = 1 ", client_id="c")
    publish(db, "x", headers={"a": 1})
    assert subscribe(db, selector="a = 1", client_id="c") == name
    assert bodies(db, name) == ["x"]


@pytest.mark.parametrize(
    "change",
    [{"selector": "a = 2"}, {"no_local": True}, {"options": {"prioritized": True}}, {"to": "u"}],
    ids=["selector", "no_local", "prioritized", "topic"],
)
def test_another_definition_begins_anew_while_nobody_reads_and_is_refused_while_somebody_does(
    db: Db, connect: Connect, change: dict[str, Any]
) -> None:
    topic(db, "u")
    name = subscribe(db, client_id="c")
    publish(db, "old")
    reader = connect()
    with reader.transaction():
        assert bodies(reader, name, 1) == ["old"]
        with pytest.raises(psycopg.Error, match="being read") as raised:
            subscribe(db, client_id="c", **change)
        assert raised.value.sqlstate == "HD024"
    publish(db, "unread")
    new = subscribe(db, client_id="c", **change)
    assert bodies(db, new) == []
    publish(db, "new", to=change.get("to", "t"), headers={"a": 2})
    assert bodies(db, new) == ["new"]
    assert column(db, "select subscription from howdah.list_subscriptions()") == [new]


def test_without_a_client_id_a_name_is_not_taken_from_another_topic(db: Db) -> None:
    topic(db, "u")
    name = subscribe(db)
    publish(db, "x")
    said = refused(db, "HD024", "select howdah.subscribe('u', 's')")
    assert "exists for 't'" in (said.message_primary or "")
    refused(db, "HD024", "select howdah.subscribe('>', 's')")
    assert bodies(db, name) == ["x"]


def test_a_shared_one_with_other_consumers_is_not_changed(db: Db, connect: Connect) -> None:
    name = subscribe(db, shared=True)
    publish(db, "a", "b")
    first, second = connect(), connect()
    with first.transaction(), second.transaction():
        assert (bodies(first, name, 1), bodies(second, name, 1)) == (["a"], ["b"])
        refused(db, "HD024", "select howdah.subscribe('t', 's', shared => true, selector => 'a = 1')")
        refused(db, "HD024", "select howdah.unsubscribe(%s)", (name,))
    assert bodies(db, name) == []


def test_shared_and_unshared_durable_ones_do_not_share_a_name_but_durable_and_not_do(db: Db) -> None:
    subscribe(db, client_id="c")
    said = refused(db, "HD024", "select howdah.subscribe('t', 's', client_id => 'c', shared => true)")
    assert "exists as an unshared" in (said.message_primary or "")
    other = subscribe(db, client_id="c", shared=True, durable=False)
    assert (other, subscribe(db, client_id="d", shared=True)) == ("t:c:~s", "t:d:s")
    assert one(db, "select count(*) from howdah.list_subscriptions()") == 3


def test_unsubscribing_is_refused_while_it_is_read_and_final_afterwards(db: Db, connect: Connect) -> None:
    name = subscribe(db)
    publish(db, "x")
    reader = connect()
    with reader.transaction():
        bodies(reader, name)
        assert "is being read" in (refused(db, "HD024", "select howdah.unsubscribe(%s)", (name,)).message_primary or "")
    one(db, "select howdah.unsubscribe(%s)", (name,))
    refused(db, "HD001", "select howdah.unsubscribe(%s)", (name,))
    refused(db, "HD001", "select howdah.receive(%s)", (name,))
    publish(db, "y")
    assert bodies(db, subscribe(db)) == []


@pytest.mark.behaviour("IMQ-111")
def test_a_subscription_that_one_session_ends_is_gone_for_every_other(db: Db, connect: Connect) -> None:
    other = connect()
    name = subscribe(db)
    publish(db, "x")
    assert bodies(other, name, verb="browse") == ["x"]
    one(db, "select howdah.unsubscribe(%s)", (name,))
    refused(other, "HD001", "select howdah.receive(%s)", (name,))
    assert column(other, "select subscription from howdah.list_subscriptions()") == []


@pytest.mark.behaviour("IMQ-112")
def test_who_waits_too_long_for_a_subscription_gets_an_error_and_leaves_nothing_behind(
    db: Db, connect: Connect
) -> None:
    holding = connect()
    db.execute("set lock_timeout = '200 ms'")
    with holding.transaction(force_rollback=True):
        subscribe(holding)
        refused(db, "55P03", "select howdah.subscribe('t', 's')")
    assert column(db, "select subscription from howdah.list_subscriptions()") == []
    assert bodies(db, subscribe(db)) == []


@pytest.mark.parametrize("name", ["s.s_s-s", "1", "x" * 128])
def test_names_of_jms_are_taken(db: Db, name: str) -> None:
    assert subscribe(db, name) == f"t::{name}"


def test_what_cannot_be_a_subscription_is_refused_with_nothing_changed(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    subscribe(db)
    all_refused(
        db,
        [
            ("HD001", "select howdah.subscribe('none', 'x')"),
            ("HD001", "select howdah.subscribe('q', 'x')"),
            ("HD001", "select howdah.subscribe('t::s', 'x')"),
            ("HD001", "select howdah.subscribe(null, 'x')"),
            ("HD003", "select howdah.subscribe('t', 'a b')"),
            ("HD003", "select howdah.subscribe('t', '')"),
            ("HD003", "select howdah.subscribe('t', 'x', client_id => 'a:b')"),
            ("HD003", "select howdah.subscribe('A..B.*', 'x')"),
            ("HD003", f"select howdah.subscribe('t', '{'x' * 200}', client_id => '{'y' * 100}')"),
            ("HD005", "select howdah.subscribe('t')"),
            ("HD005", "select howdah.subscribe('t', shared => true, durable => false)"),
            ("HD005", "select howdah.subscribe('t', 'x', client_id => null)"),
            ("HD005", "select howdah.subscribe('t', 'x', shared => true, no_local => true, client_id => 'c')"),
            ("HD005", "select howdah.subscribe('t', 'x', no_local => true)"),
            ("HD004", """select howdah.subscribe('t', 'x', options => '{"strict_order": true}')"""),
            ("HD004", """select howdah.subscribe('t', 'x', options => '{"backout_count": "hardened"}')"""),
            ("HD004", """select howdah.subscribe('t', 'x', options => '{"prioritized": "yes"}')"""),
            ("HD004", """select howdah.subscribe('t', 'x', options => '{"nothing": 1}')"""),
            ("HD004", "select howdah.subscribe('t', 'x', options => null)"),
            ("HD004", """select howdah.alter_queue('t::s', '{"strict_order": true}')"""),
            ("HD004", """select howdah.alter_queue('t::s', '{"backout_count": "hardened"}')"""),
            ("HD023", "select howdah.subscribe('t', 'x', selector => '3 + 5')"),
            ("HD023", "select howdah.subscribe('t', 'x', selector => 'a = ''; drop table msgs')"),
            ("HD001", "select howdah.drop_queue('t::s')"),
            ("HD001", "select howdah.drop_topic('t::s')"),
            ("HD001", "select howdah.unsubscribe('t')"),
            ("HD005", "select howdah.receive('t::s', 0)"),
            ("HD013", "select howdah.consume_locked('t::s', array[1::bigint], array[4], array[1::bigint])"),
        ],
    )


def test_a_policy_by_wildcard_holds_for_subscriptions_as_far_as_they_can_have_it(db: Db) -> None:
    one(db, "select howdah.set_policy('>', %s)", (Jsonb({"max_failed_deliveries": 1, "strict_order": True}),))
    name = subscribe(db)
    options = one(db, "select howdah.queue_options(%s)", (name,))
    assert (options["max_failed_deliveries"], options["strict_order"]) == (1, False)
    (sent,) = publish(db, "x")
    assert fail(db, sent, name)[2] == "moved"


def test_a_shared_non_durable_one_has_a_name_and_is_not_changed_while_it_is_read(db: Db, connect: Connect) -> None:
    name = subscribe(db, durable=False, shared=True)
    assert subscribe(db, durable=False, shared=True) == name == "t::~s"
    publish(db, "a", "b")
    first, second = connect(), connect()
    with first.transaction(), second.transaction():
        assert (bodies(first, name, 1), bodies(second, name, 1)) == (["a"], ["b"])
        refused(db, "HD024", "select howdah.subscribe('t', 's', durable => false, shared => true, selector => 'a = 1')")
    assert one(db, "select count(*) from howdah.activemq_acks") == 0


def test_nobody_sends_to_a_subscription(db: Db, connect: Connect) -> None:
    name = subscribe(db)
    for session in (db, connect("howdah_producer")):
        refused(session, "HD010", "select howdah.send(%s, 'x')", (name,))
        refused(session, "HD010", "select howdah.send_batch(%s, array['x'])", (name,))


def test_who_may_receive_from_the_topic_may_subscribe_and_receive_from_its_subscriptions(
    db: Db, connect: Connect
) -> None:
    consumer = connect("howdah_consumer")
    name = subscribe(consumer)
    publish(db, "x", "y")
    one(db, "select howdah.revoke_queue('t', 'receive', 'howdah_consumer')")
    refused(consumer, "HD010", "select howdah.subscribe('t', 'other')")
    refused(consumer, "HD010", "select howdah.subscribe('>', 'wild')")
    narrow = subscribe(db, "narrow")
    refused(consumer, "HD010", "select howdah.receive(%s)", (narrow,))
    refused(consumer, "HD010", "select howdah.unsubscribe(%s)", (narrow,))
    refused(consumer, "HD010", "select howdah.seek_subscription(%s, '-infinity')", (narrow,))
    assert bodies(consumer, name, 1) == ["x"]
    one(db, "select howdah.revoke_queue(%s, 'receive', 'howdah_consumer')", (name,))
    refused(consumer, "HD010", "select howdah.receive(%s)", (name,))
    assert bodies(db, name) == ["y"]


def test_two_sessions_subscribing_at_once_make_one_subscription(db: Db, connect: Connect) -> None:
    first = connect()
    with first.transaction():
        name = subscribe(first)
        second = connect()
        second.execute("set lock_timeout = '50ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            subscribe(second)
    assert subscribe(db) == name
    assert one(db, "select count(*) from howdah.list_subscriptions()") == 1


def test_one_who_subscribes_while_the_last_other_one_leaves_gets_what_is_published(db: Db, connect: Connect) -> None:
    topic(db, "plain")
    leaving = subscribe(db, "leaving", "plain")
    coming, gone = connect(), connect()
    with ThreadPoolExecutor() as threads:
        with coming.transaction():
            name = subscribe(coming, "coming", "plain")
            left = threads.submit(one, gone, "select howdah.unsubscribe(%s)", (leaving,))
            wait_until_blocked(db, gone)
        left.result()
    publish(db, "x", to="plain")
    assert bodies(db, name) == ["x"]


def test_a_wildcard_and_a_topic_made_at_once_know_of_each_other(db: Db, connect: Connect) -> None:
    first, second = connect(), connect()
    with ThreadPoolExecutor() as threads:
        with first.transaction():
            topic(first, "w.a")
            made = threads.submit(subscribe, second, "all", "w.>")
            wait_until_blocked(db, second)
        name = made.result()
        publish(db, "a", to="w.a")
        with first.transaction():
            other = subscribe(first, "other", "w.>")
            created = threads.submit(topic, second, "w.b")
            wait_until_blocked(db, second)
        created.result()
    publish(db, "b", to="w.b")
    assert (bodies(db, name), bodies(db, other)) == (["a", "b"], ["b"])


def test_a_topic_dropped_meanwhile_is_not_subscribed_to(db: Db, connect: Connect) -> None:
    topic(db, "u")
    dropping, second = connect(), connect()
    with ThreadPoolExecutor() as threads:
        with dropping.transaction():
            one(dropping, "select howdah.drop_topic('u')")
            made = threads.submit(refused, second, "HD001", "select howdah.subscribe('u', 's')")
            wait_until_blocked(db, second)
        assert made.result()


def test_a_subscription_ends_under_no_snapshot_that_may_miss_a_lease(db: Db, connect: Connect) -> None:
    name = subscribe(db)
    publish(db, "x")
    old = connect()
    old.execute("begin isolation level repeatable read")
    one(old, "select 1")
    one(db, "select count(*) from howdah.lease(%s)", (name,))
    refused(old, "HD005", "select howdah.unsubscribe(%s)", (name,))
    old.execute("rollback")
    refused(db, "HD024", "select howdah.unsubscribe(%s)", (name,))
