"""A subscription that is not durable lasts as long as a worker has it, and is made again."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from support import Db, one, wait_until
from worker_subscriptions_support import got, publish, subscriptions, wait_subscribed
from workers_support import StartWorkers, Work

from howdah.engine import Admin, Session
from howdah.engine.errors import NoSuchQueue
from howdah.workers import App
from howdah.workers.guard import HandlerConnection
from howdah.workers.in_hand import Hands
from howdah.workers.maintenance import Maintenance
from howdah.workers.recorder import Recorder
from howdah.workers.registration import Registration
from howdah.workers.subscriptions import SubscriptionDelivery, subscribers_of


@pytest.fixture
def events(jobs: Work) -> Db:
    """The topic that the applications subscribe to, and where they note what they got."""
    jobs.db.execute(
        "create table work.got (n bigserial, subscription text, body text); select howdah.create_topic('events')"
    )
    return jobs.db


@pytest.mark.slow
def test_a_subscription_that_is_not_durable_ends_with_the_last_worker_that_has_it(
    events: Db, start: StartWorkers
) -> None:
    first, second = start("topicapp:fleeting"), start("topicapp:fleeting")
    wait_subscribed(events, "~f")
    wait_until(lambda: one(events, "select count(*) from howdah.list_workers()") == 2)
    publish(events, "1")
    wait_until(lambda: got(events, "~f") == ["1"])
    first.stop()
    first.wait_ended()
    publish(events, "2")
    wait_until(lambda: got(events, "~f") == ["1", "2"])
    second.stop()
    second.wait_ended()
    assert subscriptions(events) == []


def test_it_is_kept_while_its_sessions_are_busy_elsewhere(events: Db, dsn: str, tmp_path: Path) -> None:
    name = one(events, "select howdah.subscribe('events', 'f', durable => false)")
    events.execute("select setval(alive, 1) from howdah.subscriptions")
    silent = "select silent_for > interval '1 minute' from howdah.list_subscriptions()"
    assert one(events, silent)
    registration = Registration(dsn, "w", 1, [name], Hands.create(tmp_path / "hands", 1), [name])
    registration.beat()
    assert not one(events, silent)
    assert one(events, "select howdah.maintain_subscriptions()") == ""
    registration.end()
    assert subscriptions(events) == []


def test_one_that_was_ended_is_made_again_unless_it_is_durable(events: Db, dsn: str, tmp_path: Path) -> None:
    got_bodies: list[object] = []
    for durable in (False, True):
        app = App("direct")
        app.subscribe("events", name="d", durable=durable)(lambda message, _: got_bodies.append(message.body))
        ((name, subscriber),) = subscribers_of(app).items()
        with HandlerConnection.open(dsn, "direct") as connection:
            recorder = Recorder(dsn, "w", threading.Event())
            delivery = SubscriptionDelivery(
                subscriber,
                app.bindings[name],
                0,
                worker="w",
                hands=Hands.create(tmp_path / f"hands-{durable}", 1),
                slot=0,
                record=recorder.record,
            )
            assert delivery.run_once(connection).handled == 0
            Admin(Session(events).call).unsubscribe(name)
            with pytest.raises(NoSuchQueue):
                delivery.run_once(connection)
            if durable:
                with pytest.raises(NoSuchQueue):
                    delivery.run_once(connection)
                assert name not in subscriptions(events)
            else:
                assert delivery.run_once(connection).handled == 0
                publish(events, "x")
                assert delivery.run_once(connection).handled == 1
            recorder.close()
    assert got_bodies == ["x"]


def test_the_maintenance_leader_turns_the_tables_of_topics_and_ends_silent_subscriptions(events: Db, dsn: str) -> None:
    one(events, "select howdah.subscribe('events', 'f', durable => false)")
    one(events, "select howdah.subscribe('events', 'd')")
    publish(events, "x")
    events.execute("select setval(alive, 1) from howdah.subscriptions")
    events.execute("update howdah.topic_ring set opened_at = '2000-01-01'")
    leader = Maintenance(dsn, "leader")
    try:
        assert leader.run_once("subscriptions") == "ended events::~f"
        assert leader.run_once("topics") == "opened 1"
        assert "closed 0" in str(leader.run_once("topics"))
    finally:
        leader.stop()
    assert subscriptions(events) == ["events::d"]
