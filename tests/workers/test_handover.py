"""Best-effort messages are consumed before their handler runs; all others when it has returned."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
from support import Db, column, one
from workers_support import Work

from howdah.engine import Incident, Message, calls
from howdah.engine.database.runner import run
from howdah.schema.destinations import LEVELS
from howdah.workers import App, Reject, Transaction, delivery
from howdah.workers.delivery import Delivery
from howdah.workers.guard import HandlerConnection
from howdah.workers.in_hand import Hands

BEST, *BETTER = LEVELS
CODES = dict(zip(LEVELS, ("BE", "EX", "RN", "RP", "AP"), strict=True))
Act = Callable[[Message, Transaction], None]
Calls = list[tuple[str, int]]


@pytest.fixture(params=["one", "batch", "hardened", "async"])
def way(request: pytest.FixtureRequest, db: Db, jobs: Work) -> str:
    """The ways in which a worker handles messages."""
    chosen: str = request.param
    if chosen == "hardened":
        one(db, "select howdah.alter_queue('work', '{\"backout_count\": \"hardened\"}')")
    return chosen


@pytest.fixture
def work(way: str, jobs: Work, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Calls]:
    """Handles what the queue has, until a pass finds nothing. Returns the bodies and delivery counts, as called."""
    monkeypatch.setattr(delivery, "BURST_SECONDS", 600)
    hands = Hands.create(tmp_path / "hands", 1)

    def until_empty(act: Act, worker: str = "w", passes: int = 1000) -> Calls:
        app, called = App("handover"), list[tuple[str, int]]()

        def handle(message: Message, transaction: Transaction) -> None:
            called.append((str(message.body), message.delivery_count))
            transaction.connection.execute("insert into work.trace (body) values (%s)", (message.body,))
            act(message, transaction)

        async def handle_async(message: Message, transaction: Transaction) -> None:
            handle(message, transaction)

        app.handler("work", batch=1 if way == "one" else 5)(handle_async if way == "async" else handle)

        def record(queue: str, failures: list[dict[str, Any]], in_hand: bool) -> list[Incident]:
            return run(jobs.db, calls.record_failures(queue, failures, in_hand=in_hand))

        with HandlerConnection.open(dsn, worker) as connection:
            made = Delivery(app.bindings["work"], 0, worker=worker, hands=hands, slot=0, record=record)
            idle = 0
            while idle < 3 and passes > 0:
                done = made.run_once(connection)
                idle = 0 if done.handled + done.failed else idle + 1
                passes -= 1
        return called

    return until_empty


def send(db: Db, body: str, level: str) -> int:
    sent = one(db, "select howdah.send('work', %s::text, reliability => %s)", (body, level))
    assert isinstance(sent, int)
    return sent


def once(bodies: set[str]) -> Act:
    """Raise for the first delivery of each of them."""

    def act(message: Message, transaction: Transaction) -> None:
        if message.body in bodies and message.delivery_count == 1:
            raise RuntimeError("not today")

    return act


@pytest.mark.behaviour("SIB-36")
@pytest.mark.behaviour("SIB-39")
@pytest.mark.first_case
def test_a_best_effort_message_whose_handler_raises_is_lost_after_one_call(db: Db, work: Callable[..., Calls]) -> None:
    numbers = [send(db, body, BEST) for body in ("a", "b", "c")]
    assert work(once({"b"})) == [("a", 1), ("b", 1), ("c", 1)]
    assert one(db, "select count(*) from howdah.audit_messages") == 0
    assert column(db, "select body from work.trace order by at") == ["a", "c"]
    incidents = db.execute("select message, error_text, outcome from howdah.incidents('work')").fetchall()
    assert incidents == [(numbers[1], "not today", "gone")]
    assert sorted(column(db, "select message_id from howdah.audit_journal where event = 'consumed'")) == numbers


@pytest.mark.first_case
@pytest.mark.behaviour("SIB-37")
@pytest.mark.parametrize("level", BETTER)
def test_any_other_message_is_delivered_again_to_the_next_call(db: Db, work: Callable[..., Calls], level: str) -> None:
    for body in ("a", "b", "c"):
        send(db, body, level)
    called = work(once({"b"}))
    assert ("b", 2) in called
    assert sorted(set(called)) == [("a", 1), ("b", 1), ("b", 2), ("c", 1)]
    assert sorted(column(db, "select body from work.trace")) == ["a", "b", "c"]


@pytest.mark.first_case
@pytest.mark.behaviour("SIB-38")
@pytest.mark.parametrize("level", BETTER)
def test_after_an_exception_another_instance_has_its_chance(db: Db, work: Callable[..., Calls], level: str) -> None:
    send(db, "a", level)
    told: list[tuple[str, int, bool]] = []

    def act(message: Message, transaction: Transaction) -> None:
        told.append((transaction.worker, message.redelivery_count, message.redelivered))
        once({"a"})(message, transaction)

    work(act, "first", passes=1)
    work(act, "second")
    assert told == [("first", 0, False), ("second", 1, True)]


@pytest.mark.first_case
def test_in_a_mixed_batch_each_message_has_what_its_level_promises(db: Db, work: Callable[..., Calls]) -> None:
    for number in range(3):
        for level in LEVELS:
            send(db, f"{number}{CODES[level]}", level)
    fail = {f"1{CODES[level]}" for level in LEVELS}
    lost = "1BE"
    called = work(once(fail))
    counts = {body: sorted({count for name, count in called if name == body}) for body, _ in called}
    assert len(counts) == 15
    for body, seen in counts.items():
        assert seen == ([1, 2] if body in fail - {lost} else [1])
    assert [body for body, _ in called].count(lost) == 1
    done = column(db, "select body from work.trace")
    assert sorted(done) == sorted(set(counts) - {lost})


@pytest.mark.first_case
def test_its_consumption_is_committed_when_the_handler_begins(db: Db, work: Callable[..., Calls]) -> None:
    send(db, "a", BEST)
    present: list[int] = []
    work(lambda message, transaction: present.append(one(db, "select count(*) from howdah.audit_messages")))
    assert present == [0]


@pytest.mark.first_case
def test_what_the_handler_wrote_goes_with_its_failure_and_its_outcome_is_on_record(
    db: Db, work: Callable[..., Calls]
) -> None:
    send(db, "a", BEST)

    def act(message: Message, transaction: Transaction) -> None:
        transaction.session.send("single", "never")
        raise Reject("useless")

    assert work(act) == [("a", 1)]
    assert column(db, "select body from work.trace") == []
    assert one(db, "select count(*) from howdah.audit_messages") == 0
    assert column(db, "select outcome from howdah.incidents('work')") == ["gone"]


@pytest.mark.first_case
def test_an_error_that_blames_no_message_loses_it_on_record(db: Db, work: Callable[..., Calls]) -> None:
    send(db, "a", BEST)
    send(db, "b", BEST)

    def act(message: Message, transaction: Transaction) -> None:
        if message.body == "a":
            raise psycopg.errors.SerializationFailure("try again")

    assert work(act) == [("a", 1), ("b", 1)]
    assert column(db, "select error_class from howdah.incidents('work')") == ["SerializationFailure"]


@pytest.mark.first_case
def test_a_lost_connection_loses_what_was_handed_over_on_record(db: Db, work: Callable[..., Calls]) -> None:
    for body in ("a", "b"):
        send(db, body, BEST)

    def act(message: Message, transaction: Transaction) -> None:
        transaction.connection.close()

    with pytest.raises(Exception, match="closed"):
        work(act)
    left = column(db, "select body from howdah.browse('work')")
    assert one(db, "select count(*) from howdah.incidents('work')") + len(left) == 2
    assert "a" not in left


@pytest.mark.first_case
def test_after_a_block_that_a_handler_left_open_nothing_counts_as_handled_that_is_not_committed(
    db: Db, work: Callable[..., Calls]
) -> None:
    for body in ("a", "b"):
        send(db, body, BEST)
    kept = ExitStack()

    def act(message: Message, transaction: Transaction) -> None:
        if message.body == "a":
            kept.enter_context(transaction.connection.transaction())
            raise ValueError("inside a block")

    with pytest.raises(Exception, match="closed"):
        work(act)
    lost: dict[int, str] = dict(db.execute("select message, error_class from howdah.incidents('work')").fetchall())
    left = column(db, "select message_id from howdah.browse('work')")
    assert lost[min(lost)] == "ValueError"
    assert len(lost) + len(left) + len(column(db, "select body from work.trace")) == 2


@pytest.mark.first_case
def test_a_failure_that_cannot_be_recorded_keeps_none_of_the_others_from_being_handled(
    db: Db, work: Callable[..., Calls]
) -> None:
    """What stands for a right that was revoked, say: the database refuses one record, whoever asks."""
    db.execute(
        "create function work.refuse() returns trigger language plpgsql as"
        " $$ begin raise insufficient_privilege; end $$;"
        " create trigger refuse before insert on howdah.poison_details for each row"
        " when (new.error_text = 'a') execute function work.refuse()"
    )
    numbers = [send(db, body, BEST) for body in ("a", "b", "c")]

    def act(message: Message, transaction: Transaction) -> None:
        if message.body != "b":
            raise RuntimeError(message.body)

    assert work(act) == [("a", 1), ("b", 1), ("c", 1)]
    assert column(db, "select body from work.trace") == ["b"]
    assert column(db, "select message from howdah.incidents('work')") == [numbers[2]]
