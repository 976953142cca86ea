"""Hardened counts under SIGKILL of consumers at every step and crashes of the server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from support import SYSTEM, column, one, receive, wait_until

from howdah.engine.embedded import EmbeddedServer

PROGRAM = Path(__file__).parents[1] / "helpers" / "dying_consumer.py"
LIMIT = 3
OPTIONS = '{"backout_count": "hardened", "max_failed_deliveries": 3}'


@pytest.mark.behaviour("WAS-48")
@pytest.mark.behaviour("WAS-47")
@pytest.mark.parametrize("crash", [False, True])
def test_a_handler_never_starts_more_often_than_the_limit_wherever_it_dies(
    private_server: EmbeddedServer, crash: bool
) -> None:
    dsn = private_server.start().dsn
    with psycopg.connect(dsn, autocommit=True) as db:
        one(db, "select howdah.create_queue('q', %s)", (OPTIONS,))
        db.execute("create table started (message_id bigint)")
        sent = one(db, "select howdah.send_batch('q', array_agg('x'::text)) from generate_series(1, 12)")
    consumers = [subprocess.Popen([sys.executable, str(PROGRAM), dsn, str(seed)]) for seed in range(3)]
    if crash:
        time.sleep(0.5)
        private_server.stop("immediate")
        assert private_server.start().dsn == dsn
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
            process.wait(10)


@pytest.mark.behaviour("WAS-48")
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
