"""Workers that serve some of an app's queues, or end once there is nothing left to do."""

import os
import subprocess
import sys

import pytest
from command import howdah, refused
from support import Connect, one, wait_until
from workers_support import StartWorkers, Work


def worker(dsn: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "howdah.cli.main", "worker", *words],
        env=os.environ | {"HOWDAH_DSN": dsn},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.slow
def test_until_empty_ends_with_0_once_what_was_sent_and_what_that_sends_is_handled(dsn: str, jobs: Work) -> None:
    jobs.send("60")
    ended = worker(dsn, "chainapp:app", "--until-empty")
    assert ended.returncode == 0, ended.stderr
    assert "queues empty" in ended.stderr
    assert one(jobs.db, "select count(*) from work.once") == 61
    assert jobs.left() + jobs.left("single") == 0


@pytest.mark.slow
def test_until_empty_ends_at_once_where_nothing_is_and_leaves_what_waits_for_a_time(dsn: str, jobs: Work) -> None:
    one(jobs.db, "select howdah.send('work', '1', delay => interval '1 hour')")
    assert worker(dsn, "chainapp:app", "--until-empty").returncode == 0
    assert jobs.left() == 1


@pytest.mark.slow
def test_until_empty_handles_what_was_delayed_and_is_due(dsn: str, jobs: Work) -> None:
    db = jobs.db
    one(db, "select count(howdah.send('work', '0', delay => interval '1 ms')) from generate_series(1, 300)")
    wait_until(lambda: one(db, "select max(due_at) < clock_timestamp() from howdah.parked"))
    assert worker(dsn, "chainapp:app", "--until-empty").returncode == 0
    assert jobs.left() == 0


@pytest.mark.slow
def test_until_empty_waits_for_what_others_have_in_hand(jobs: Work, start: StartWorkers, connect: Connect) -> None:
    jobs.send("0")
    other = connect()
    with other.transaction():
        one(other, "select count(*) from howdah.receive('work')")
        workers = start("chainapp:app", until_empty=True, queues=["work", "single"])
        workers.wait_started()
        looks = "select count(*) from pg_stat_activity where application_name = 'howdah until empty' and state = 'idle'"
        wait_until(lambda: one(jobs.db, looks) == 1)
        assert not workers.events("queues empty")
    workers.wait_ended()
    assert len(workers.events("queues empty")) == 1


@pytest.mark.slow
def test_until_empty_ends_with_1_where_a_queue_is_missing(dsn: str, jobs: Work) -> None:
    one(jobs.db, "select howdah.drop_queue('single')")
    ended = worker(dsn, "chainapp:app", "--until-empty")
    assert ended.returncode == 1
    assert "howdah: there is no queue 'single'" in ended.stderr


@pytest.mark.slow
def test_only_the_chosen_queues_are_served(dsn: str, jobs: Work) -> None:
    jobs.send("0")
    jobs.send("1", queue="single")
    ended = worker(dsn, "chainapp:app", "-Q", "work", "--until-empty")
    assert ended.returncode == 0, ended.stderr
    assert (jobs.left(), jobs.left("single")) == (0, 1)
    assert "queues=['work']" in ended.stderr


@pytest.mark.slow
def test_a_death_in_a_chosen_queue_is_recorded_there(jobs: Work, start: StartWorkers) -> None:
    (message_id,) = jobs.send("gate-python", queue="single")
    workers = start("workapp:app", queues=["single"])
    with jobs.gate():
        workers.kill(jobs.wait_in_handler(message_id))
        wait_until(lambda: jobs.incidents(message_id) == ["WorkerDied"])
    jobs.wait_empty("single")


def test_a_queue_without_a_handler_is_wrong_usage(dsn: str) -> None:
    refused(
        howdah(dsn, "worker", "chainapp:app", "-Q", "work", "-Q", "nowhere"),
        "app chain has no handler for queue nowhere (It has handlers for work, single.)",
        2,
    )
