"""Topics, their bridges and subscriptions that several sessions change at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from psycopg.types.json import Jsonb
from support import Connect, Db, column, one, refused, wait_until_blocked
from topics_support import bodies, maintain, publish, subscribe, topic


def test_a_receive_by_a_wildcard_ends_though_a_topic_that_it_comes_to_is_dropped(db: Db, connect: Connect) -> None:
    for name in ("a.1", "a.2"):
        topic(db, name)
    name = subscribe(db, to="a.>", selector="n = 1")
    dropping, reading = connect(), connect()
    reading.execute("set statement_timeout = '5s'")
    assert bodies(reading, name) == [], "from now on the first lock that it meets is that of a cursor it reads"
    with ThreadPoolExecutor() as threads:
        with dropping.transaction():
            dropping.execute("lock table howdah.ack_cursors in access exclusive mode")
            got = threads.submit(bodies, reading, name)
            wait_until_blocked(db, reading)
            one(dropping, "select howdah.drop_topic('a.2', true)")
        assert got.result() == []
    publish(db, "x", to="a.1", headers={"n": 1})
    assert bodies(reading, name) == ["x"]


@pytest.mark.parametrize("kind", ["bridge", "virtual topic"])
def test_a_queue_bridged_while_another_one_is_dropped_gets_what_is_published(
    db: Db, connect: Connect, kind: str
) -> None:
    virtual = kind == "virtual topic"
    to = "VirtualTopic.X" if virtual else "t"
    old, new = ("Consumer.A.VirtualTopic.X", "Consumer.B.VirtualTopic.X") if virtual else ("a", "b")
    topic(db, to)
    for queue in (old,) if virtual else (old, new):
        one(db, "select howdah.create_queue(%s)", (queue,))
    if not virtual:
        one(db, "select howdah.bridge(%s, %s)", (to, old))
    bridging, dropping = connect(), connect()
    with ThreadPoolExecutor() as threads:
        with bridging.transaction():
            if virtual:
                one(bridging, "select howdah.create_queue(%s)", (new,))
            else:
                one(bridging, "select howdah.bridge(%s, %s)", (to, new))
            dropped = threads.submit(one, dropping, "select howdah.drop_queue(%s)", (old,))
            wait_until_blocked(db, dropping)
        dropped.result()
    publish(db, "x", to=to)
    assert bodies(db, new) == ["x"]


def test_the_last_bridge_that_goes_with_its_queue_leaves_none(db: Db) -> None:
    topic(db)
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.bridge('t', 'q')")
    one(db, "select howdah.drop_queue('q')")
    assert not one(db, "select bridged from howdah.topics")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"backlog_limit": 5}, {"retain_ms": 1000}),
        ({"default_priority": 7}, {"default_time_to_live_ms": 1000}),
    ],
    ids=["of topics", "of destinations"],
)
def test_two_who_alter_a_topic_at_once_lose_no_option(
    db: Db, connect: Connect, first: dict[str, Any], second: dict[str, Any]
) -> None:
    topic(db)
    altering, other = connect(), connect()
    alter = "select howdah.alter_topic('t', %s)"
    with ThreadPoolExecutor() as threads:
        with altering.transaction():
            one(altering, alter, (Jsonb(first),))
            altered = threads.submit(one, other, alter, (Jsonb(second),))
            wait_until_blocked(db, other)
        altered.result()
    options = one(db, "select howdah.topic_options('t')")
    assert first | second == {key: options[key] for key in first | second}
    changed = "select before, after from howdah.config_changes where act = 'altered' order by change_id"
    (_, after_first), (before_second, _) = db.execute(changed.encode()).fetchall()
    assert before_second == after_first, "each change is recorded as what it changed"


def test_who_drops_a_topic_beside_its_successor_meets_the_successors_subscriptions(db: Db, connect: Connect) -> None:
    topic(db)
    replacing, dropping = connect(), connect()
    with ThreadPoolExecutor() as threads:
        with replacing.transaction():
            one(replacing, "select howdah.drop_topic('t', true)")
            topic(replacing)
            subscribe(replacing)
            said = threads.submit(refused, dropping, "HD011", "select howdah.drop_topic('t')")
            wait_until_blocked(db, dropping)
        assert said.result()
    publish(db, "x")
    assert bodies(db) == ["x"]


@pytest.mark.parametrize("call", ["drop_topic('t')", """alter_topic('t', '{"retain_ms": 1000}')"""])
def test_a_topic_dropped_meanwhile_is_neither_altered_nor_dropped_again(db: Db, connect: Connect, call: str) -> None:
    topic(db)
    dropping, second = connect(), connect()
    with ThreadPoolExecutor() as threads:
        with dropping.transaction():
            one(dropping, "select howdah.drop_topic('t')")
            said = threads.submit(refused, second, "HD001", f"select howdah.{call}")
            wait_until_blocked(db, second)
        assert said.result()


def test_a_subscription_that_ends_locks_its_topics_in_their_order_as_one_that_begins(db: Db, connect: Connect) -> None:
    """Otherwise the two would deadlock."""
    first, *others = [topic(db, f"a.{number}") for number in range(12)]
    name = subscribe(db, to="a.>")
    holding, ending = connect(), connect()
    lock = "select count(*) from (select from howdah.topics where destination_id = any (%s) for update skip locked) t"
    with ThreadPoolExecutor() as threads:
        with holding.transaction():
            assert one(holding, lock, ([first],)) == 1
            ended = threads.submit(one, ending, "select howdah.unsubscribe(%s)", (name,))
            wait_until_blocked(db, ending)
            assert one(db, lock, (others,)) == len(others), "it waits for the first and has none of the others"
        ended.result()


def silence(db: Db) -> None:
    """Nobody was heard of for longer than a subscription lives that is not durable."""
    db.execute("select setval(s.alive, pg_sequence_last_value(s.alive) - 61000) from howdah.subscriptions s")


def test_maintenance_that_ends_several_subscriptions_waits_for_nobody_who_makes_one(db: Db, connect: Connect) -> None:
    """Whoever subscribes to one topic after another would deadlock with it."""
    for name in "ab":
        topic(db, name)
    on_b, on_a = (subscribe(db, None, to, durable=False) for to in "ba")
    silence(db)
    joining, maintaining = connect(), connect()
    maintaining.execute("set lock_timeout = '5s'")
    with joining.transaction():
        subscribe(joining, "first", "a")
        assert maintain(maintaining) == f"ended {on_b}"
        subscribe(joining, "second", "b")
    assert maintain(maintaining) == f"ended {on_a}"


@pytest.mark.parametrize("action", ["refuse", "drop_subscription"])
def test_maintenance_that_bounds_a_backlog_waits_for_nobody_who_subscribes(
    db: Db, connect: Connect, action: str
) -> None:
    topic(db, backlog_limit=2, backlog_action=action)
    name = subscribe(db)
    publish(db, *"123")
    maintain(db)
    joining, maintaining = connect(), connect()
    maintaining.execute("set lock_timeout = '5s'")
    with joining.transaction():
        subscribe(joining, "joining")
        assert maintain(maintaining) == ""
    assert maintain(maintaining) == ("refused publishers to t" if action == "refuse" else f"dropped {name}")
    if action == "refuse":
        bodies(db, name)
        with joining.transaction():
            subscribe(joining, "another")
            maintain(maintaining)
            assert one(db, "select refused_for from howdah.topics") == name
        maintain(maintaining)
        assert one(db, "select refused_for from howdah.topics") is None


@pytest.mark.parametrize("durable", [True, False], ids=["behind", "silent"])
def test_maintenance_that_leaves_a_leased_subscription_alone_does_not_hinder_its_consumer(
    db: Db, connect: Connect, durable: bool
) -> None:
    topic(db, backlog_limit=2)
    name = subscribe(db, durable=durable)
    publish(db, *"1234")
    consumer, maintaining = connect(), connect()
    number = one(consumer, "select howdah.open_consumer(%s, own_session => true)", (name,))
    lease = "select body from howdah.lease(%s, consumer => %s)"
    assert column(consumer, lease, (name, number)) == ["1"]
    maintain(db)
    silence(db)
    with maintaining.transaction():
        assert maintain(maintaining) == ""
        assert column(consumer, lease, (name, number)) == ["2"]


def test_maintenance_that_leaves_an_open_consumer_alone_does_not_hinder_it(db: Db, connect: Connect) -> None:
    topic(db)
    name = subscribe(db, durable=False)
    publish(db, "1")
    consumer, maintaining = connect(), connect()
    number = one(consumer, "select howdah.open_consumer(%s, own_session => true)", (name,))
    silence(db)
    with maintaining.transaction():
        assert maintain(maintaining) == ""
        assert column(consumer, "select body from howdah.receive(%s, consumer => %s)", (name, number)) == ["1"]


def test_what_is_published_while_a_subscription_is_set_to_the_end_is_counted_or_comes(db: Db, connect: Connect) -> None:
    topic(db)
    name = subscribe(db)
    publish(db, "before")
    holding, seeking = connect(), connect()
    with ThreadPoolExecutor() as threads:
        with holding.transaction():
            holding.execute("lock table howdah.acked in exclusive mode")
            skipped = threads.submit(one, seeking, "select howdah.seek_subscription(%s, 'infinity')", (name,))
            wait_until_blocked(db, seeking)
            publish(db, "meanwhile")
        assert skipped.result() == 1
    assert bodies(db, name) == ["meanwhile"]
