"""Subscriptions: the kinds there are, and what each gets."""

from datetime import timedelta

import pytest
from support import Clock, Connect, Db, one, receive
from topics_support import bodies, listed, maintain, publish, stored, subscribe, topic


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


def test_wait_on_a_subscription_names_its_topics_too(db: Db) -> None:
    topic(db, "t.b")
    name = subscribe(db, "w", ">")
    payload = one(db, "select payload from howdah.wait(%s)", (name,))
    assert payload.count("topic:") == 2
    listener_payloads = payload.split(",")
    db.execute("listen howdah")
    publish(db, "x")
    assert next(db.notifies(timeout=20, stop_after=1)).payload in listener_payloads


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
