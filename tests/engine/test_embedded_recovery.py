"""An embedded server survives the death of its starter, kills and crashes, with all that was committed."""

import os
import signal
import subprocess
import time
from contextlib import closing
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from embedded_support import ask, starter

from howdah.engine.embedded import (
    EmbeddedServer,
)
from howdah.engine.embedded.layout import NO_SUCH_PID, is_postmaster


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


@pytest.mark.slow
def test_the_server_outlives_the_kill_of_its_starter(server_folder: Path) -> None:
    process = starter(server_folder, "import time; time.sleep(600)")
    pid = int(first_line(process))

    process.kill()
    process.communicate()

    running = EmbeddedServer(server_folder).status()
    assert running is not None
    assert running.pid == pid
    assert os.getsid(pid) != os.getsid(0)
    assert ask(running.dsn, "select 1") == 1


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.05, 0.3, 0.6, 1.0, 1.5])
def test_a_start_killed_on_the_way_is_finished_by_the_next(server_folder: Path, delay: float) -> None:
    process = starter(server_folder, "import time; time.sleep(600)")
    time.sleep(delay)  # no event to wait for: any moment will do
    process.kill()
    process.communicate()

    info = EmbeddedServer(server_folder).start()

    assert ask(info.dsn, "select current_database()") == "howdah"


def test_a_killed_server_recovers_with_all_that_was_committed(made_folder: Path) -> None:
    server = EmbeddedServer(made_folder)
    info = server.start()
    with psycopg.connect(info.dsn) as connection:
        connection.execute("create table kept as select generate_series(1, 1000) as n")
    with closing(psycopg.connect(info.dsn)) as busy:
        busy.execute("select 1")
        os.kill(info.pid, signal.SIGKILL)
        while is_postmaster(info.pid, info.data):  # the system kills in its own time
            time.sleep(0.01)
        again = server.start()

    assert again.pid != info.pid
    assert ask(again.dsn, "select count(*) from kept") == 1000


def test_an_immediate_stop_is_a_crash_that_the_next_start_recovers_from(
    made_folder: Path,
) -> None:
    server = EmbeddedServer(made_folder)
    info = server.start()
    with psycopg.connect(info.dsn) as connection:
        connection.execute("create table kept as select 1 as n")

    assert server.stop("immediate") is True

    assert ask(server.start().dsn, "select n from kept") == 1


@pytest.mark.first_case
@pytest.mark.parametrize("made", ["create unlogged sequence made", "truncate kept"])
def test_a_crash_just_after_an_unlogged_relation_was_rolled_back_does_not_keep_the_server_down(
    made_folder: Path, made: LiteralString
) -> None:
    """PostgreSQL's recovery fails then, once: it made the relation's init fork anew and finds its main fork there."""
    server = EmbeddedServer(made_folder)
    info = server.start()
    with psycopg.connect(info.dsn, autocommit=True) as db, psycopg.connect(info.dsn, autocommit=True) as other:
        db.execute("alter system set wal_writer_delay = '10s'")  # nobody flushes the record of the rollback
        db.execute("select pg_reload_conf()")
        db.execute("create unlogged table kept (a int)")
        db.execute("checkpoint")
        db.execute("begin")
        db.execute(made)
        other.execute("create table flushed (a int)")
        db.execute("rollback")
        server.stop("immediate")

    info = server.start()

    assert ask(info.dsn, "select count(*) from kept, flushed") == 0
    log = "".join(path.read_text() for path in (made_folder / "log").iterdir())
    assert "File exists" in log, "PostgreSQL recovers from it: the second attempt is no longer needed"


def test_a_dead_servers_pid_that_another_process_has_now_does_not_count(
    made_folder: Path,
) -> None:
    server = EmbeddedServer(made_folder)
    info = server.start()
    pid_file = info.data / "postmaster.pid"
    _, *rest = pid_file.read_text().splitlines()
    server.stop("immediate")
    bystander = subprocess.Popen(
        ["sleep", "600"],
        user=info.data.stat().st_uid if os.geteuid() == 0 else None,
    )
    try:
        pid_file.write_text("\n".join([str(bystander.pid), *rest]) + "\n")
        socket_lock = info.socket_dir / f".s.PGSQL.{info.port}.lock"
        socket_lock.write_text("\n".join([str(bystander.pid), *rest]) + "\n")

        assert server.status() is None
        assert server.stop() is False
        assert ask(server.start().dsn, "select 1") == 1
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_no_process_has_the_pid_that_stands_for_none(tmp_path: Path) -> None:
    assert not is_postmaster(NO_SUCH_PID, tmp_path)
    assert not is_postmaster(-1, tmp_path)
