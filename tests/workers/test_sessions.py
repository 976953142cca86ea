"""What a handler leaves on its session's connection: it harms no other queue, and the session outlives it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from support import one
from workers_support import Work

from howdah.engine import Message
from howdah.workers import App, Transaction
from howdah.workers.in_hand import Hands
from howdah.workers.loop import SessionLoop

Act = Callable[[Message, Transaction], None]
Begin = Callable[..., SessionLoop]


@pytest.fixture
def begin(jobs: Work, dsn: str, tmp_path: Path) -> Iterator[Begin]:
    """Starts a session that handles work, where ``act`` is called with each message, and then single."""
    with ExitStack() as ending:

        def make(act: Act, batch: int = 1) -> SessionLoop:
            app, stopping = App("sessions"), threading.Event()

            def note(message: Message, transaction: Transaction) -> None:
                transaction.connection.execute(
                    "insert into work.effects (message_id, delivery) values (%s, %s)",
                    (message.message_id, message.delivery_count),
                )

            @app.handler("work", batch=batch)
            def work(message: Message, transaction: Transaction) -> None:
                note(message, transaction)
                act(message, transaction)

            app.handler("single")(note)
            hands = Hands.create(tmp_path / "hands", 1)
            loop = SessionLoop(app, dsn, worker="w", hands=hands, slot=0, stopping=stopping)

            def end() -> None:
                stopping.set()
                loop.wake()
                loop.join(30)

            ending.callback(end)
            loop.start()
            return loop

        yield make


def leaving_a_block_open(*bodies: str) -> Act:
    """Raise at the first delivery of these, inside a transaction block that nobody leaves."""
    kept = ExitStack()

    def act(message: Message, transaction: Transaction) -> None:
        if message.body in bodies and message.delivery_count == 1:
            kept.enter_context(transaction.connection.transaction())
            raise ValueError("inside a block")

    return act


def test_a_block_that_a_failed_handler_left_open_makes_no_other_queue_commit_its_batch(
    jobs: Work, begin: Begin
) -> None:
    failing, other = jobs.send("fail", "plain")
    (last,) = jobs.send("plain", queue="single")
    begin(leaving_a_block_open("fail"), batch=2)
    jobs.wait_empty("single")
    jobs.wait_empty()
    assert jobs.effects() == sorted([failing, other, last])
    assert jobs.incidents(failing) == ["ValueError"]
    assert jobs.blamed() == {failing}


@pytest.mark.first_case
@pytest.mark.parametrize("backout", ["recorded", "hardened"])
def test_a_failure_inside_a_block_that_is_left_open_counts_once(jobs: Work, begin: Begin, backout: str) -> None:
    one(jobs.db, "select howdah.alter_queue('work', jsonb_build_object('backout_count', %s::text))", (backout,))
    (failing,) = jobs.send("fail")
    begin(leaving_a_block_open("fail"))
    jobs.wait_empty()
    assert jobs.effects() == [failing]
    assert jobs.incidents(failing) == ["ValueError"]


def test_a_failure_inside_a_block_that_is_left_open_counts_once_in_a_savepoint_too(jobs: Work, begin: Begin) -> None:
    """The first failure has the next one handled apart from the others."""
    first, second = jobs.send("fail", "fail too")
    begin(leaving_a_block_open("fail", "fail too"), batch=2)
    jobs.wait_empty()
    assert jobs.effects() == [first, second]
    assert (jobs.incidents(first), jobs.incidents(second)) == (["ValueError"], ["ValueError"])


@pytest.mark.parametrize("batch", [1, 3])
def test_a_block_that_a_handler_left_open_without_an_error_is_that_messages_failure(
    jobs: Work, begin: Begin, batch: int
) -> None:
    kept = ExitStack()

    def act(message: Message, transaction: Transaction) -> None:
        if message.body == "leave" and message.delivery_count == 1:
            kept.enter_context(transaction.connection.transaction())

    before, leaving, after = jobs.send("plain", "leave", "plain")
    begin(act, batch=batch)
    jobs.wait_empty()
    assert jobs.effects() == [before, leaving, after]
    assert jobs.incidents(leaving) == ["RollbackOnly"]
    assert jobs.blamed() == {leaving}


def test_a_lost_connection_in_an_exception_of_the_applications_own_is_made_anew(jobs: Work, begin: Begin) -> None:
    """As the errors of a framework are: the driver's is only their cause."""

    def act(message: Message, transaction: Transaction) -> None:
        if not called.is_set():
            called.set()
            try:
                transaction.connection.execute("select pg_terminate_backend(pg_backend_pid())")
            except psycopg.Error as error:
                raise RuntimeError("the framework's") from error

    called = threading.Event()
    (sent,) = jobs.send("x")
    loop = begin(act)
    jobs.wait_empty()
    assert loop.is_alive()
    assert jobs.effects() == [sent]
    assert jobs.blamed() == set()
