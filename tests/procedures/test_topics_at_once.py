"""Topics, their bridges and subscriptions that several sessions change at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from support import Connect, Db, one, wait_until_blocked
from topics_support import bodies, publish, subscribe, topic


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
