"""A subscription shows its backlog and failures, and is paused, purged and moved back in time."""

from datetime import timedelta

import pytest
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, column, fail, one, receive, refused
from topics_support import bodies, listed, publish, subscribe, topic


@pytest.fixture(autouse=True)
def a_topic(db: Db) -> None:
    topic(db, retain_ms=3_600_000)


def test_a_paused_subscription_keeps_what_comes_and_others_go_on(db: Db) -> None:
    name, other = subscribe(db), subscribe(db, "other")
    one(db, "select howdah.pause(%s)", (name,))
    publish(db, "x")
    assert name in (refused(db, "HD009", "select howdah.receive(%s)", (name,)).message_primary or "")
    assert listed(db, "paused, behind") == (True, 1)
    assert bodies(db, other) == ["x"]
    one(db, "select howdah.resume(%s)", (name,))
    assert bodies(db, name) == ["x"]


def test_the_list_shows_the_lag_in_messages_and_time(db: Db, clock: Clock) -> None:
    subscribe(db, client_id="c", selector="n = 1")
    subscribe(db)
    publish(db, "a")
    clock.advance(30)
    publish(db, "b", "c")
    clock.advance(12)
    assert listed(db, "behind, behind_for, delivered") == (3, timedelta(seconds=42), 0)
    bodies(db, n=1)
    assert listed(db, "behind, behind_for, delivered") == (2, timedelta(seconds=12), 1)
    bodies(db)
    assert listed(db, "behind, behind_for, delivered") == (0, timedelta(0), 3)
    assert listed(db, "topic_name, client_id, name, durable, shared, selector", "t:c:s") == (
        "t",
        "c",
        "s",
        True,
        False,
        "n = 1",
    )
    assert column(db, "select subscription from howdah.list_subscriptions('t')") == ["t::s", "t:c:s"]
    refused(db, "HD001", "select howdah.list_subscriptions('none')")


def test_browsing_a_subscription_shows_what_it_would_receive_next(db: Db, connect: Connect) -> None:
    name = subscribe(db, selector="n < 3", options={"prioritized": True})
    sent = [publish(db, str(n), headers={"n": n}, priority=n)[0] for n in range(5)]
    assert bodies(db, name, verb="browse") == bodies(db, name, verb="browse") == ["2", "1", "0"]
    assert bodies(db, name, 1, "browse") == ["2"]
    fail(db, sent[2], name)
    first = receive(db, name, 9, "browse")[0]
    assert (first.body, first.delivery_count) == ("2", 2)
    reader = connect()
    with reader.transaction(force_rollback=True):
        assert bodies(reader, name, 1) == ["2"]
        assert bodies(db, name, verb="browse") == ["2", "1", "0"]
    assert column(db, "select body from howdah.browse(%s, only_id => %s)", (name, sent[1])) == ["1"]
    refused(db, "HD005", "select howdah.browse(%s, after_priority => 4, after_position => 1)", (name,))
    assert bodies(db, name) == ["2", "1", "0"]


def test_purging_a_subscription_passes_over_its_backlog_and_is_journalled(db: Db, connect: Connect) -> None:
    name, other = subscribe(db), subscribe(db, "other")
    sent = publish(db, "1", "2", "3")
    fail(db, sent[0], name, delay=timedelta(hours=1))
    reader = connect()
    with reader.transaction():
        bodies(reader, name, 1)
        refused(db, "HD024", "select howdah.purge_queue(%s)", (name,))
    assert bodies(db, name, 1, "browse") == ["3"]
    assert one(db, "select howdah.purge_queue(%s)", (name,)) == 2
    assert bodies(db, name) == []
    assert one(db, "select howdah.purge_queue(%s)", (name,)) == 0
    made = db.execute("select act, queue_name, reason, message_ids from howdah.list_acts() order by act_id").fetchall()
    assert made == [("purged", name, "purged", [sent[0]]), ("purged", name, "1 unread of its topics", [])]
    assert column(
        db, "select message_id from howdah.audit_journal where queue = %s and event = 'discarded' order by 1", (name,)
    ) == [
        sent[0],
        sent[2],
    ]
    assert len(bodies(db, other)) == 3
    publish(db, "4")
    assert bodies(db, name) == ["4"]


