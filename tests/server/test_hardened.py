"""Hardened counts under SIGKILL of consumers at every step and crashes of the server."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
from support import SYSTEM, column, one, receive

from howdah.engine.embedded import EmbeddedServer

PROGRAM = Path(__file__).parents[1] / "helpers" / "dying_consumer.py"
LIMIT = 3


@pytest.mark.behaviour("WAS-48")
@pytest.mark.behaviour("WAS-47")
@pytest.mark.parametrize("crash", [False, True])
def test_a_handler_never_starts_more_often_than_the_limit_wherever_it_dies(
    private_server: EmbeddedServer, crash: bool
) -> None:
    dsn = private_server.start().dsn
    with psycopg.connect(dsn, autocommit=True) as db:
        options = '{"backout_count": "hardened", "max_failed_deliveries": 3}'
        one(db, "select howdah.create_queue('q', %s)", (options,))
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
