"""Workers that have nothing to do are woken by a commit; those that have enough to do are never notified."""

from __future__ import annotations

import threading
import time

import pytest
from support import Connect, Db, column, one, wait_until
from workers_support import StartWorkers, Work

AWAITED = "select pg_sequence_last_value(waiting) is not null from howdah.destinations where name = 'work'"
LISTENERS = "select pid from pg_stat_activity where application_name = 'howdah waking' and datname = current_database()"


@pytest.mark.slow
def test_a_process_listens_once_and_its_idle_sessions_ask_to_be_woken(start: StartWorkers, jobs: Work) -> None:
    start(sessions=3).wait_started()
    wait_until(lambda: one(jobs.db, AWAITED))
    assert len(column(jobs.db, LISTENERS)) == 1
    jobs.send(*["plain"] * 20)
    wait_until(lambda: jobs.left() == 0)


@pytest.mark.slow
def test_idle_sessions_are_woken_by_the_commit_of_a_message(start: StartWorkers, jobs: Work) -> None:
    start("rarely:app", sessions=3).wait_started()
    wait_until(lambda: one(jobs.db, AWAITED))
    took = []
    for number in range(1, 8):
        time.sleep(0.3)  # by now all of them sleep, for half a minute unless they are woken
        sent = time.monotonic()
        jobs.send("plain")
        wait_until(lambda number=number: one(jobs.db, "select count(*) from work.effects") == number, 60)  # type: ignore[misc]
        took.append(time.monotonic() - sent)
    # Most of them: where this machine stands still for seconds, senders heed no longer that they were asked.
    assert sorted(took)[3] < 5, took


@pytest.mark.slow
def test_a_killed_listening_connection_is_replaced_and_nothing_stays_behind(start: StartWorkers, jobs: Work) -> None:
    start(sessions=2).wait_started()
    wait_until(lambda: one(jobs.db, AWAITED))
    (killed,) = column(jobs.db, LISTENERS)
    one(jobs.db, "select pg_terminate_backend(%s)", (killed,))
    jobs.send("plain")
    wait_until(lambda: jobs.left() == 0)
    wait_until(lambda: column(jobs.db, LISTENERS) not in ([], [killed]))


@pytest.mark.slow
def test_a_busy_queue_sends_no_notify(start: StartWorkers, jobs: Work, connect: Connect) -> None:
    ear = connect()
    ear.execute("listen howdah")
    # More than are handled while anybody here may be kept waiting for a core: the queue never runs dry.
    one(jobs.db, "select cardinality(howdah.send_batch('work', array_fill('plain'::text, array[20000])))")
    stop = threading.Event()

    def send(producer: Db) -> None:
        while not stop.is_set():
            one(producer, "select howdah.send('work', 'plain')")

    producer = threading.Thread(target=send, args=(connect(),))
    producer.start()
    start(sessions=2).wait_started()
    wait_until(lambda: one(jobs.db, "select count(*) from work.effects") > 1500)
    stop.set()
    producer.join()
    assert jobs.left() > 0, "it was busy all the time"
    ear.execute("select 1")
    assert [notification.payload for notification in ear.notifies(timeout=0)] == []
