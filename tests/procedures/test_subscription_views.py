"""What is seen of a subscription: its list, its backlog, its failures and ActiveMQ's views.

Also pausing, purging and going back.
"""

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


@pytest.mark.behaviour("AMQ-46")
def test_of_one_message_for_three_durable_subscribers_there_is_one_copy_and_three_pointers(db: Db) -> None:
    for name in "abc":
        subscribe(db, name)
    (sent,) = publish(db, "x")
    assert column(db, "select id from howdah.activemq_msgs where container = 'topic://t'") == [sent]
    bodies(db, "t::a")
    assert column(db, "select id from howdah.activemq_msgs where container = 'topic://t'") == [sent]
    assert db.execute(
        "select sub_name, last_acked_id = %s from howdah.activemq_acks order by 1", (sent,)
    ).fetchall() == [
        ("a", True),
        ("b", False),
        ("c", False),
    ]


PENDING = (
    "SELECT M.ID FROM howdah.ACTIVEMQ_MSGS M, howdah.ACTIVEMQ_ACKS D WHERE D.CONTAINER=%s AND"
    " D.CLIENT_ID=%s AND D.SUB_NAME=%s"
    " AND M.XID IS NULL AND M.CONTAINER=D.CONTAINER AND M.ID>D.LAST_ACKED_ID AND M.ID>%s ORDER BY M.ID"
)


@pytest.mark.first_case
@pytest.mark.behaviour("AMQ-62")
@pytest.mark.parametrize("shared", [False, True])
def test_activemqs_statement_lists_what_is_pending_for_a_durable_subscriber(db: Db, shared: bool) -> None:
    name = subscribe(db, client_id="c", shared=shared)
    subscribe(db, "other")
    topic(db, "u")
    subscribe(db, "u", "u")
    publish(db, "elsewhere", to="u")
    sent = publish(db, *map(str, range(10)))
    where = ("topic://t", "c", "s")
    assert column(db, PENDING, (*where, -1)) == sent
    bodies(db, name, 4)
    assert column(db, PENDING, (*where, -1)) == sent[4:]
    assert column(db, PENDING, (*where, sent[6])) == sent[7:]
    bodies(db, name)
    assert column(db, PENDING, (*where, -1)) == []
    assert len(column(db, PENDING, ("topic://t", "", "other", -1))) == 10
    assert column(db, "SELECT COUNT(*) FROM howdah.ACTIVEMQ_MSGS WHERE CONTAINER='topic://t' AND XID IS NULL") == [10]
    assert column(
        db,
        "SELECT DISTINCT CONTAINER FROM howdah.ACTIVEMQ_MSGS WHERE CONTAINER IS NOT NULL"
        " UNION SELECT DISTINCT CONTAINER FROM howdah.ACTIVEMQ_ACKS ORDER BY 1",
    ) == ["topic://t", "topic://u"]


@pytest.mark.first_case
@pytest.mark.parametrize("shared", [False, True])
def test_activemqs_statement_lists_what_is_leased_and_not_acknowledged_too(db: Db, clock: Clock, shared: bool) -> None:
    subscribe(db, client_id="c", shared=shared)
    sent = publish(db, *"abcd")
    (number,) = set(column(db, "select lease from howdah.lease('t:c:s', 3, '10 s')"))
    where = ("topic://t", "c", "s", -1)
    assert column(db, PENDING, where) == sent
    assert one(db, "select howdah.ack('t:c:s', %s, %s)", (number, sent[:1])) == 1
    assert column(db, PENDING, where) == sent[1:]
    clock.advance(11)
    assert column(db, PENDING, where) == sent[1:], "nobody has received it again yet"
    assert bodies(db, "t:c:s") == ["b", "c", "d"]
    assert column(db, PENDING, where) == []


def test_activemqs_statement_lists_non_persistent_messages_too_until_the_server_restarts(db: Db) -> None:
    name = subscribe(db, client_id="c")
    sent = publish(db, "a") + publish(db, "b", delivery_mode="non-persistent") + publish(db, "c")
    where = ("topic://t", "c", "s", -1)
    assert column(db, PENDING, where) == sent
    bodies(db, name, 1)
    assert column(db, PENDING, where) == sent[1:]
    db.execute("update howdah.topic_nonpersistent_0 set boot = boot - interval '1 hour'")
    assert column(db, PENDING, where) == sent[2:]


def test_what_is_set_aside_for_a_subscription_stands_under_its_own_name_in_activemqs_view(db: Db) -> None:
    name = subscribe(db, client_id="c")
    (sent,) = publish(db, "a")
    fail(db, sent, name, delay="1 hour")
    assert column(db, PENDING, ("topic://t", "c", "s", -1)) == []
    container = "select container from howdah.activemq_msgs where id = %s and container <> 'topic://t'"
    assert column(db, container, (sent,)) == [f"subscription://{name}"]
    assert one(db, "select parked from howdah.queue_stats(%s)", (name,)) == 1
    one(db, "select howdah.retry(%s, array[%s])", (name, sent))
    assert column(db, container, (sent,)) == [f"subscription://{name}"]


@pytest.mark.behaviour("AMQ-61")
def test_a_durable_subscription_is_a_row_of_activemq_acks_and_ten_when_prioritised(db: Db) -> None:
    subscribe(db, client_id="c", selector="n = 1")
    subscribe(db, "p", client_id="c", options={"prioritized": True})
    subscribe(db, None, durable=False)
    rows = db.execute(
        "select container, sub_dest, client_id, sub_name, selector, last_acked_id, priority, xid"
        " from howdah.activemq_acks"
        " order by sub_name desc, priority"
    ).fetchall()
    assert rows[0] == ("topic://t", "topic://t", "c", "s", "n = 1", -1, 0, None)
    assert [(row[3], row[6]) for row in rows[1:]] == [("p", priority) for priority in range(10)]
    key = column(
        db,
        "select a.attname::text from pg_index i join pg_attribute a on a.attrelid = i.indrelid"
        " and a.attnum = any (i.indkey)"
        " where i.indrelid = 'howdah.acks'::regclass and i.indisprimary order by a.attnum",
    )
    assert sorted(key) == ["client_id", "destination_id", "priority", "subscription_name"]
    assert db.execute(
        "SELECT SELECTOR,SUB_NAME,CLIENT_ID,SUB_DEST FROM howdah.ACTIVEMQ_ACKS WHERE CONTAINER='topic://t'"
        " AND PRIORITY=0 ORDER BY 2"
    ).fetchall() == [(None, "p", "c", "topic://t"), ("n = 1", "s", "c", "topic://t")]


def test_activemqs_statement_by_priority_lists_each_priority_of_a_prioritised_subscription(db: Db) -> None:
    name = subscribe(db, client_id="c", options={"prioritized": True})
    sent = {priority: publish(db, "x", priority=priority)[0] for priority in (0, 4, 9)}
    statement = PENDING.replace(" ORDER BY", " AND M.PRIORITY=D.PRIORITY AND M.PRIORITY=%s ORDER BY")
    for priority, number in sent.items():
        assert column(db, statement, ("topic://t", "c", "s", -1, priority)) == [number]
    bodies(db, name, 1)
    pending = [column(db, statement, ("topic://t", "c", "s", -1, priority)) for priority in sent]
    assert pending == [[sent[0]], [sent[4]], []]
