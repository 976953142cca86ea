"""Subscriptions: the kinds there are, what each gets, who may change them and when."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, all_refused, column, fail, one, receive, refused, wait_until_blocked
from topics_support import bodies, consume, maintain, publish, stored, subscribe, topic


@pytest.fixture(autouse=True)
def a_topic(db: Db) -> None:
    topic(db, retain_ms=3_600_000)


def listed(db: Db, wanted: str, subscription: str = "t::s") -> Any:
    rows = db.execute(
        f"select {wanted} from howdah.list_subscriptions() where subscription = %s".encode(), (subscription,)
    )
    (row,) = rows.fetchall()
    return row if len(row) > 1 else row[0]


@pytest.mark.behaviour("AMQ-14")
@pytest.mark.behaviour("IMQ-92")
def test_queues_and_topics_with_durable_and_other_subscribers_all_deliver(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    durable = subscribe(db, "d")
    other = subscribe(db, None, durable=False)
    one(db, "select howdah.send('q', 'to the queue')")
    publish(db, "to the topic")
    assert [bodies(db, name) for name in ("q", durable, other)] == [
        ["to the queue"],
        ["to the topic"],
        ["to the topic"],
    ]
    assert [bodies(db, name) for name in ("q", durable, other)] == [[], [], []]


@pytest.mark.behaviour("AMQ-42")
@pytest.mark.behaviour("IMQ-19")
def test_a_durable_subscriber_gets_all_that_was_published_while_it_was_away(db: Db) -> None:
    name = subscribe(db, client_id="c")
    publish(db, "before")
    assert bodies(db, name) == ["before"]
    sent = one(db, "select howdah.send_batch('t', array(select n::text from generate_series(1, 1000) n))")
    assert subscribe(db, client_id="c") == name == "t:c:s"
    got = [m.message_id for _ in range(4) for m in receive(db, name, 300)]
    assert got == sent
    assert receive(db, name) == []


@pytest.mark.behaviour("AMQ-43")
def test_a_non_durable_subscriber_gets_nothing_from_before_and_nothing_is_kept_for_it(db: Db) -> None:
    topic(db, "plain")
    online = subscribe(db, None, "plain", durable=False)
    publish(db, "x", to="plain")
    late = subscribe(db, None, "plain", durable=False)
    assert (bodies(db, online), bodies(db, late)) == (["x"], [])
    one(db, "select howdah.unsubscribe(%s)", (online,))
    one(db, "select howdah.unsubscribe(%s)", (late,))
    before = stored(db)
    publish(db, "y", to="plain")
    assert stored(db) == before


@pytest.mark.behaviour("AMQ-47")
def test_subscribers_go_on_each_at_its_own_pace(db: Db) -> None:
    names = [subscribe(db, name) for name in "abc"]
    publish(db, *map(str, range(20)))
    assert len(bodies(db, names[0], 20)) == 20
    assert bodies(db, names[1], 2) == ["0", "1"]
    assert [listed(db, "behind", name) for name in names] == [0, 18, 20]
    assert [listed(db, "delivered", name) for name in names] == [20, 2, 0]
    assert bodies(db, names[1], 1) == ["2"]


def test_a_subscription_begins_now_at_the_beginning_or_at_a_time(db: Db, clock: Clock) -> None:
    publish(db, "a")
    clock.advance(10)
    moment = clock.now
    publish(db, "b")
    clock.advance(10)
    publish(db, "c")
    now = subscribe(db, "now")
    beginning = subscribe(db, "all", since="-infinity")
    since = subscribe(db, "since", since=moment)
    never = subscribe(db, "never", since=clock.now + timedelta(1))
    publish(db, "d")
    assert bodies(db, now) == ["d"]
    assert bodies(db, beginning) == ["a", "b", "c", "d"]
    assert bodies(db, since) == ["b", "c", "d"]
    assert bodies(db, never) == ["d"]


def test_a_subscription_from_a_time_gets_what_an_open_transaction_publishes(
    db: Db, connect: Connect, clock: Clock
) -> None:
    other = connect()
    with other.transaction():
        publish(other, "old")
        clock.advance(10)
        moment = clock.now
        publish(other, "young")
        publish(db, "between")
        name = subscribe(db, since=moment)
        assert bodies(db, name) == ["between"]
    assert "young" in bodies(db, name)


def test_the_cursor_moves_with_the_consumers_transaction(db: Db, connect: Connect) -> None:
    name = subscribe(db)
    publish(db, "a", "b")
    with db.transaction(force_rollback=True):
        assert bodies(db, name, 1) == ["a"]
        assert bodies(db, name, 1) == ["b"]
        assert bodies(db, name, 1) == []
    with db.transaction():
        assert bodies(db, name, 1) == ["a"]
        with db.transaction(force_rollback=True):
            assert bodies(db, name, 1) == ["b"]
        assert bodies(db, name, 1) == ["b"]
    assert bodies(db, name) == []


def test_a_killed_consumer_gives_back_what_it_had(db: Db, connect: Connect) -> None:
    name = subscribe(db)
    publish(db, "a")
    reader = connect()
    reader.execute("begin")
    assert bodies(reader, name) == ["a"]
    one(db, "select pg_terminate_backend(%s, 10000)", (reader.info.backend_pid,))
    assert bodies(db, name) == ["a"]


def test_an_unshared_subscription_has_one_active_consumer(db: Db, connect: Connect) -> None:
    name = subscribe(db)
    publish(db, "a", "b")
    first, second = connect(), connect()
    with first.transaction():
        assert bodies(first, name, 1) == ["a"]
        said = refused(second, "HD024", "select howdah.receive(%s)", (name,))
        assert "being read by another consumer" in (said.message_primary or "")
        refused(second, "HD024", "select howdah.receive_locked(%s)", (name,))
        assert bodies(first, name, 1) == ["b"]
    assert bodies(second, name) == []


def test_a_shared_subscription_gives_each_message_to_one_consumer(db: Db, connect: Connect) -> None:
    name = subscribe(db, shared=True)
    publish(db, *map(str, range(6)))
    first, second, third = connect(), connect(), connect()
    with first.transaction(), second.transaction(), third.transaction(force_rollback=True):
        assert bodies(first, name, 2) == ["0", "1"]
        assert bodies(second, name, 2) == ["2", "3"]
        assert bodies(third, name, 9) == ["4", "5"]
    assert bodies(first, name) == ["4", "5"]
    assert bodies(second, name) == []
    assert listed(db, "behind, delivered") == (0, 6)


def test_an_old_snapshot_never_reads_what_another_consumer_has_read(db: Db, connect: Connect) -> None:
    name = subscribe(db)
    publish(db, "a")
    reader = connect()
    reader.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
    with reader.transaction():
        reader.execute("select 1 from howdah.engine")
        assert bodies(db, name) == ["a"]
        refused(reader, "40001", "select howdah.receive(%s)", (name,))
    assert bodies(reader, name) == []


def test_a_consumer_that_is_away_for_a_minute_ends_a_non_durable_subscription(db: Db) -> None:
    gone, waiting, durable = subscribe(db, None, durable=False), subscribe(db, None, durable=False), subscribe(db)
    db.execute(
        "select setval(s.alive, pg_sequence_last_value(s.alive) - 61000) from howdah.subscriptions s"
        " join howdah.destinations d on d.id = s.destination_id where d.name <> %s",
        (waiting,),
    )
    one(db, "select count(*) from howdah.wait(%s)", (waiting,))
    assert maintain(db) == f"ended {gone}"
    assert sorted(column(db, "select subscription from howdah.list_subscriptions()")) == sorted([durable, waiting])
    said = refused(db, "HD001", "select howdah.receive(%s)", (gone,))
    assert said.message_primary
    assert maintain(db) == ""


def test_wait_on_a_subscription_names_its_topics_too(db: Db) -> None:
    topic(db, "t.b")
    name = subscribe(db, "w", ">")
    payload = one(db, "select payload from howdah.wait(%s)", (name,))
    assert payload.count("topic:") == 2
    listener_payloads = payload.split(",")
    db.execute("listen howdah")
    publish(db, "x")
    assert next(db.notifies(timeout=2, stop_after=1)).payload in listener_payloads


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


@pytest.mark.parametrize("shared", [False, True])
def test_with_a_selector_only_what_it_selects_is_received_and_counts_as_read(db: Db, shared: bool) -> None:
    name = subscribe(db, selector="kind = 'a' AND n BETWEEN 2 AND 3", shared=shared)
    for number in range(5):
        publish(db, f"a{number}", headers={"kind": "a", "n": number})
        publish(db, f"b{number}", headers={"kind": "b", "n": number})
    assert bodies(db, name) == ["a2", "a3"]
    assert listed(db, "behind") == 0


@pytest.mark.behaviour("AMQ-101")
@pytest.mark.parametrize("shared", [False, True])
def test_a_message_that_does_not_match_is_acknowledged_for_that_subscriber_alone(db: Db, shared: bool) -> None:
    name, other = subscribe(db, selector="n = 1", shared=shared), subscribe(db, "other")
    (sent,) = publish(db, "x", headers={"n": 2})
    pointers = "select last_acked_id >= %s from howdah.activemq_acks order by sub_name desc"
    assert listed(db, "behind") == 1
    assert bodies(db, name) == []
    assert listed(db, "behind, delivered") == (0, 0)
    assert column(db, pointers, (sent,)) == [True, False]
    assert bodies(db, other) == ["x"]
    assert column(db, pointers, (sent,)) == [True, True]


def test_a_selector_uses_headers_as_in_jms_and_an_empty_one_is_none(db: Db) -> None:
    name = subscribe(db, selector="JMSPriority > 4 OR JMSType = 'alarm' OR JMSCorrelationID = 'c'")
    empty = subscribe(db, "empty", selector="  ")
    publish(db, "low")
    publish(db, "high", priority=9)
    publish(db, "alarm", message_type="alarm")
    publish(db, "reply", correlation_id="c")
    assert bodies(db, name) == ["high", "alarm", "reply"]
    assert len(bodies(db, empty)) == 4


@pytest.mark.parametrize("kind", ["durable", "non-durable"])
def test_no_local_leaves_out_what_was_published_under_the_same_client_id(db: Db, connect: Connect, kind: str) -> None:
    name = subscribe(db, client_id="me", no_local=True, durable=kind == "durable")
    mine, other = connect(), connect()
    one(mine, "select howdah.set_client_id('me')")
    one(other, "select howdah.set_client_id('you')")
    publish(mine, "mine")
    one(mine, "select howdah.send_batch('t', array['mine too'])")
    publish(other, "yours")
    publish(db, "nobody's")
    assert bodies(db, name) == ["yours", "nobody's"]
    with mine.transaction():
        one(mine, "select howdah.set_client_id('you', local => true)")
        publish(mine, "as you")
    one(mine, "select howdah.set_client_id(null)")
    publish(mine, "as nobody")
    assert bodies(db, name) == ["as you", "as nobody"]
    refused(db, "HD003", "select howdah.set_client_id('a b')")


@pytest.mark.parametrize("shared", [False, True])
def test_a_prioritised_subscription_gets_higher_priorities_first_and_its_lag_is_counted_once(
    db: Db, shared: bool
) -> None:
    plain = subscribe(db, "plain")
    name = subscribe(db, options={"prioritized": True}, shared=shared)
    for priority in (0, 9, 4, 9, 5):
        publish(db, f"p{priority}", priority=priority)
    assert listed(db, "behind") == 5
    assert bodies(db, name, 2) == ["p9", "p9"]
    publish(db, "late", priority=8)
    assert bodies(db, name, 2) == ["late", "p5"]
    assert bodies(db, name) == ["p4", "p0"]
    assert listed(db, "behind, delivered") == (0, 6)
    assert bodies(db, plain) == ["p0", "p9", "p4", "p9", "p5", "late"]


def test_a_wildcard_subscribes_to_topics_that_match_later_ones_too(db: Db) -> None:
    for name in ("STOCKS.NYSE.EU", "STOCKS.NYSE.US", "STOCKS.FX"):
        topic(db, name)
    everything = subscribe(db, "all", "STOCKS.>")
    eu = subscribe(db, "eu", "STOCKS.*.EU")
    topic(db, "STOCKS.LSE.EU")
    topic(db, "STOCK")
    for name in ("STOCKS.NYSE.EU", "STOCKS.NYSE.US", "STOCKS.FX", "STOCKS.LSE.EU", "STOCK"):
        publish(db, name, to=name)
    assert sorted(map(str, bodies(db, everything))) == [
        "STOCKS.FX",
        "STOCKS.LSE.EU",
        "STOCKS.NYSE.EU",
        "STOCKS.NYSE.US",
    ]
    publish(db, "x", to="STOCKS.LSE.EU")
    publish(db, "y", to="STOCKS.NYSE.EU")
    publish(db, "z", to="STOCKS.FX")
    assert sorted(map(str, bodies(db, eu))) == ["STOCKS.LSE.EU", "STOCKS.NYSE.EU", "x", "y"]
    assert subscribe(db, "none", "NOTHING.>")
    assert [m.origin_queue for m in receive(db, everything, 9)] == ["STOCKS.NYSE.EU", "STOCKS.FX", "STOCKS.LSE.EU"]


@pytest.mark.parametrize("shared", [False, True])
def test_messages_are_acknowledged_out_of_order_one_by_one(db: Db, shared: bool) -> None:
    name = subscribe(db, shared=shared)
    first, second, third = publish(db, "1", "2", "3")
    with db.transaction():
        assert [m.body for m in receive(db, name, 9, "receive_locked")] == ["1", "2", "3"]
        consume(db, name, third, first)
    assert listed(db, "behind, delivered") == (2, 2)
    with db.transaction():
        assert bodies(db, name, 9, "receive_locked") == ["2"]
    refused(
        db, "HD013", "select howdah.consume_locked(%s, array[%s::bigint], array[4], array[1::bigint])", (name, first)
    )
    with db.transaction(force_rollback=True):
        bodies(db, name, 9, "receive_locked")
        consume(db, name, second)
    with db.transaction():
        bodies(db, name, 9, "receive_locked")
        consume(db, name, second)
    assert bodies(db, name) == []
    assert listed(db, "behind, delivered") == (0, 3)
    assert one(db, "select count(*) from howdah.acked") == 0


@pytest.mark.parametrize("shared", [False, True])
def test_nobody_consumes_what_another_consumer_holds(db: Db, connect: Connect, shared: bool) -> None:
    name = subscribe(db, shared=shared)
    (sent,) = publish(db, "1")
    holder = connect()
    with holder.transaction():
        assert bodies(holder, name, 1, "receive_locked") == ["1"]
        refused(
            db, "HD013", "select howdah.consume_locked(%s, array[%s::bigint], array[4], array[1::bigint])", (name, sent)
        )
        consume(holder, name, sent)
    assert listed(db, "delivered") == 1


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
    assert column(
        db, "select message_id from howdah.audit_journal where queue = %s and event = 'discarded' order by 1", (name,)
    ) == [
        sent[0],
        sent[2],
    ]
    assert len(bodies(db, other)) == 3
    publish(db, "4")
    assert bodies(db, name) == ["4"]


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
    "SELECT M.ID FROM howdah.ACTIVEMQ_MSGS M, howdah.ACTIVEMQ_ACKS D WHERE D.CONTAINER=%s AND D.CLIENT_ID=%s AND D.SUB_NAME=%s"
    " AND M.XID IS NULL AND M.CONTAINER=D.CONTAINER AND M.ID>D.LAST_ACKED_ID AND M.ID>%s ORDER BY M.ID"
)


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


@pytest.mark.behaviour("AMQ-61")
def test_a_durable_subscription_is_a_row_of_activemq_acks_and_ten_when_prioritised(db: Db) -> None:
    subscribe(db, client_id="c", selector="n = 1")
    subscribe(db, "p", client_id="c", options={"prioritized": True})
    subscribe(db, None, durable=False)
    rows = db.execute(
        "select container, sub_dest, client_id, sub_name, selector, last_acked_id, priority, xid from howdah.activemq_acks"
        " order by sub_name desc, priority"
    ).fetchall()
    assert rows[0] == ("topic://t", "topic://t", "c", "s", "n = 1", -1, 0, None)
    assert [(row[3], row[6]) for row in rows[1:]] == [("p", priority) for priority in range(10)]
    key = column(
        db,
        "select a.attname::text from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)"
        " where i.indrelid = 'howdah.acks'::regclass and i.indisprimary order by a.attnum",
    )
    assert sorted(key) == ["client_id", "destination_id", "priority", "subscription_name"]
    assert db.execute(
        "SELECT SELECTOR,SUB_NAME,CLIENT_ID,SUB_DEST FROM howdah.ACTIVEMQ_ACKS WHERE CONTAINER='topic://t' AND PRIORITY=0 ORDER BY 2"
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
