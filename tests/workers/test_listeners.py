"""Workers that receive through a listener: stop, go quiet, resume, share one counter and one number of sessions."""

from __future__ import annotations

from typing import Any

import pytest
from policy_support import backout_queue
from psycopg.types.json import Jsonb
from support import column, one, receive, wait_until
from worker_listeners_support import by_body, create, limit, state
from workers_support import StartWorkers, Work

from howdah.workers import App, AppError

APP = "workapp:listening"


@pytest.mark.slow
@pytest.mark.behaviour("WAS-33")
@pytest.mark.behaviour("WAS-27")
@pytest.mark.behaviour("WAS-28")
def test_a_worker_stops_at_the_first_failure_and_goes_on_when_resumed_again_and_again(
    jobs: Work, start: StartWorkers
) -> None:
    limit(jobs, 0)
    poison, behind = jobs.send("fail", "plain")
    workers = start(APP)
    for deliveries in (1, 2, 3):
        wait_until(lambda: len(workers.events("listener stopped")) == deliveries)  # noqa: B023 - it is called at once
        assert jobs.trace(poison) == list(range(1, deliveries + 1))
        assert state(jobs) == (deliveries, "stopped")
        assert jobs.left() == 2
        if deliveries < 3:
            one(jobs.db, "select howdah.resume_listener('l')")
    said = workers.events("listener stopped")[-1]
    assert (said["listener"], said["queue"], said["message"], said["failures"]) == ("l", "work", poison, 3)
    assert "ValueError" in said["reason"]
    one(jobs.db, "select howdah.discard('work', %s)", ([poison],))
    one(jobs.db, "select howdah.resume_listener('l')")
    wait_until(lambda: jobs.effects() == [behind])
    wait_until(lambda: len(workers.events("listener resumed")) == 3)
    assert state(jobs) == (0, "running")


@pytest.mark.slow
@pytest.mark.behaviour("WAS-38")
def test_five_sessions_and_ten_poison_messages_stop_at_the_third_failure(jobs: Work, start: StartWorkers) -> None:
    create(jobs, max_sessions=5, sequential_failures=3)
    jobs.send(*["gate-fail"] * 10)
    with jobs.gate():
        workers = start(APP, sessions=5)
        wait_until(lambda: one(jobs.db, "select count(*) from work.trace") == 5)
    wait_until(lambda: workers.events("listener stopped"))
    workers.stop()
    workers.wait_ended()
    assert 5 <= one(jobs.db, "select count(*) from work.trace") <= 7
    assert state(jobs) == (one(jobs.db, "select count(*) from work.trace"), "stopped")
    assert jobs.dead() == []
    assert jobs.left() == 10


@pytest.mark.slow
@pytest.mark.behaviour("WAS-40")
def test_with_stopping_unchecked_all_ten_are_moved_and_it_runs(jobs: Work, start: StartWorkers) -> None:
    backout_queue(jobs.db)
    mq = {"preset": "websphere_mq", "max_failed_deliveries": 5, "exception_queue": "BACKOUT"}
    one(jobs.db, "select howdah.alter_queue('work', %s)", (Jsonb(mq),))
    create(jobs, max_sessions=5, sequential_failures=3, stop_on_failure=False)
    sent = jobs.send(*["fail"] * 10)
    start(APP, sessions=5)
    jobs.wait_empty()
    assert sorted(message.message_id for message in receive(jobs.db, "BACKOUT", 99, "browse")) == sent
    assert [jobs.trace(message) for message in sent] == [[1, 2, 3, 4, 5]] * 10
    assert state(jobs) == (50, "running")


@pytest.mark.slow
@pytest.mark.behaviour("WAS-36")
@pytest.mark.behaviour("WAS-37")
def test_two_processes_share_the_number_of_sessions_and_the_counter(jobs: Work, start: StartWorkers) -> None:
    create(jobs, sequential_failures=11)
    limit(jobs, 1)
    sent = jobs.send(*["gate-fail"] * 11)
    with jobs.gate():
        workers = start(APP, processes=2, sessions=6)
        workers.wait_started(2)
        wait_until(lambda: one(jobs.db, "select count(*) from work.trace") == 10)
        assert receive(jobs.db, "l", verb="receive_as") == []
        assert len(receive(jobs.db, "work", 99, "receive_locked")) == 1
        assert one(jobs.db, "select count(distinct pid) from work.trace") == 2
    wait_until(lambda: state(jobs) == (11, "stopped"))
    assert column(jobs.db, "select message_id from work.trace order by 1") == sent


@pytest.mark.slow
@pytest.mark.behaviour("WAS-25")
def test_a_killed_workers_message_counts(jobs: Work, start: StartWorkers) -> None:
    (message,) = jobs.send("gate-python")
    workers = start(APP)
    with jobs.gate():
        jobs.wait_in_handler(message)
        workers.kill()
        wait_until(lambda: state(jobs) == (1, "stopped"))
    assert jobs.incidents(message) == ["WorkerDied"]
    wait_until(lambda: workers.events("listener stopped"))
    assert jobs.trace(message) == [1]


@pytest.mark.slow
def test_a_worker_makes_its_listener_and_says_when_it_contradicts_the_queue(jobs: Work, start: StartWorkers) -> None:
    workers = start(APP, sessions=2)
    wait_until(lambda: workers.events("listener contradicts its queue"))
    (row,) = jobs.db.execute("select queue, failures, status from howdah.list_listeners('l')").fetchall()
    assert row == ("work", 0, "running")
    (said,) = workers.events("listener contradicts its queue")
    assert "stops at failure 1" in said["warning"]


@pytest.mark.slow
def test_a_listener_of_another_queue_is_refused_until_it_is_gone(jobs: Work, start: StartWorkers) -> None:
    create(jobs)
    (message,) = jobs.send("plain", queue="single")
    workers = start("workapp:astray")
    wait_until(lambda: workers.events("cannot receive"))
    assert "belongs to queue" in workers.events("cannot receive")[0]["error"]
    one(jobs.db, "select howdah.drop_listener('l')")
    wait_until(lambda: jobs.effects() == [message])


@pytest.mark.parametrize(
    "options",
    [{"max_sessions": 5}, {"stop_on_failure": False}, {"listener": "l", "batch": 2}],
    ids=lambda options: " ".join(options),
)
def test_an_application_that_asks_for_the_impossible_is_told_so(options: dict[str, Any]) -> None:
    with pytest.raises(AppError):
        App().handler("q", **options)(by_body)


def test_the_handlers_of_a_queue_share_one_listener() -> None:
    app = App()
    app.handler("q", listener="l")(by_body)
    app.handler("q", message_type="order")(by_body)
    app.handler("q", message_type="bill", listener="l")(by_body)
    for options in ({"listener": "other"}, {"batch": 5}):
        with pytest.raises(AppError):
            app.handler("q", message_type="other", **options)(by_body)
    assert app.listeners == {"q": "l"}
    assert app.bindings["q"].batch == 1
