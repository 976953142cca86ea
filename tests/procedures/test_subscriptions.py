"""Subscriptions: the kinds there are, and what each gets."""

from datetime import timedelta

import psycopg
import pytest
from support import Clock, Connect, Db, column, one, receive, refused
from topics_support import bodies, consume, listed, maintain, publish, stored, subscribe, topic


@pytest.fixture(autouse=True)
def a_topic(db: Db) -> None:
    topic(db, retain_ms=3_600_000)


@pytest.mark.first_case
@pytest.mark.behaviour("IMQ-92")
@pytest.mark.parametrize("shared", [False, True])
def test_an_active_non_durable_and_an_offline_durable_subscriber_both_get_it(
    db: Db, clock: Clock, connect: Connect, shared: bool
) -> None:
    durable = subscribe(db, "d", client_id="c", shared=shared)
    active = subscribe(db, None, durable=False)
    with connect() as consumer:
        publish(db, "to both")
        assert bodies(consumer, durable) == bodies(db, active) == ["to both"]
    clock.advance(45)
    assert bodies(db, active) == [], "it is there all the time"
    clock.advance(45)
    maintain(db)  # longer ago than a subscription lives whose consumers are gone
    publish(db, "while it was away")
    assert bodies(db, active) == ["while it was away"]
    clock.advance(45)
    assert bodies(db, active) == []
    clock.advance(45)
    maintain(db)
    assert bodies(db, active) == []
    assert bodies(connect(), durable) == ["while it was away"]


@pytest.mark.behaviour("AMQ-14")
def test_queues_and_topics_with_durable_and_other_subscribers_all_deliver(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    names = ["q", subscribe(db, "d"), subscribe(db, None, durable=False)]
    names += [subscribe(db, "ds", shared=True), subscribe(db, "s", shared=True, durable=False)]
    one(db, "select howdah.send('q', 'to the queue')")
    publish(db, "to the topic")
    assert [bodies(db, name) for name in names] == [["to the queue"], *[["to the topic"]] * 4]
    assert [bodies(db, name) for name in names] == [[]] * 5


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
    one(db, "select cardinality(howdah.send_batch('t', array(select n::text from generate_series(0, 99) n)))")
    assert len(bodies(db, names[0])) == 100
    assert bodies(db, names[1], 10) == list(map(str, range(10)))
    assert [listed(db, "behind", name) for name in names] == [0, 90, 100]
    assert [listed(db, "delivered", name) for name in names] == [100, 10, 0]
    assert bodies(db, names[1], 1) == ["10"]
    assert bodies(db, names[2], 1) == ["0"]


def test_a_receive_that_finds_nothing_writes_nothing(db: Db) -> None:
    name = subscribe(db)
    publish(db, "a")
    assert [bodies(db, name), bodies(db, name)] == [["a"], []]
    steps = one(db, "select count(*) from howdah.ack_cursors")
    with db.transaction():
        assert [bodies(db, name) for _ in range(20)] == [[]] * 20
        assert one(db, "select pg_current_xact_id_if_assigned()") is None
    assert one(db, "select count(*) from howdah.ack_cursors") == steps


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
    assert next(db.notifies(timeout=20, stop_after=1)).payload in listener_payloads


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


@pytest.mark.first_case
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
