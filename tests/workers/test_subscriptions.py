"""Workers that subscribe.

The subscription is made when they start, and worked on like a queue, whoever fails or is killed.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from command import howdah
from psycopg.types.json import Jsonb
from support import SYSTEM, Connect, Db, column, one, wait_until
from workers_support import StartWorkers, Work

from howdah.engine import Admin, Session
from howdah.engine.errors import NoSuchListener, NoSuchQueue, NotAllowed
from howdah.workers import App, AppError, Message, Transaction
from howdah.workers.deliveries import deliveries_of
from howdah.workers.endpoint import endpoints_of
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


def publish(db: Db, *bodies: str, **options: Any) -> list[int]:
    level = options.get("level", 0)
    return one(  # type: ignore[no-any-return]
        db,
        "select howdah.send_batch('events', %s::text[], headers => array_fill(%s::jsonb, array[%s]))",
        (list(bodies), Jsonb({"level": level}), len(bodies)),
    )


def got(db: Db, name: str) -> list[str]:
    return column(db, "select body from work.got where subscription = %s order by n", (f"events::{name}",))


def subscriptions(db: Db) -> list[str]:
    return column(db, "select subscription from howdah.list_subscriptions()")


def wait_subscribed(db: Db, *names: str) -> None:
    wait_until(lambda: {f"events::{name}" for name in names} <= set(subscriptions(db)))


@pytest.mark.slow
def test_workers_subscribe_when_they_start_and_each_subscription_gets_its_messages_once(
    events: Db, start: StartWorkers
) -> None:
    start("topicapp:both", processes=2, sessions=2)
    wait_subscribed(events, "a", "b")
    low = [f"low {n}" for n in range(40)]
    high = [f"high {n}" for n in range(40)]
    publish(events, *low)
    publish(events, *high, level=2)
    wait_until(lambda: len(got(events, "a")) >= 80 and len(got(events, "b")) >= 40)
    assert sorted(got(events, "a")) == sorted(low + high)
    assert sorted(got(events, "b")) == sorted(high)
    publish(events, "again", level=2)
    wait_until(lambda: "again" in got(events, "a") and "again" in got(events, "b"))
    assert len(got(events, "a")) == 81
    lag = "select behind, set_aside from howdah.list_subscriptions()"
    wait_until(lambda: events.execute(lag.encode()).fetchall() == [(0, 0), (0, 0)])


@pytest.mark.slow
def test_a_restarted_worker_goes_on_where_its_subscription_stood(events: Db, start: StartWorkers) -> None:
    first = start("topicapp:both")
    wait_subscribed(events, "a", "b")
    publish(events, "1", level=2)
    wait_until(lambda: got(events, "a") == got(events, "b") == ["1"])
    first.stop()
    first.wait_ended()
    publish(events, "2", "3", level=2)
    start("topicapp:both")
    wait_until(lambda: len(got(events, "a") + got(events, "b")) == 6)
    assert got(events, "a") == got(events, "b") == ["1", "2", "3"]


@pytest.mark.slow
def test_what_a_handler_cannot_do_goes_to_the_exception_destination_and_the_other_subscription_gets_it(
    events: Db, start: StartWorkers
) -> None:
    start("topicapp:failing", sessions=2)
    wait_subscribed(events, "failing", "fine")
    (poison, *_) = publish(events, "fail", "x", "y")
    dead = "select message_id, origin_queue from howdah.browse(%s, 10)"
    wait_until(lambda: events.execute(dead.encode(), (SYSTEM,)).fetchall() == [(poison, "events::failing")])
    wait_until(lambda: len(got(events, "failing")) == 2 and len(got(events, "fine")) == 3)
    assert sorted(got(events, "failing")) == ["x", "y"]
    assert sorted(got(events, "fine")) == ["fail", "x", "y"]
    assert column(events, "select distinct queue_name from howdah.incidents()") == ["events::failing"]
    assert column(events, "select attempt from howdah.incidents() order by incident_id") == [1, 2]


@pytest.mark.slow
def test_a_killed_workers_message_comes_back_and_the_death_counts(events: Db, jobs: Work, start: StartWorkers) -> None:
    workers = start("topicapp:failing")
    wait_subscribed(events, "failing", "fine")
    with jobs.gate():
        (message,) = publish(events, "gate")
        jobs.wait_in_handler(message)
        workers.kill()
        jobs.wait_in_handler(message, 2)
    wait_until(lambda: got(events, "failing") == ["gate"])
    assert jobs.trace(message) == [1, 2]
    assert jobs.incidents(message) == ["WorkerDied"]


@pytest.mark.slow
def test_kills_under_load_lose_nothing_and_double_nothing_of_any_subscription(
    events: Db, start: StartWorkers, connect: Connect
) -> None:
    workers = start("topicapp:both", processes=2, sessions=2)
    wait_subscribed(events, "a", "b")
    bodies = [str(n) for n in range(3000)]
    publisher = threading.Thread(
        target=lambda db: [publish(db, *bodies[n : n + 50], level=2) for n in range(0, 3000, 50)], args=(connect(),)
    )
    publisher.start()
    count = "select count(*) from work.got"
    for killed_at in (500, 2000):
        wait_until(lambda killed_at=killed_at: one(events, count) > killed_at)  # type: ignore[misc]
        workers.kill()
    publisher.join()
    wait_until(lambda: one(events, count) >= 6000)
    assert sorted(map(int, got(events, "a"))) == sorted(map(int, got(events, "b"))) == list(range(3000))
    wait_until(lambda: column(events, "select behind from howdah.list_subscriptions()") == [0, 0])
    assert one(events, count) == 6000


@pytest.mark.slow
def test_an_unshared_subscription_is_worked_on_in_the_order_of_publishing_by_one_session_at_a_time(
    events: Db, start: StartWorkers
) -> None:
    workers = start("topicapp:ordered", processes=2, sessions=2)
    wait_subscribed(events, "ordered")
    bodies = [str(n) for n in range(300)]
    for n in range(0, 300, 20):
        publish(events, *bodies[n : n + 20])
    wait_until(lambda: len(got(events, "ordered")) >= 300)
    assert got(events, "ordered") == bodies
    assert workers.events("cannot receive") == []


@pytest.mark.slow
@pytest.mark.parametrize(("app", "names"), [("both", ["a", "b"]), ("ordered", ["ordered"])])
def test_idle_workers_of_every_subscription_are_woken_by_a_commit(
    events: Db, start: StartWorkers, connect: Connect, app: str, names: list[str]
) -> None:
    ear = connect()
    ear.execute("listen howdah")
    start(f"rarely:{app}", processes=2)
    wait_subscribed(events, *names)
    wait_until(lambda: one(events, "select count(*) from howdah.list_workers()") == 2)
    took = []
    for number in range(7):
        time.sleep(0.3)  # by now all of them sleep, for half a minute unless they are woken
        sent = time.monotonic()
        publish(events, str(number), level=2)
        wait_until(lambda number=number: all(len(got(events, name)) > number for name in names), 60)  # type: ignore[misc]
        took.append(time.monotonic() - sent)
    topic = one(events, "select 'topic:' || id from howdah.destinations where name = 'events'")
    # Most of them: where this machine stands still for seconds, publishers heed no longer that they were asked.
    assert [notification.payload for notification in ear.notifies(timeout=0)].count(topic) >= 4
    assert sorted(took)[3] < 5, took


@pytest.mark.slow
def test_another_process_takes_over_an_unshared_subscription(events: Db, jobs: Work, start: StartWorkers) -> None:
    workers = start("topicapp:ordered", processes=2)
    wait_subscribed(events, "ordered")
    with jobs.gate():
        (message,) = publish(events, "gate")
        publish(events, "next")
        workers.kill(jobs.wait_in_handler(message))
        jobs.wait_in_handler(message, 2)
    wait_until(lambda: len(got(events, "ordered")) == 2)
    assert got(events, "ordered") == ["gate", "next"]


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


def listener(db: Db) -> tuple[str, int, str]:
    found = db.execute("select queue, failures, status from howdah.list_listeners('events-listener')").fetchone()
    assert found is not None
    return found[0], found[1], found[2]


@pytest.mark.slow
@pytest.mark.behaviour("WAS-33")
def test_a_failure_stops_the_listener_of_a_subscription_and_resumed_it_counts_on(
    events: Db, dsn: str, start: StartWorkers
) -> None:
    workers = start("topicapp:listened")
    wait_subscribed(events, "l", "free")
    (poison, _) = publish(events, "fail", "behind")
    for deliveries in (1, 2, 3):
        wait_until(lambda: len(workers.events("listener stopped")) == deliveries)  # noqa: B023
        assert listener(events) == ("events::l", deliveries, "stopped")
        assert column(events, "select attempt from howdah.incidents('events::l') order by 1") == list(
            range(1, deliveries + 1)
        )
        if deliveries < 3:
            assert howdah(dsn, "listener", "resume", "events-listener").code == 0
    wait_until(lambda: got(events, "free") == ["fail", "behind"])
    assert got(events, "l") == []
    # What a subscription has not read is the topic's and cannot be discarded; a limit moves it.
    one(events, "select howdah.alter_queue('events::l', %s)", (Jsonb({"max_failed_deliveries": 3}),))
    howdah(dsn, "listener", "resume", "events-listener")
    wait_until(lambda: got(events, "l") == ["behind"])
    assert column(events, "select message_id from howdah.browse(%s)", (SYSTEM,)) == [poison]
    wait_until(lambda: listener(events) == ("events::l", 0, "running"))


@pytest.mark.slow
def test_the_listener_of_a_subscription_stops_after_so_many_failures_in_a_row(events: Db, start: StartWorkers) -> None:
    one(events, "select howdah.subscribe('events', 'l', shared => true, options => '{\"max_failed_deliveries\": 0}')")
    options = Jsonb({"sequential_failures": 3})
    one(events, "select howdah.create_listener('events-listener', 'events::l', %s)", (options,))
    publish(events, "fail")
    start("topicapp:listened")
    wait_until(lambda: listener(events)[2] == "stopped")
    assert listener(events)[1] == 3, "what the administrator made counts, not what the code says"


@pytest.mark.slow
def test_so_many_sessions_of_all_processes_receive_a_subscription_with_a_listener(
    events: Db, jobs: Work, start: StartWorkers
) -> None:
    workers = start("topicapp:listened", processes=2, sessions=3)
    wait_subscribed(events, "l", "free")
    with jobs.gate():
        publish(events, *["gate"] * 5)
        wait_until(lambda: one(events, "select count(*) from work.trace") == 2)
        wait_until(lambda: len(got(events, "free")) == 5)
        assert one(events, "select count(*) from work.trace") == 2, "the other sessions were about, and got none"
        (pid, *_) = column(events, "select pid from work.trace")
        workers.kill(pid)
        wait_until(lambda: listener(events)[2] == "stopped")
    assert column(events, "select distinct error_class from howdah.incidents('events::l')") == ["WorkerDied"]


def test_the_listener_of_a_subscription_that_is_not_durable_is_made_again_with_it_and_counts(
    events: Db, dsn: str, tmp_path: Path
) -> None:
    app = App("direct")

    def fail(message: Message, transaction: Transaction) -> None:
        raise ValueError(message.body)

    app.subscribe("events", name="d", durable=False, listener="events-listener")(fail)
    (binding,) = app.bindings.values()
    recorder = Recorder(dsn, "w", threading.Event(), app.listeners)
    (delivery,) = deliveries_of(
        app,
        endpoints_of(app, "w"),
        subscribers_of(app),
        worker="w",
        hands=Hands.create(tmp_path / "hands", 1),
        slot=0,
        record=recorder.record,
    )
    with HandlerConnection.open(dsn, "direct") as connection:
        for _ in range(2):
            assert delivery.run_once(connection).handled == 0
            assert listener(events) == ("events::~d", 0, "running")
            publish(events, "x")
            assert delivery.run_once(connection).failed == 1
            assert listener(events) == ("events::~d", 1, "stopped")
            Admin(Session(events).call).unsubscribe(binding.queue)
            assert column(events, "select * from howdah.list_listeners()") == []
            with pytest.raises((NoSuchListener, NoSuchQueue)):
                delivery.run_once(connection)
    recorder.close()


@pytest.mark.slow
def test_handlers_of_one_subscription_share_its_messages_by_type(events: Db, start: StartWorkers) -> None:
    start("topicapp:typed")
    wait_subscribed(events, "t")
    one(events, "select howdah.send('events', 'bill', message_type => 'bill')")
    one(events, "select howdah.send('events', 'order', message_type => 'order')")
    wait_until(lambda: one(events, "select delivered from howdah.list_subscriptions()") == 2)
    wait_until(lambda: got(events, "t") == ["order"])


def test_a_role_that_may_not_subscribe_is_told_and_nothing_is_made(events: Db, connect: Connect) -> None:
    app = App("direct")
    app.subscribe("events", name="d")(lambda message, _: None)
    (subscriber,) = subscribers_of(app).values()
    producer = connect("howdah_producer")
    with pytest.raises(NotAllowed):
        subscriber.ready(producer)  # type: ignore[arg-type]
    assert subscriptions(events) == []


def test_two_definitions_of_one_subscription_are_refused_when_they_are_registered() -> None:
    app = App("wrong")
    app.subscribe("events", name="a", selector="x = 1")(lambda message, _: None)
    with pytest.raises(AppError, match="another definition"):
        app.subscribe("events", name="a", message_type="t")(lambda message, _: None)
    with pytest.raises(AppError, match="shared=False"):
        app.subscribe("events", name="b", no_local=True)(lambda message, _: None)
    app.handler("events::c")(lambda message, _: None)
    with pytest.raises(AppError, match="handled as a queue"):
        app.subscribe("events", name="c")(lambda message, _: None)


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