@pytest.mark.parametrize("way", ["purge_queue('t::s')", "seek_subscription('t::s', 'infinity')"])
def test_passing_over_a_backlog_names_what_was_leased_until_its_lease_ended(db: Db, clock: Clock, way: str) -> None:
    name = subscribe(db)
    sent = publish(db, *"abcdefg")
    assert one(db, "select count(*) from howdah.lease(%s, 5, '1 s')", (name,)) == 5
    clock.advance(2)
    assert one(db, f"select howdah.{way}") == 7
    assert (
        column(
            db,
            "select message_id from howdah.audit_journal where queue = %s and event = 'discarded' order by 1",
            (name,),
        )
        == sent
    )
    assert column(db, "select message_id from howdah.poison_details order by 1") == sent[:5]
    assert bodies(db, name) == []


@pytest.mark.first_case
@pytest.mark.parametrize("shared", [False, True])
def test_a_subscription_goes_back_to_a_time_or_on_to_the_end(
    db: Db, clock: Clock, connect: Connect, shared: bool
) -> None:
    name = subscribe(db, shared=shared)
    publish(db, "a")
    clock.advance(10)
    moment = clock.now
    publish(db, "b", "c")
    assert bodies(db, name) == ["a", "b", "c"]
    one(db, "select howdah.seek_subscription(%s, %s)", (name, moment))
    assert bodies(db, name, 1) == ["b"]
    one(db, "select howdah.seek_subscription(%s, '-infinity')", (name,))
    assert bodies(db, name) == ["a", "b", "c"]
    publish(db, "d")
    one(db, "select howdah.seek_subscription(%s, 'infinity')", (name,))
    assert bodies(db, name) == []
    reader = connect()
    publish(db, "e")
    with reader.transaction():
        bodies(reader, name)
        refused(db, "HD024", "select howdah.seek_subscription(%s, '-infinity')", (name,))
    refused(db, "HD005", "select howdah.seek_subscription(%s, null)", (name,))
    refused(db, "HD001", "select howdah.seek_subscription('t', '-infinity')")


def test_going_back_brings_nothing_that_failed_for_good_or_waits_for_its_retry(db: Db) -> None:
    name = subscribe(db, options={"max_failed_deliveries": 1})
    dead, waiting, _ = publish(db, "dead", "waiting", "fine")
    one(db, "select howdah.alter_queue(%s, %s)", (name, Jsonb({"max_failed_deliveries": 2})))
    fail(db, waiting, name, delay=timedelta(0, 3600))
    one(db, "select howdah.alter_queue(%s, %s)", (name, Jsonb({"max_failed_deliveries": 1})))
    assert fail(db, dead, name)[2] == "moved"
    assert bodies(db, name) == ["fine"]
    one(db, "select howdah.seek_subscription(%s, '-infinity')", (name,))
    assert bodies(db, name) == ["fine"]


def test_a_listener_receives_from_a_subscription_and_stops(db: Db) -> None:
    name = subscribe(db)
    one(
        db,
        "select howdah.create_listener('l', %s, %s)",
        (name, Jsonb({"sequential_failures": 1, "stop_on_failure": True})),
    )
    publish(db, "a", "b")
    assert column(db, "select body from howdah.receive_as('l', 1)") == ["a"]
    (message,) = receive(db, name, 1, "browse")
    failure = Jsonb([{"message_id": message.message_id, "error_text": "no"}])
    assert len(db.execute("select * from howdah.record_failures_as('l', %s)", (failure,)).fetchall()) == 1
    assert one(db, "select status from howdah.list_listeners()") == "stopped"
    one(db, "select howdah.unsubscribe(%s)", (name,))
    assert column(db, "select listener_name from howdah.list_listeners()") == []


def test_the_operators_views_show_what_failed_in_a_subscription(db: Db) -> None:
    name = subscribe(db, options={"max_failed_deliveries": 2})
    sent, dead = publish(db, "x", "y")
    fail(db, sent, name, error_text="first", delay=timedelta(hours=1))
    fail(db, dead, name, error_text="no"), fail(db, dead, name, error_text="no")
    assert column(db, "select message from howdah.incidents(%s) order by incident_id", (name,)) == [sent, dead, dead]
    assert column(db, "select message_id from howdah.list_poison(origin => %s)", (name,)) == [dead]
    assert sum(column(db, "select incidents from howdah.poison_causes(%s)", (name,))) == 3
    assert one(db, "select state from howdah.poison_message(%s)", (sent,)) == "parked"
    assert one(db, "select parked from howdah.queue_stats(%s)", (name,)) == 1
    assert one(db, "select howdah.replay('_SYSTEM.Exception.Destination.howdah', origin => %s)", (name,)) == 1
    assert bodies(db, name) == ["y"]
