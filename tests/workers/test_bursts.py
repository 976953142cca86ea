"""Batches that follow each other in one round trip: what is committed, what goes back, and who is blamed."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, column, one
from workers_support import Work

from howdah.engine import Incident, Message, calls
from howdah.engine.database.runner import run
from howdah.engine.errors import ReceivingPaused
from howdah.workers import App, Retry, Transaction, delivery
from howdah.workers.delivery import Delivery
from howdah.workers.guard import HandlerConnection
from howdah.workers.in_hand import Hands
from howdah.workers.pace import BATCH_FIRST, BATCH_MAX, Pace

Act = Callable[[Message, Transaction], None]
Deliver = Callable[..., Any]


@pytest.fixture
def deliver(jobs: Work, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Deliver:
    """Makes a delivery in batches of two, each message leaving an effect before ``act`` is called with it.

    A burst lasts until the queue is empty, however slow the machine is.
    """
    monkeypatch.setattr(delivery, "BURST_SECONDS", 600)

    @contextmanager
    def make(act: Act = lambda message, transaction: None, stopping: Callable[[], bool] = lambda: False) -> Any:
        app = App("bursts")

        @app.handler("work", batch=2)
        def handle(message: Message, transaction: Transaction) -> None:
            transaction.connection.execute(
                "insert into work.effects (message_id, delivery) values (%s, %s)",
                (message.message_id, message.delivery_count),
            )
            act(message, transaction)

        def record(queue: str, failures: list[dict[str, Any]], in_hand: bool) -> list[Incident]:
            return run(jobs.db, calls.record_failures(queue, failures, in_hand=in_hand))

        hands = Hands.create(tmp_path / "hands", 1)
        with HandlerConnection.open(dsn, "bursts") as connection:
            made = Delivery(app.bindings["work"], 0, worker="w", hands=hands, slot=0, record=record, stopping=stopping)
            yield made, connection, hands

    return make


def live(db: Db) -> list[int]:
    return column(db, "select message_id from howdah.browse('work', 100)")


def test_a_burst_handles_all_in_order_in_a_transaction_a_batch(jobs: Work, deliver: Deliver) -> None:
    sent = jobs.send(*["x"] * 7)
    seen: list[int] = []
    with deliver(lambda message, _: seen.append(message.message_id)) as (made, connection, hands):
        assert made.run_once(connection).handled == 7
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        assert (hands.read(), hands.held()) == ([], [(0, 0)])
    assert seen == sent
    assert jobs.effects() == sent
    assert one(jobs.db, "select count(distinct tx) from work.effects") == 4
    assert live(jobs.db) == []


def test_a_burst_that_has_lasted_long_enough_ends_with_its_batch(
    jobs: Work, deliver: Deliver, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = jobs.send("x", "x", "x")
    with deliver() as (made, connection, hands):
        monkeypatch.setattr(delivery, "BURST_SECONDS", 0)
        assert made.run_once(connection).handled == 2
        assert (hands.read(), hands.held()) == ([], [(0, 0)])
        assert live(jobs.db) == sent[2:]
        assert made.run_once(connection).handled == 1
    assert jobs.effects() == sent


def test_a_failure_in_a_later_batch_leaves_the_earlier_ones_committed(jobs: Work, deliver: Deliver) -> None:
    sent = jobs.send("x", "x", "x", "bad", "x")

    def act(message: Message, transaction: Transaction) -> None:
        if message.body == "bad":
            raise ValueError("bad")

    with deliver(act) as (made, connection, _):
        done = made.run_once(connection)
        assert (done.handled, done.failed) == (2, 1)
        assert jobs.effects() == sent[:2]
        assert live(jobs.db) == sent[2:]
        assert jobs.blamed() == {sent[3]}


def test_what_was_received_ahead_of_a_stop_goes_back_uncounted(jobs: Work, deliver: Deliver) -> None:
    sent = jobs.send(*["x"] * 5)
    asked = iter([False, False, True])  # after the first batch was received, was handled, after the second was received
    with deliver(stopping=lambda: next(asked)) as (made, connection, hands):
        assert made.run_once(connection).handled == 2
        assert hands.held() == [(0, 0)]
    assert jobs.effects() == sent[:2]
    assert live(jobs.db) == sent[2:]
    assert jobs.blamed() == set()
    with deliver() as (made, connection, _):
        assert made.run_once(connection).handled == 3
    assert column(jobs.db, "select delivery from work.effects") == [1] * 5


def test_a_connection_lost_in_a_later_batch(jobs: Work, deliver: Deliver) -> None:
    sent = jobs.send("x", "x", "x", "cut", "x")

    def act(message: Message, transaction: Transaction) -> None:
        if message.body == "cut":
            jobs.db.execute("select pg_terminate_backend(%s, 5000)", (transaction.connection.info.backend_pid,))

    with deliver(act) as (made, connection, _):
        # Nobody notices before the commit, which is lost with the receive behind it.
        assert made.run_once(connection).handled == 2
        assert connection.closed
    assert jobs.effects() == sent[:2]
    assert live(jobs.db) == sent[2:]
    assert jobs.blamed() == set()
    with deliver() as (made, connection, _):
        assert made.run_once(connection).handled == 3
    assert jobs.effects() == sent


def test_a_connection_lost_in_the_first_batch_is_told(jobs: Work, deliver: Deliver) -> None:
    sent = jobs.send("x", "x", "x")

    def act(message: Message, transaction: Transaction) -> None:
        jobs.db.execute("select pg_terminate_backend(%s, 5000)", (transaction.connection.info.backend_pid,))

    with deliver(act) as (made, connection, _), pytest.raises((psycopg.Error, ConnectionError)):
        made.run_once(connection)
    assert live(jobs.db) == sent
    assert jobs.blamed() == set()


def test_a_failure_counts_although_the_connection_was_lost_before_it(jobs: Work, deliver: Deliver) -> None:
    sent = jobs.send("bad", "x")

    def act(message: Message, transaction: Transaction) -> None:
        jobs.db.execute("select pg_terminate_backend(%s, 5000)", (transaction.connection.info.backend_pid,))
        raise ValueError("nobody has noticed")

    with deliver(act) as (made, connection, hands):
        assert made.run_once(connection).failed == 1
        assert connection.closed
        assert hands.read() == []
    assert live(jobs.db) == sent
    assert jobs.incidents(sent[0]) == ["ValueError"]
    assert jobs.blamed() == {sent[0]}


def test_a_failure_lasts_as_long_as_it_took_although_the_clock_is_set_meanwhile(
    jobs: Work, deliver: Deliver, monkeypatch: pytest.MonkeyPatch
) -> None:
    (sent,) = jobs.send("x")
    real = time.time

    def act(message: Message, transaction: Transaction) -> None:
        monkeypatch.setattr(time, "time", lambda: real() + 40 * 86400)
        raise ValueError("after the jump")

    with deliver(act) as (made, connection, _):
        assert made.run_once(connection).failed == 1
    assert 0 <= one(jobs.db, "select duration_ms from howdah.incidents() where message = %s", (sent,)) < 600_000


def test_a_commit_that_fails_receives_nothing_and_the_guilty_is_found_singly(jobs: Work, deliver: Deliver) -> None:
    jobs.db.execute("insert into work.checked values (1)")
    one(jobs.db, """select howdah.alter_queue('work', '{"redelivery_delay_ms": 60000}')""")
    sent = jobs.send("x", "x", "twice", "x", "x")

    def act(message: Message, transaction: Transaction) -> None:
        if message.body == "twice":
            transaction.connection.execute("insert into work.checked values (1)")

    with deliver(act) as (made, connection, _):
        done = made.run_once(connection)
        assert (done.handled, done.failed) == (2, 0)
        assert live(jobs.db) == sent[2:]
        while (done := made.run_once(connection)).handled + done.failed:
            pass
    assert jobs.effects() == [*sent[:2], *sent[3:]]
    assert jobs.incidents(sent[2]) == ["UniqueViolation"]
    assert jobs.blamed() == {sent[2]}


def test_a_queue_paused_between_batches(jobs: Work, deliver: Deliver) -> None:
    sent = jobs.send(*["x"] * 4)
    with deliver(lambda message, _: one(jobs.db, "select howdah.pause('work')")) as (made, connection, _):
        assert made.run_once(connection).handled == 2
        with pytest.raises(ReceivingPaused):
            made.run_once(connection)
    one(jobs.db, "select howdah.resume('work')")
    assert jobs.effects() == sent[:2]
    assert live(jobs.db) == sent[2:]


def test_the_pace_grows_while_batches_are_full_and_quick_and_shrinks_to_one() -> None:
    pace = Pace(None)
    assert pace.batch == BATCH_FIRST
    for _ in range(20):
        pace.note(pace.batch, pace.batch * 1e-5)
    assert pace.batch == BATCH_MAX
    pace.note(pace.batch - 1, 0.001)
    pace.note(0, 5.0)
    assert pace.batch == BATCH_MAX
    pace.note(BATCH_MAX, 60.0)
    assert pace.batch == BATCH_MAX // 2
    for _ in range(20):
        pace.note(pace.batch, pace.batch * 1.0)
    assert pace.batch == 1
    pace.note(1, 0.01)
    assert pace.batch == 2
    fixed = Pace(7)
    fixed.note(7, 0.0)
    fixed.note(7, 99.0)
    assert fixed.batch == 7


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("at_limit", "outcome", "figures"),
    [
        ("discard", "discarded", (0, 0, 2, 0)),
        ("quarantine", "quarantined", (0, 2, 0, 0)),
        ("end_conversation", "ended", (0, 0, 2, 2)),
    ],
)
def test_a_message_at_its_limit_is_disposed_of_at_its_failure_without_another_receive(
    jobs: Work, deliver: Deliver, at_limit: str, outcome: str, figures: tuple[int, ...]
) -> None:
    """The first one in a batch, the second with a savepoint of its own."""
    one(jobs.db, "select howdah.alter_queue('work', %s)", (Jsonb({"max_failed_deliveries": 1, "at_limit": at_limit}),))
    send = "select howdah.send('work', 'bad', conversation_id => gen_random_uuid())"
    first, second = (one(jobs.db, send) for _ in range(2))

    def act(message: Message, transaction: Transaction) -> None:
        raise ValueError

    with deliver(act) as (made, connection, _):
        assert made.run_once(connection).failed == 1
        assert live(jobs.db) == [second]
        assert made.run_once(connection).failed == 1
    query = (
        "select live, parked, discarded, (select count(*) from howdah.ended_conversations)"
        " from howdah.queue_stats('work')"
    )
    assert jobs.db.execute(query).fetchone() == figures
    incidents = jobs.db.execute("select message, attempt, outcome from howdah.incidents() order by 1").fetchall()
    assert incidents == [(first, 1, outcome), (second, 1, outcome)]


@pytest.mark.first_case
@pytest.mark.parametrize("asked", [True, False])
def test_no_other_session_gets_a_delayed_message_between_the_rollback_and_the_settling(
    jobs: Work, deliver: Deliver, connect: Connect, clock: Clock, monkeypatch: pytest.MonkeyPatch, asked: bool
) -> None:
    """What another session would receive in that moment, which lasts as long as the test wants."""
    if not asked:
        one(jobs.db, "select howdah.alter_queue('work', '{\"redelivery_delay_ms\": 5000}')")
    (sent,) = jobs.send("x")
    other = connect()
    got: list[list[int]] = []
    settle = Delivery._settle

    def meanwhile(self: Delivery, connection: HandlerConnection, messages: list[Message]) -> None:
        got.append(column(other, "select message_id from howdah.receive('work')"))
        settle(self, connection, messages)

    def act(message: Message, transaction: Transaction) -> None:
        if not message.redelivered:
            raise Retry(after=5) if asked else ValueError("no")

    monkeypatch.setattr(Delivery, "_settle", meanwhile)
    with deliver(act) as (made, connection, _):
        assert made.run_once(connection).failed == 1
        assert got == [[]]
        assert column(jobs.db, "select due_at - howdah.now() = interval '5 s' from howdah.parked") == [True]
        assert made.run_once(connection).handled == 0
        clock.advance(5)
        assert made.run_once(connection).handled == 1
    assert jobs.effects() == [sent]
