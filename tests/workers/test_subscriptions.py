"""Workers that subscribe.

The subscription is made when they start, and worked on like a queue, whoever fails or is killed.
"""

from __future__ import annotations

import threading
import time

import pytest
from support import SYSTEM, Connect, Db, column, one, wait_until
from worker_subscriptions_support import got, publish, subscriptions, wait_subscribed
from workers_support import StartWorkers, Work

from howdah.engine.errors import NotAllowed
from howdah.workers import App, AppError
from howdah.workers.subscriptions import subscribers_of


@pytest.fixture
def events(jobs: Work) -> Db:
    """The topic that the applications subscribe to, and where they note what they got."""
    jobs.db.execute(
        "create table work.got (n bigserial, subscription text, body text); select howdah.create_topic('events')"
    )
    return jobs.db


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
