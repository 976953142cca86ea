"""Handlers that take longer than their time limit: cancelled in SQL, counted, and at last ended with their process."""

import time

import pytest
from support import one, wait_until
from workers_support import StartWorkers, Work

from howdah.workers import App, AppError, HandlerTimeout, Message, Transaction


def incident(jobs: Work, message_id: int) -> str:
    return str(one(jobs.db, "select error_text from howdah.incidents() where message = %s limit 1", (message_id,)))


@pytest.mark.slow
def test_a_statement_that_runs_over_the_limit_is_cancelled_and_counted(jobs: Work, start: StartWorkers) -> None:
    workers = start("workapp:limited")
    gate, plain = jobs.send("gate", "plain")
    with jobs.gate():
        jobs.wait_in_handler(gate)
        wait_until(lambda: jobs.incidents(gate) == ["HandlerTimeout"])
    assert "longer than its time limit of 0.3 s" in incident(jobs, gate)
    jobs.wait_empty()
    assert jobs.effects() == sorted([gate, plain])
    assert len(workers.pids) == 1
    assert workers.events("worker died") == []


@pytest.mark.slow
def test_a_handler_that_returns_late_is_undone_and_counted(jobs: Work, start: StartWorkers) -> None:
    start("workapp:limited")
    (slow,) = jobs.send("gate-python")
    with jobs.gate():
        jobs.wait_in_handler(slow)
        late = time.monotonic() + 0.5
        wait_until(lambda: time.monotonic() > late)
    wait_until(lambda: jobs.incidents(slow) == ["HandlerTimeout"])
    jobs.wait_empty()
    assert jobs.trace(slow) == [1, 2]
    assert jobs.effects() == [slow]


@pytest.mark.slow
def test_a_handler_that_cannot_be_interrupted_ends_its_process_and_alone_is_blamed(
    jobs: Work, start: StartWorkers
) -> None:
    one(jobs.db, """select howdah.alter_queue('work', '{"max_failed_deliveries": 1}')""")
    workers = start("workapp:limited", sessions=2, time_limit_grace=0.3)
    (stuck,) = jobs.send("for-ever")
    pid = jobs.wait_in_handler(stuck)
    wait_until(lambda: jobs.incidents(stuck) == ["HandlerTimeout"])
    assert "its process was ended" in incident(jobs, stuck)
    (after,) = jobs.send("note")
    assert jobs.wait_in_handler(after) != pid
    jobs.wait_empty()
    assert jobs.dead() == [stuck]
    assert jobs.blamed() == {stuck}
    (died,) = workers.events("worker died")
    assert died["code"] == 124


@pytest.mark.slow
def test_a_handler_that_holds_the_interpreter_has_its_process_killed_and_alone_is_blamed(
    jobs: Work, start: StartWorkers
) -> None:
    """Nothing of that process runs any more, its watch over time limits neither."""
    one(jobs.db, """select howdah.alter_queue('work', '{"max_failed_deliveries": 1}')""")
    workers = start("workapp:mixed", sessions=2, time_limit_grace=0.1)
    (innocent,) = jobs.send("gate-python", queue="single")
    with jobs.gate():
        pid = jobs.wait_in_handler(innocent)
        (stuck,) = jobs.send("hold-interpreter")
        wait_until(lambda: jobs.incidents(stuck) == ["HandlerTimeout"])
        assert jobs.wait_in_handler(innocent, 2) != pid
    jobs.wait_empty("single")
    assert "its process was ended" in incident(jobs, stuck)
    assert jobs.dead() == [stuck]
    assert jobs.blamed() == {stuck}
    (died,) = workers.events("worker died")
    assert died["code"] == 124


@pytest.mark.slow
def test_the_messages_in_other_hands_blame_nobody_when_a_handler_ends_its_process(
    jobs: Work, start: StartWorkers
) -> None:
    """Of a process without a limit for the other handler, which is waited for as long as the grace, no longer."""
    one(jobs.db, """select howdah.alter_queue('work', '{"max_failed_deliveries": 1}')""")
    start("workapp:mixed", sessions=2, time_limit_grace=0.3)
    (stuck,) = jobs.send("for-ever")
    (innocent,) = jobs.send("gate-python", queue="single")
    with jobs.gate():
        jobs.wait_in_handler(innocent)
        jobs.wait_in_handler(stuck)
        wait_until(lambda: jobs.incidents(stuck) == ["HandlerTimeout"])
        jobs.wait_in_handler(innocent, 2)
    jobs.wait_empty("single")
    assert jobs.blamed() == {stuck}


@pytest.mark.slow
def test_a_handler_that_survives_a_cancel_is_cancelled_again(jobs: Work, start: StartWorkers) -> None:
    workers = start("workapp:limited")
    (message_id,) = jobs.send("swallow-cancel")
    wait_until(lambda: jobs.incidents(message_id) == ["HandlerTimeout"])
    assert workers.events("worker died") == []


@pytest.mark.slow
def test_the_workers_limit_is_for_handlers_that_have_none(jobs: Work, start: StartWorkers) -> None:
    start("workapp:app", time_limit=0.3)
    (message_id,) = jobs.send("gate")
    with jobs.gate():
        wait_until(lambda: jobs.incidents(message_id) == ["HandlerTimeout"])


@pytest.mark.parametrize("limit", [0, -1, "3"])
def test_what_is_no_time_limit_is_refused(limit: float) -> None:
    app = App("x")
    with pytest.raises(AppError, match="time_limit must be a number of seconds above 0"):

        @app.handler("work", time_limit=limit)
        def work(message: Message, transaction: Transaction) -> None: ...

    assert issubclass(HandlerTimeout, Exception)
