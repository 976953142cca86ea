"""A worker that starts while its database is down."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import howdah, refused
from psycopg.conninfo import make_conninfo
from support import Server, wait_until
from workers_support import APPS

from howdah.engine.embedded import EmbeddedServer
from howdah.migrations import migrate


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.slow
def test_a_worker_waits_for_a_server_that_is_down_and_works_once_it_is_up(server_folder: Path, tmp_path: Path) -> None:
    server = EmbeddedServer(server_folder)
    dsn = server.start().dsn
    migrate(dsn)
    server.stop()
    log = tmp_path / "log"
    with log.open("wb") as file:
        worker = subprocess.Popen(
            [sys.executable, "-m", "howdah.cli.main", "worker", "chainapp:app", "--log-json"],
            env=os.environ | {"HOWDAH_DSN": dsn},
            cwd=APPS,
            stderr=file,
        )
    try:
        wait_until(lambda: log.read_text().count("waiting for the database") >= 2)
        assert worker.poll() is None
        assert "worker started" not in log.read_text()
        server.start()
        wait_until(lambda: "worker started" in log.read_text())
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0
    finally:
        worker.kill()
        worker.wait()
        server.stop("immediate")


def test_with_no_wait_it_ends_at_once() -> None:
    started = time.monotonic()
    nowhere = f"postgresql://127.0.0.1:{free_port()}/nothing"
    refused(howdah(nowhere, "worker", "howdah.cli.demo.flights:app", "--no-wait"), "cannot connect", 3)
    assert time.monotonic() - started < 20


def test_what_waiting_cannot_cure_ends_it_at_once(server: Server) -> None:
    nothing = make_conninfo(server.dsn, dbname="howdah_is_not_here")
    refused(howdah(nothing, "worker", "howdah.cli.demo.flights:app"), "does not exist", 3)
