"""Topics, their bridges and subscriptions that several sessions change at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

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
