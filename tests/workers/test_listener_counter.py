"""A listener's counter counts failures in a row, and stops the listener at its limit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from support import column, one, receive
from worker_listeners_support import by_body, create, limit, state
from workers_support import Work

from howdah.engine import Message
from howdah.workers import App, Transaction
from howdah.workers.endpoint import EndpointDelivery, endpoints_of
from howdah.workers.guard import HandlerConnection
from howdah.workers.in_hand import Hands
from howdah.workers.recorder import Recorder

Act = Callable[[Message, Transaction], None]


@pytest.fixture
def deliver(
    jobs: Work, dsn: str, tmp_path: Path
) -> Iterator[Callable[[Act], tuple[EndpointDelivery, HandlerConnection]]]:
    """Makes a delivery through the listener, without a process of its own; it is made by the first pass."""
    opened: list[Any] = []

    def make(act: Act) -> tuple[EndpointDelivery, HandlerConnection]:
        app = App("direct")
        app.handler("work", listener="l", sequential_failures=3)(act)
        connection, recorder = (
            HandlerConnection.open(dsn, "direct"),
            Recorder(dsn, "w", threading.Event(), app.listeners),
        )
        opened.extend((connection, recorder))
        hands = Hands.create(tmp_path / f"hands-{len(opened)}", 1)
        endpoint = endpoints_of(app, "w")["work"]
        return EndpointDelivery(
            endpoint, app.bindings["work"], 0, worker="w", hands=hands, slot=0, record=recorder.record
        ), connection

    yield make
    for one_of_them in opened:
        one_of_them.close()


@pytest.mark.behaviour("WAS-26")
@pytest.mark.behaviour("WAS-39")
def test_a_success_sets_the_counter_to_0_so_that_four_failures_do_not_stop_at_three(jobs: Work, deliver: Any) -> None:
    limit(jobs, 0, redelivery_delay_ms=60000)
    jobs.send("a", "b", "good", "c", "d", "e")
    delivery, connection = deliver(by_body)
    seen = []
    while True:
        done = delivery.run_once(connection)
        if done.handled + done.failed == 0:
            break
        seen.append((done.handled, done.failed, *state(jobs)))
    assert seen == [
        (0, 1, 1, "running"),
        (0, 1, 2, "running"),
        (1, 1, 1, "running"),
        (0, 1, 2, "running"),
        (0, 1, 3, "stopped"),
    ]


def test_a_commit_that_fails_counts_and_sets_nothing_to_0(jobs: Work, deliver: Any) -> None:
    limit(jobs, 0, redelivery_delay_ms=60000)
    jobs.send("a", "violate")
    delivery, connection = deliver(by_body)
    assert [delivery.run_once(connection).failed for _ in range(2)] == [1, 1]
    assert state(jobs) == (2, "running")
    assert column(jobs.db, "select error_class from howdah.incidents() order by incident_id") == [
        "ValueError",
        "UniqueViolation",
    ]


def test_an_error_that_blames_no_message_does_not_count(jobs: Work, deliver: Any) -> None:
    jobs.send("a")

    def innocent(message: Message, transaction: Transaction) -> None:
        raise psycopg.errors.DeadlockDetected("somebody else's")

    delivery, connection = deliver(innocent)
    with pytest.raises(psycopg.errors.DeadlockDetected):
        delivery.run_once(connection)
    assert state(jobs) == (0, "running")
    assert jobs.left() == 1


def test_a_stopped_listener_leaves_its_sessions_idle_and_each_message_is_a_transaction(
    jobs: Work, deliver: Any
) -> None:
    create(jobs)

    def effect(message: Message, transaction: Transaction) -> None:
        transaction.connection.execute("insert into work.effects (message_id) values (%s)", (message.message_id,))

    delivery, connection = deliver(effect)
    one(jobs.db, "select howdah.stop_listener('l')")
    sent = jobs.send("good", "good", "good")
    done = delivery.run_once(connection)
    assert (done.handled, done.failed) == (0, 0)
    assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
    one(jobs.db, "select howdah.resume_listener('l')")
    assert delivery.run_once(connection).handled == 3
    assert jobs.effects() == sent
    assert one(jobs.db, "select count(distinct tx) from work.effects") == 3


def test_what_is_in_hand_when_the_listener_is_dropped_is_finished_or_recorded(jobs: Work, deliver: Any) -> None:
    create(jobs)
    good, bad = jobs.send("good", "bad")
    dropped: list[int] = []

    def drop(message: Message, transaction: Transaction) -> None:
        if not dropped or message.body == "bad":
            one(jobs.db, "select howdah.drop_listener('l')")
            dropped.append(message.message_id)
        by_body(message, transaction)

    delivery, connection = deliver(drop)
    assert delivery.run_once(connection).handled == 1
    assert [m.message_id for m in receive(jobs.db, "work", 9, "browse")] == [bad]
    create(jobs)
    assert delivery.run_once(connection).failed == 1
    assert dropped == [good, bad]
    assert jobs.incidents(bad) == ["ValueError"]


def test_a_listener_that_was_dropped_and_made_again_counts_again(
    jobs: Work, deliver: Callable[[Act], tuple[EndpointDelivery, HandlerConnection]]
) -> None:
    jobs.send("drop", "fail")
    limit(jobs, 1)

    def drop_or_fail(message: Message, transaction: Transaction) -> None:
        if message.body == "drop":
            one(jobs.db, "select howdah.drop_listener('l')")
        raise ValueError(message.body)

    delivery, connection = deliver(drop_or_fail)
    assert delivery.run_once(connection).failed == 1
    create(jobs)
    assert delivery.run_once(connection).failed == 1
    assert state(jobs) == (1, "stopped")
