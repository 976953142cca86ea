"""A subscription's listener stops after failures, resumes, and limits the sessions that receive."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from command import howdah
from psycopg.types.json import Jsonb
from support import SYSTEM, Db, column, one, wait_until
from worker_subscriptions_support import got, publish, wait_subscribed
from workers_support import StartWorkers, Work

from howdah.engine import Admin, Session
from howdah.engine.errors import NoSuchListener, NoSuchQueue
from howdah.workers import App, Message, Transaction
from howdah.workers.deliveries import deliveries_of
from howdah.workers.endpoint import endpoints_of
from howdah.workers.guard import HandlerConnection
from howdah.workers.in_hand import Hands
from howdah.workers.recorder import Recorder
from howdah.workers.subscriptions import subscribers_of


@pytest.fixture
def events(jobs: Work) -> Db:
    """The topic that the applications subscribe to, and where they note what they got."""
    jobs.db.execute(
        "create table work.got (n bigserial, subscription text, body text); select howdah.create_topic('events')"
    )
    return jobs.db


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
        wait_until(lambda: len(workers.events("listener stopped")) == deliveries)  # noqa: B023 - it is called at once
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
