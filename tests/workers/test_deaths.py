"""Processes that are killed, at every point of a message's way."""

from __future__ import annotations

import shutil
import threading
import time
import uuid

import psycopg
import pytest
from support import column, one, wait_until
from workers_support import StartWorkers, Work

from howdah.workers import App
from howdah.workers.deaths import record_death
from howdah.workers.in_hand import Hand


@pytest.mark.slow
@pytest.mark.behaviour("AMQ-19")
def test_killed_while_idle_blames_nobody_and_the_queue_keeps_its_messages(jobs: Work, start: StartWorkers) -> None:
    kept = jobs.send("plain")  # no consumer yet
    assert jobs.left() == 1
    workers = start()
    jobs.wait_empty()
    workers.kill()
    kept += jobs.send("plain", "plain")
    jobs.wait_empty()
    assert jobs.effects() == kept
    assert jobs.blamed() == set()
    assert [line["code"] for line in workers.events("worker died")] == [-9]


@pytest.mark.slow
def test_killed_while_receiving_blames_nobody(jobs: Work, dsn: str, start: StartWorkers) -> None:
    """Its receive waits, for the table is locked, when the process dies."""
    workers = start()
    workers.wait_started()
    with psycopg.connect(dsn) as locking:
        locking.execute("lock table howdah.msgs in access exclusive mode")
        wait_until(
            lambda: column(
                jobs.db,
                "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
                " and query like %s and application_name like %s",
                ("%howdah.receive(%", "%:test:%"),
            )
        )
        workers.kill()
        wait_until(lambda: workers.events("worker started")[1:])
        locking.execute("select howdah.send('work', 'plain')")
    jobs.wait_empty()
    assert len(jobs.effects()) == 1
    assert jobs.blamed() == set()


@pytest.mark.slow
def test_killed_before_it_acknowledges_counts_for_every_other_consumer(jobs: Work, start: StartWorkers) -> None:
    """After a failure a batch is only held (receive_locked) and acknowledged at its end (consume_locked)."""
    failing, handled, held = jobs.send("fail", "plain", "gate-python")
    workers = start()
    with jobs.gate():
        pid = jobs.wait_in_handler(held)
        assert jobs.trace(failing) == [1, 2], "the second time apart from the others"
        workers.kill(pid)
        wait_until(lambda: jobs.incidents(held) == ["WorkerDied"])
        assert jobs.wait_in_handler(held, 2) != pid
    jobs.wait_empty()
    assert jobs.trace(held) == [1, 2]
    effects = jobs.db.execute("select message_id, delivery from work.effects order by 1").fetchall()
    assert effects == [(handled, 1), (held, 2)], (
        "what was handled but not acknowledged came again, and was not to blame"
    )
    assert jobs.blamed() == {failing, held}


@pytest.mark.first_case
@pytest.mark.parametrize("body", [pytest.param("gate", marks=pytest.mark.slow), "gate-python"])
def test_killed_in_the_handler_is_recorded_by_the_supervisor(jobs: Work, start: StartWorkers, body: str) -> None:
    first, held, last = jobs.send("plain", body, "plain")
    workers = start()
    with jobs.gate():
        pid = jobs.wait_in_handler(held)
        workers.kill(pid)
        wait_until(lambda: jobs.incidents(held) == ["WorkerDied"])
        # It is in a handler again although the gate is still closed: the server noticed that its client is gone.
        assert jobs.wait_in_handler(held, 2) != pid
    jobs.wait_empty()
    assert jobs.effects() == [first, held, last]
    assert jobs.trace(held) == [1, 2]
    assert jobs.blamed() == {held}
    text, worker, duration = jobs.db.execute(
        "select error_text, worker, duration_ms from howdah.incidents()"
    ).fetchall()[0]
    assert text == "the worker process was killed by SIGKILL"
    assert worker == f"test:{pid}"
    assert duration >= 0


@pytest.mark.slow
def test_killed_after_the_handler_before_the_commit_blames_nobody(jobs: Work, start: StartWorkers) -> None:
    sent = jobs.send("gate-at-commit", "plain")
    workers = start()
    with jobs.gate():
        jobs.wait_in_handler(sent[0])
        wait_until(
            lambda: column(
                jobs.db, "select 1 from pg_stat_activity where query ilike 'commit%' and wait_event = 'advisory'"
            )
        )
        workers.kill()
        wait_until(lambda: workers.events("worker started")[1:])
    jobs.wait_empty()
    # A commit that had begun when its client died may still take place: handled once, either way.
    assert jobs.effects() == sent
    assert jobs.blamed() == set()


