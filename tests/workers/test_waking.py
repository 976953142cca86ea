"""Workers that have nothing to do are woken by a commit; those that have enough to do are never notified."""

from __future__ import annotations

import threading
import time

from support import Connect, Db, column, one, wait_until
from workers_support import StartWorkers, Work

AWAITED = "select pg_sequence_last_value(waiting) is not null from howdah.destinations where name = 'work'"
LISTENERS = "select pid from pg_stat_activity where application_name = 'howdah waking' and datname = current_database()"


def test_a_process_listens_once_and_its_idle_sessions_ask_to_be_woken(start: StartWorkers, jobs: Work) -> None:
    start(sessions=3).wait_started()
    wait_until(lambda: one(jobs.db, AWAITED))
    assert len(column(jobs.db, LISTENERS)) == 1
    jobs.send(*["plain"] * 20)
    wait_until(lambda: jobs.left() == 0)


def test_idle_sessions_handle_messages_within_milliseconds_of_their_commit(start: StartWorkers, jobs: Work) -> None:
    start(sessions=3).wait_started()
    wait_until(lambda: one(jobs.db, AWAITED))
    took = []
    for number in range(1, 21):
        time.sleep(0.3)  # by now sessions that only look do so every 250 ms
        sent = time.monotonic()
        jobs.send("plain")
        wait_until(lambda number=number: one(jobs.db, "select count(*) from work.effects") == number)  # type: ignore[misc]
        took.append(time.monotonic() - sent)
    assert sorted(took)[10] < 0.05


def test_a_killed_listening_connection_is_replaced_and_nothing_stays_behind(start: StartWorkers, jobs: Work) -> None:
    start(sessions=2).wait_started()
    wait_until(lambda: one(jobs.db, AWAITED))
    (killed,) = column(jobs.db, LISTENERS)
    one(jobs.db, "select pg_terminate_backend(%s)", (killed,))
    jobs.send("plain")
    wait_until(lambda: jobs.left() == 0)
    wait_until(lambda: column(jobs.db, LISTENERS) not in ([], [killed]))


def test_a_busy_queue_sends_no_notify(start: StartWorkers, jobs: Work, connect: Connect) -> None:
    ear = connect()
    ear.execute("listen howdah")
    jobs.send(*["plain"] * 300)
    stop = threading.Event()

    def keep_busy(producer: Db) -> None:
        while not stop.is_set():
            if one(producer, "select count(*) from (select from howdah.msgs limit 300) m") < 300:
                one(producer, "select howdah.send_batch('work', array_agg('plain'::text)) from generate_series(1, 100)")
            one(producer, "select howdah.send('work', 'plain')")

    producer = threading.Thread(target=keep_busy, args=(connect(),))
    producer.start()
    start(sessions=2).wait_started()
    wait_until(lambda: one(jobs.db, "select count(*) from work.effects") > 1500)
    stop.set()
    producer.join()
    assert [notification.payload for notification in ear.notifies(timeout=0)] == []
    wait_until(lambda: jobs.left() == 0)
