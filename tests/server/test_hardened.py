"""Hardened counts under SIGKILL of consumers at every step and crashes of the server."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from policy_support import DEAD_LETTER
from psycopg.types.json import Jsonb
from support import SYSTEM, column, kill_backend, one, receive, refused, wait_until
from thinned import thinned
from workers_support import APPS, HARDENED_STEPS, TABLES, Work

from howdah.engine.embedded import EmbeddedServer
from howdah.engine.embedded.layout import is_postmaster

PROGRAM = Path(__file__).parents[1] / "helpers" / "dying_consumer.py"
LIMIT = 3
OPTIONS = '{"backout_count": "hardened", "max_failed_deliveries": 3}'


CONSUMER = """
import sys, time, psycopg
with psycopg.connect(sys.argv[1], autocommit=True) as connection:
    while True:
        for (attempt,) in connection.execute("select attempt from howdah.begin_attempts('plain')").fetchall():
            with connection.transaction():
                taken = "select delivery_count from howdah.receive_attempt('plain', %s)"
                for (count,) in connection.execute(taken, (attempt,)).fetchall():
                    with open(sys.argv[2], "a") as starts:
                        print(count, file=starts, flush=True)
                    time.sleep(60)
        time.sleep(0.01)
"""
"""A consumer in plain SQL whose handler tells the delivery count, and then is at work until it is killed."""


def crash(server: EmbeddedServer, how: str) -> None:
    """End the server at once, by its own word or by SIGKILL of its first process, and start it again."""
    info = server.start()
    if how == "immediate":
        server.stop("immediate")
    else:
        os.kill(info.pid, signal.SIGKILL)
        wait_until(lambda: not is_postmaster(info.pid, info.data))
    assert server.start().dsn == info.dsn


def wait_started(dsn: str, number: int) -> bool:
    """Wait until handlers have started so often; False if the queue was empty before."""
    with psycopg.connect(dsn, autocommit=True) as db:
        left = "select live + parked from howdah.queue_stats('q')"
        wait_until(lambda: one(db, "select count(*) from started") >= number or one(db, left) == 0)
        return int(one(db, left)) > 0


@pytest.mark.slow
@pytest.mark.behaviour("WAS-47")
@pytest.mark.parametrize(
    ("seed", "order"),
    thinned([(0, {}), (1, {}), (2, {}), (0, {"strict_order": True}), (0, {"message_groups": "transaction"})], 4),
)
def test_a_handler_never_starts_more_often_than_the_limit_wherever_it_dies(
    private_server: EmbeddedServer, seed: int, order: dict[str, object]
) -> None:
    """With a seed the server crashes too, at four moments, by turns as crashes go: stopped at once, and killed."""
    dsn = private_server.start().dsn
    dice = random.Random(seed)
    with psycopg.connect(dsn, autocommit=True) as db:
        one(db, "select howdah.create_queue('q', %s::jsonb || %s)", (OPTIONS, Jsonb(order)))
        db.execute("create table started (message_id bigint)")
        sent = one(
            db,
            "select howdah.send_batch('q', array_agg('x'::text),"
            """ headers => array_agg(jsonb_build_object('JMSXGroupID', n % 3))) from generate_series(1, 12) n""",
        )
    consumers = [subprocess.Popen([sys.executable, str(PROGRAM), dsn, str(seed)]) for seed in range(3)]
    crashed = 0
    for number in sorted(dice.sample(range(16), 4)) if seed else []:
        if wait_started(dsn, number):
            time.sleep(dice.uniform(0, 0.05))
            crash(private_server, ("immediate", "killed")[crashed % 2])
            crashed += 1
    assert crashed >= (2 if seed else 0)
    for consumer in consumers:
        assert consumer.wait(60) == 0
    with psycopg.connect(dsn, autocommit=True) as db:
        starts: dict[int, int] = dict(db.execute("select message_id, count(*) from started group by 1").fetchall())
        assert max(starts.values()) <= LIMIT
        assert sorted(message.message_id for message in receive(db, SYSTEM, 99)) == sent
        assert column(db, "select distinct count(*) <= 3 from howdah.attempts group by message_id") == [True]


@contextmanager
def consumers(dsn: str, starts: Path) -> Iterator[None]:
    """A worker on the queue worked and a consumer in plain SQL on the queue plain, killed at the end."""
    path = os.pathsep.join([str(PROGRAM.parent), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"HOWDAH_TEST_STARTS": str(starts), "PYTHONPATH": path}
    worker = ["-m", "howdah.cli.main", "worker", "signalling:app", "--dsn", dsn, "--sessions", "1"]
    running = [
        subprocess.Popen(
            [sys.executable, *arguments], env=environment, stderr=subprocess.DEVNULL, start_new_session=True
        )
        for arguments in (worker, [str(PROGRAM.with_name("signalling.py")), dsn])
    ]
    try:
        yield
    finally:
        for process in running:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)


@pytest.mark.behaviour("WAS-48")
def test_a_consumer_killed_five_times_in_its_handler_starts_it_five_times_and_no_more(dsn: str, tmp_path: Path) -> None:
    """And nobody reports the rollbacks."""
    starts = tmp_path / "starts"
    starts.touch()
    program = [sys.executable, "-c", CONSUMER, dsn, str(starts)]
    with psycopg.connect(dsn, autocommit=True) as db:
        options = '{"preset": "websphere_mq", "backout_count": "hardened", "max_failed_deliveries": 5}'
        one(db, "select howdah.create_queue('plain', %s)", (options,))
        sent = one(db, "select howdah.send('plain', 'x')")
        for number in range(1, 7):
            with subprocess.Popen(program) as consumer:
                if number <= 5:
                    wait_until(lambda: len(starts.read_text().splitlines()) == number)  # noqa: B023 - it is called at once
                else:
                    wait_until(lambda: len(receive(db, DEAD_LETTER, 9, "browse")) == 1)
                consumer.kill()
        assert starts.read_text().splitlines() == ["1", "2", "3", "4", "5"]
        assert [message.message_id for message in receive(db, DEAD_LETTER, 9)] == [sent]
        assert column(db, "select incident_id from howdah.poison_details") == []


@pytest.mark.slow
def test_a_handler_during_which_the_server_crashes_each_time_starts_exactly_as_often_as_the_limit_says(
    private_server: EmbeddedServer, tmp_path: Path
) -> None:
    """And runs to its end in vain each time: its transaction went down with the server."""
    dsn = private_server.start().dsn
    starts = tmp_path / "starts"
    starts.touch()
    with psycopg.connect(dsn, autocommit=True) as db:
        sent = []
        for queue in ("worked", "plain"):
            one(db, "select howdah.create_queue(%s, %s)", (queue, OPTIONS))
            sent.append(one(db, "select howdah.send(%s, 'x')", (queue,)))
    expected: set[str] = set()
    with consumers(dsn, starts):
        for number in range(1, LIMIT + 1):
            new = {f"worked {number}", f"plain {number}"}
            expected.update(new)
            wait_until(lambda: set(starts.read_text().splitlines()) >= expected)
            private_server.stop("immediate")
            assert private_server.start().dsn == dsn
            for line in new:
                Path(f"{starts} {line}").touch()
        with psycopg.connect(dsn, autocommit=True) as db:
            wait_until(lambda: len(receive(db, SYSTEM, 9, "browse")) == len(sent))
            assert sorted(message.message_id for message in receive(db, SYSTEM, 9, "browse")) == sorted(sent)
    assert sorted(starts.read_text().splitlines()) == sorted(expected), "no start more, and none with a wrong count"


@pytest.mark.slow
def test_a_server_killed_at_every_step_of_an_attempt_starts_the_handler_no_more_often_than_the_limit(
    private_server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the worker lives on. What was committed counts, what was not does not; and each message ends once."""
    dsn = private_server.start().dsn
    monkeypatch.setenv("PYTHONPATH", str(APPS), prepend=os.pathsep)
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute(TABLES)
        one(db, """select howdah.alter_queue('work', '{"max_failed_deliveries": 2, "backout_count": "hardened"}')""")
    command = [sys.executable, "-m", "howdah.cli.main", "worker", "workapp:app", "--dsn", dsn, "--sessions", "1"]
    started = {}
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as worker:
        try:
            for number, step in enumerate(HARDENED_STEPS):
                with psycopg.connect(dsn, autocommit=True) as db:
                    jobs = Work(db, dsn)
                    with jobs.gate():
                        sent = jobs.gate_at(step)
                        wait_until(jobs.at_gate, 60)
                        crash(private_server, ("killed", "immediate")[number % 2])
                with psycopg.connect(dsn, autocommit=True) as db:
                    jobs = Work(db, dsn)
                    jobs.wait_empty()
                    for table in ("attempts", "poison_details"):
                        db.execute(f"drop trigger if exists gate on howdah.{table}".encode())
                    started[step] = jobs.trace(sent), jobs.effects().count(sent), jobs.dead().count(sent)
        finally:
            worker.terminate()
    assert started == {
        "put on record": ([1], 1, 0),
        "committed": ([1], 1, 0),
        "taken": ([2], 1, 0),
        "handled": ([1, 2], 1, 0),
        "failed": ([1, 2], 0, 1),
        "told": ([1, 2], 0, 1),
    }


@pytest.mark.first_case
@pytest.mark.parametrize("how", ["immediate", "killed", "backend", "clean"])
def test_no_attempt_is_taken_after_the_server_was_started_anew(private_server: EmbeddedServer, how: str) -> None:
    """What a transaction that went down with the server wrote may be lost; that its handler had started is not."""
    dsn = private_server.start().dsn
    take = "select howdah.receive_attempt('q', %s)"
    with closing(psycopg.connect(dsn, autocommit=True)) as db:
        one(db, "select howdah.create_queue('q', %s)", (OPTIONS,))
        one(db, "select howdah.send('q', 'x')")
        attempt = one(db, "select attempt from howdah.begin_attempts('q')")
        db.execute("checkpoint")
        db.execute("begin")
        assert len(column(db, take, (attempt,))) == 1
        if how == "backend":
            kill_backend(private_server, db)
        elif how == "clean":
            private_server.stop("fast")
            private_server.start()
        else:
            crash(private_server, how)
    with psycopg.connect(dsn, autocommit=True) as db:
        refused(db, "HD022", take, (attempt,))
        attempt = one(db, "select attempt from howdah.begin_attempts('q')")
        assert one(db, "select delivery_count from howdah.receive_attempt('q', %s)", (attempt,)) == 2