@pytest.mark.slow
def test_a_death_is_recorded_in_the_queue_that_the_process_had_the_message_of(jobs: Work, start: StartWorkers) -> None:
    """The supervisor knows the queues in another order, as it does where a set gave it."""
    workers = start()
    workers.supervisor._app.bindings = dict(reversed(workers.supervisor._app.bindings.items()))
    with jobs.gate():
        (held,) = jobs.send("gate-python")
        workers.kill(jobs.wait_in_handler(held))
        wait_until(lambda: jobs.incidents(held))
        jobs.wait_in_handler(held, 2)
    jobs.wait_empty()
    told = jobs.db.execute("select queue_name, outcome, attempt from howdah.incidents()").fetchall()
    assert told == [("work", "returned", 1)]


@pytest.mark.slow
def test_a_handler_that_kills_its_process_ends_in_the_exception_destination(jobs: Work, start: StartWorkers) -> None:
    one(jobs.db, """select howdah.alter_queue('work', '{"max_failed_deliveries": 2}')""")
    first, guilty, last = jobs.send("plain", "exit-process", "plain")
    workers = start()
    jobs.wait_empty()
    assert jobs.incidents(guilty) == ["WorkerDied"] * 2
    assert jobs.dead() == [guilty]
    assert jobs.effects() == [first, last]
    assert [line["code"] for line in workers.events("worker died")] == [0, 0]


@pytest.mark.behaviour("IMQ-29")
def test_a_message_of_a_killed_consumer_goes_to_the_other_one_flagged(jobs: Work, start: StartWorkers) -> None:
    a = start()
    with jobs.gate():
        (held,) = jobs.send("gate-python")
        killed = jobs.wait_in_handler(held)
        a.stop()  # no replacement for the one that is killed
        a.kill(killed)
        wait_until(lambda: jobs.incidents(held) == ["WorkerDied"])
        b = start()
        other = jobs.wait_in_handler(held, 2)
        assert [other] == b.pids
    jobs.wait_empty()
    flags = jobs.db.execute("select redelivered, pid from work.trace order by at").fetchall()
    assert flags == [(False, killed), (True, other)]


@pytest.mark.slow
@pytest.mark.parametrize("isolate", [True, False])
def test_a_killed_process_blames_what_its_own_sessions_had_in_hand_which_is_one_message_if_isolated(
    jobs: Work, start: StartWorkers, isolate: bool
) -> None:
    workers = start(sessions=2, isolate=isolate)
    workers.wait_started(2 if isolate else 1)
    assert len(workers.pids) == (2 if isolate else 1)
    with jobs.gate():
        first, second = jobs.send("gate-python", "gate-python", queue="single")
        sibling, killed = jobs.wait_in_handler(first), jobs.wait_in_handler(second)
        assert (sibling == killed) is not isolate
        workers.kill(killed)
        wait_until(lambda: jobs.incidents(second) == ["WorkerDied"])
        jobs.wait_in_handler(second, 2)
    jobs.wait_empty("single")
    assert jobs.blamed() == ({second} if isolate else {first, second})
    assert jobs.effects() == [first, second]


@pytest.mark.slow
def test_a_process_that_cannot_be_replaced_yet_leaves_the_others_at_work(
    jobs: Work, start: StartWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = start(processes=2)
    workers.wait_started(2)
    spawn = workers.supervisor._spawn
    tries: list[int] = []

    def scarce() -> object:
        tries.append(len(tries))
        if len(tries) < 4:
            raise OSError(12, "Cannot allocate memory")
        return spawn()

    monkeypatch.setattr(workers.supervisor, "_spawn", scarce)
    shutil.rmtree(workers.supervisor._folder.name)  # as what tidies /tmp up does
    kept = workers.pids[1]
    workers.kill()
    wait_until(lambda: len(workers.events("worker started")) == 3)
    assert kept in workers.pids
    assert len(workers.events("worker not replaced")) == 3
    jobs.send("plain")
    jobs.wait_empty()


def test_a_message_that_was_in_hand_for_a_month_is_recorded(jobs: Work, dsn: str) -> None:
    (sent,) = jobs.send("plain")
    (position,) = column(jobs.db, "select position from howdah.browse('work')")
    month_ago = time.monotonic() - 30 * 86400
    hand = Hand("work", sent, 4, position, 0, month_ago, uuid.uuid4())
    record_death(App("deaths"), dsn, threading.Event(), [hand], 1, -9)
    assert jobs.incidents(sent) == ["WorkerDied"]
