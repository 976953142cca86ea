"""Each firing takes place once, whatever schedulers, connections or servers die."""

from __future__ import annotations

import signal
import subprocess
import sys

import psycopg
import pytest
from support import Db, column, one, receive, wait_until

from howdah.engine.embedded import EmbeddedServer
from howdah.workers.scheduler import Scheduler

PROGRAM = """
import sys, time
from howdah.workers.scheduler import Scheduler
scheduler = Scheduler(sys.argv[1], "s")
scheduler.start()
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.slow
def test_many_schedulers_fire_each_time_once_though_some_are_killed(dsn: str, db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    processes = [subprocess.Popen([sys.executable, "-c", PROGRAM, dsn], stdout=subprocess.PIPE) for _ in range(3)]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        numbers = [one(db, "select howdah.schedule('q', 'x', period => '20 ms', repeat => 49)") for _ in range(4)]
        for process in processes[:2]:
            wait_until(lambda: one(db, "select sum(fired) from howdah.schedules") > 40)
            process.send_signal(signal.SIGKILL)
        query = "select count(*) from howdah.list_schedules(all_states => true) where state = 'ended'"
        wait_until(lambda: one(db, query) == 4)
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    messages = receive(db, n=1000)
    assert len(messages) == 200
    times = {(message.headers["scheduledJobId"], message.headers["scheduledTime"]) for message in messages}
    assert len(times) == 200
    assert (
        one(db, "select count(distinct message_id) from howdah.schedule_runs where schedule_id = any (%s)", (numbers,))
        == 200
    )


def test_a_scheduler_reconnects_and_says_why(dsn: str, db: Db, caplog: pytest.LogCaptureFixture) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.schedule('q', 'x', period => '10 ms')")
    scheduler = Scheduler(dsn, "s")
    scheduler.start()
    killed = "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'howdah scheduler'"
    wait_until(lambda: one(db, killed + " and datname = current_database()"))
    wait_until(lambda: [r for r in caplog.records if r.getMessage() == "scheduler failed"])
    before = one(db, "select sum(fired) from howdah.schedules")
    wait_until(lambda: one(db, "select sum(fired) from howdah.schedules") > before)
    scheduler.stop()


@pytest.mark.slow
def test_a_server_that_crashes_while_schedulers_fire_leaves_each_firing_made_once(
    private_server: EmbeddedServer,
) -> None:
    dsn = private_server.start().dsn
    with psycopg.connect(dsn, autocommit=True) as db:
        one(db, "select howdah.create_queue('q')")
        number = one(db, "select howdah.schedule('q', 'x', period => '5 ms', repeat => 299)")
        schedulers = [Scheduler(dsn, name) for name in ("a", "b")]
        for scheduler in schedulers:
            scheduler.start()
        wait_until(lambda: one(db, "select fired from howdah.schedules") > 50)
    private_server.stop("immediate")
    private_server.start()
    with psycopg.connect(dsn, autocommit=True) as db:
        wait_until(lambda: one(db, "select state from howdah.schedules") == "ended")
        for scheduler in schedulers:
            scheduler.stop()
        times = [message.headers["scheduledTime"] for message in receive(db, n=1000)]
        assert len(times) == len(set(times)) == 300
        assert one(db, "select count(*) from howdah.schedule_runs where schedule_id = %s", (number,)) == 300


def test_schedules_and_delays_outlive_a_crash_of_the_server(private_server: EmbeddedServer) -> None:
    with psycopg.connect(private_server.start().dsn, autocommit=True) as db:
        one(db, "select howdah.create_queue('q')")
        one(db, "select howdah.schedule('q', 'x', period => '1 ms', repeat => 2)")
        one(db, "select howdah.schedule('q', 'c', cron => '* * * * *')")
        one(db, "select howdah.send('q', 'd', delay => '1 ms')")
    private_server.stop("immediate")
    dsn = private_server.start().dsn
    with psycopg.connect(dsn, autocommit=True) as db:
        scheduler = Scheduler(dsn, "s")
        scheduler.start()
        wait_until(lambda: one(db, "select count(*) from howdah.schedule_runs") >= 3)
        scheduler.stop()
        assert sorted(m.body or "" for m in receive(db, n=10) if m.body != "c") == ["d", "x", "x", "x"]
        assert len(column(db, "select 1 from howdah.list_schedules()")) == 1
