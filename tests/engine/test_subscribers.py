"""A subscriber gets what is published from now on, is woken by commits, and ends with its session."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from subscriber_support import bodies
from support import Db, one, wait_until

from howdah.engine import Connection, Message, connect
from howdah.engine.database.waiting import Idle


def test_a_sessions_subscriber_gets_what_comes_from_now_on_and_ends_with_the_session(
    connection: Connection, prices: str
) -> None:
    connection.admin.alter_topic(prices, recovery="last_image")
    for body in ("old", "last"):
        connection.send(prices, body)
    other = connection.session()
    with connection.session() as session:
        first, second = session.subscriber(prices), other.subscriber(prices, selector="level > 1")
        connection.send(prices, "now", headers={"level": 1})
        assert [first.receive(5).body for _ in range(2)] == ["last", "now"]  # type: ignore[union-attr]
        assert second.receive_nowait() is None
        assert [row["durable"] for row in connection.admin.list_subscriptions()] == [False, False]
    # The first session was closed with messages in hand.
    (left,) = connection.admin.list_subscriptions()
    assert left["subscription"] == second.queue
    other.close()
    assert connection.admin.list_subscriptions() == []


def test_a_subscriber_ends_when_its_connection_is_closed_and_with_a_listener_too(
    connection: Connection, prices: str, dsn: str
) -> None:
    got: list[object] = []
    with connect(dsn) as closing:
        closing.session(transacted=False).subscriber(prices)
        closing.session().subscriber(prices).listener = lambda message: got.append(message.body)
        connection.send(prices, "x")
        wait_until(lambda: got == ["x"])
        assert len(connection.admin.list_subscriptions()) == 2
    assert connection.admin.list_subscriptions() == []


# -- waking -----------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("IMQ-18")
def test_a_commit_wakes_every_idle_subscriber_which_has_its_copy_within_a_second(
    connection: Connection, prices: str, db: Db, rare: set[Idle]
) -> None:
    names = [connection.admin.subscribe(prices, name) for name in "abcd"]

    def receive(name: str) -> tuple[list[Message], float]:
        with connection.session() as session, session.transaction():
            return session.receive(name, wait=20), time.monotonic()

    def slowest(body: str) -> float:
        """Seconds until the last of them had its copy."""
        received: list[Future[tuple[list[Message], float]]] = [threads.submit(receive, name) for name in names]
        wait_until(lambda: len(rare) == len(names))
        sent = time.monotonic()
        one(db, "select howdah.send('prices', %s)", (body,))
        for each in received:
            assert [message.body for message in each.result(10)[0]] == [body]
        return max(each.result()[1] for each in received) - sent

    with ThreadPoolExecutor(len(names)) as threads:
        # What else the machine does can only slow them down: of a few series one tells. In it each publication is
        # quick, not only some.
        assert any(all(slowest(body) < 1 for body in series) for series in ("xyz", "uvw", "rst"))
    with connection.session() as session:
        assert [bodies(session, name) for name in names] == [[]] * len(names), "one copy each"


def test_a_topic_made_later_wakes_the_subscriber_of_a_wildcard(connection: Connection, db: Db) -> None:
    name = connection.admin.subscribe("stocks.>", "a")
    got: list[object] = []
    session = connection.session()
    session.consumer(name).listener = lambda message: got.append(message.body)
    connection.admin.create_topic("stocks.eu")
    connection.send("stocks.eu", "x")
    wait_until(lambda: got == ["x"])
