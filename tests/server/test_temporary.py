"""Temporary queues and the deaths of clients and servers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import psycopg
import pytest
from support import Db, column, one, refused, wait_until

from howdah.engine.embedded import EmbeddedServer

TEMPORARY = "select queue from howdah.list_queues(true) where queue like '\\_TEMP%%'"
CLIENT = """
import psycopg, sys, time
with psycopg.connect(sys.argv[1], autocommit=True) as db:
    print(db.execute("select howdah.create_temporary_queue()").fetchone()[0], flush=True)
    time.sleep(60)
"""


@pytest.mark.first_case
@pytest.mark.behaviour("IMQ-103")
@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_after_a_restart_there_is_none(private_server: EmbeddedServer, mode: str) -> None:
    with psycopg.connect(private_server.start().dsn, autocommit=True) as db:
        db.execute("select howdah.set_connection('a-token-that-outlives-it')")
        queue = one(db, "select howdah.create_temporary_queue()")
        one(db, "select howdah.send(%s, 'x', delivery_mode => 'persistent')", (queue,))
        one(db, "select howdah.send(%s, 'y', delay => '1 ms')", (queue,))
    private_server.stop("immediate" if mode == "immediate" else "fast")
    with psycopg.connect(private_server.start().dsn, autocommit=True) as db:
        db.execute("select howdah.set_connection('a-token-that-outlives-it')")
        assert column(db, TEMPORARY) == []
        for call in ("send(%s, 'z')", "receive(%s)", "drop_temporary_queue(%s)"):
            refused(db, "HD001", f"select howdah.{call}", (queue,))
        assert one(db, "select howdah.respond(%s, 'z')", (queue,)) is None
        assert one(db, "select howdah.maintain_temporary()") == 1
        again = one(db, "select howdah.create_temporary_queue()")
        assert one(db, "select count(*) from howdah.receive(%s, 9)", (again,)) == 0
        assert (
            one(db, "select (select count(*) from howdah.msgs_nonpersistent) + (select count(*) from howdah.parked)")
            == 0
        )


@pytest.mark.behaviour("IMQ-101")
def test_a_client_killed_with_signal_9_takes_its_queue_along(dsn: str, db: Db) -> None:
    with subprocess.Popen([sys.executable, "-c", CLIENT, dsn], stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        queue = client.stdout.readline().strip()
        one(db, "select howdah.send(%s, 'x')", (queue,))
        os.kill(client.pid, signal.SIGKILL)

    def gone() -> bool:
        try:
            return one(db, "select howdah.respond(%s, 'x')", (queue,)) is None
        except psycopg.Error as error:  # it went between respond's look and its send
            return error.sqlstate == "HD001"

    wait_until(gone)
    refused(db, "HD001", "select howdah.send(%s, 'x')", (queue,))
    one(db, "select howdah.maintain_temporary()")
    assert column(db, TEMPORARY) == []
