"""The promises of the embedded server, each on a server of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest

from howdah.engine.embedded import (
    EmbeddedServer,
    EmbeddedServerError,
    default_dsn,
    default_folder,
    programs,
)
from howdah.engine.embedded.layout import NO_SUCH_PID, Layout, is_postmaster, own_folder
from howdah.engine.errors import CannotConnect

START = "import sys; from howdah.engine.embedded import EmbeddedServer as E; "
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def ask(dsn: str, query: str) -> object:
    with psycopg.connect(dsn) as connection:
        row = connection.execute(query.encode()).fetchone()
        assert row is not None
        return row[0]


def starter(folder: Path, then: str = "") -> subprocess.Popen[str]:
    """Another process that starts the server, prints its pid and does `then`."""
    code = f"{START} print(E(sys.argv[1]).start().pid, flush=True); {then}"
    return subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, text=True)


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


@pytest.mark.slow
@pytest.mark.parametrize("version", [16, 18])
def test_a_first_start_gives_a_durable_utf8_server(server_folder: Path, version: int) -> None:
    info = EmbeddedServer(server_folder, version).start()

    assert info.version == version
    assert ask(info.dsn, "select current_setting('server_version_num')::int / 10000") == version
    assert ask(info.dsn, "select current_database()") == "howdah"
    for setting, value in {
        "server_encoding": "UTF8",
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "data_checksums": "on",
        "listen_addresses": "127.0.0.1",
        "max_connections": "300",
        "lc_messages": "C" if version >= 17 else "C.UTF-8",
    }.items():
        assert ask(info.dsn, f"select current_setting('{setting}')") == value
    assert ask(info.dsn, "select upper('é')") == "É"


@pytest.mark.behaviour("IMQ-59")
def test_both_doors_lead_in_and_both_ask_for_the_password(made_folder: Path) -> None:
    info = EmbeddedServer(made_folder).start()

    assert ask(info.dsn, "select host(inet_server_addr())") == "127.0.0.1"
    assert ask(info.socket_dsn, "select inet_server_addr() is null") is True
    password = (made_folder / "password").read_text()
    for dsn in (info.dsn, info.socket_dsn):
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(dsn.replace(password, "wrong"))
    assert password not in repr(info)


@pytest.mark.behaviour("IMQ-60")
def test_a_password_is_sent_by_scram_alone(made_folder: Path) -> None:
    info = EmbeddedServer(made_folder).start()
    with psycopg.connect(info.dsn) as connection:
        methods = connection.execute("select distinct auth_method from pg_hba_file_rules").fetchall()
    assert methods == [("scram-sha-256",)]
    assert ask(info.dsn, "select rolpassword ^@ 'SCRAM-SHA-256$' from pg_authid where rolname = current_user") is True


@pytest.mark.slow
def test_nobody_else_can_read_what_lies_in_the_folder(server_folder: Path) -> None:
    info = EmbeddedServer(server_folder).start()

    for path in (info.data, server_folder / "log", info.socket_dir, server_folder / "password"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_second_start_returns_the_running_server(made_folder: Path) -> None:
    first = EmbeddedServer(made_folder).start()

    assert EmbeddedServer(made_folder).start() == first
    assert EmbeddedServer(made_folder).status() == first


@pytest.mark.slow
def test_starts_at_once_from_four_processes_share_one_server(server_folder: Path) -> None:
    processes = [starter(server_folder) for _ in range(4)]

    said = {process.communicate(timeout=120)[0] for process in processes}

    assert [process.returncode for process in processes] == [0] * 4
    running = EmbeddedServer(server_folder).status()
    assert running is not None
    assert said == {f"{running.pid}\n"}


@pytest.mark.slow
def test_a_stop_is_clean_and_a_second_one_does_nothing(server_folder: Path) -> None:
    server = EmbeddedServer(server_folder)
    info = server.start()

    assert server.stop() is True
    assert server.status() is None
    assert not (info.data / "postmaster.pid").exists()
    assert server.stop() is False


def test_a_stop_where_no_server_ever_was_makes_no_folder(server_folder: Path) -> None:
    server = EmbeddedServer(server_folder)

    assert server.stop() is False
    assert server.status() is None
    assert not server_folder.exists()


def test_port_password_and_rows_survive_a_restart(made_folder: Path) -> None:
    server = EmbeddedServer(made_folder)
    info = server.start()
    with psycopg.connect(info.dsn) as connection:
        connection.execute("create table kept (n int)")
        connection.execute("insert into kept values (7)")
    server.stop()

    again = server.start()

    assert again.dsn == info.dsn
    assert again.pid != info.pid
    assert ask(again.dsn, "select n from kept") == 7


def test_another_port_is_taken_when_the_remembered_one_is_busy(made_folder: Path) -> None:
    server = EmbeddedServer(made_folder)
    info = server.start()
    server.stop()

    with socket.create_server(("127.0.0.1", info.port)):
        again = server.start()

    assert again.port != info.port
    assert ask(again.dsn, "select 1") == 1


@pytest.mark.slow
def test_a_port_lost_between_look_and_start_is_replaced(made_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = EmbeddedServer(made_folder)
    info = server.start()
    server.stop()

    with socket.create_server(("127.0.0.1", info.port)):
        monkeypatch.setattr("howdah.engine.embedded.server.is_free", lambda port: True)
        again = server.start()

    assert again.port != info.port


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


@pytest.mark.slow
def test_a_folder_with_a_long_or_odd_name_works_through_both_doors(server_folder: Path) -> None:
    folder = server_folder.parent / 'it\'s $HOME, "quoted"' / ("x" * 120)
    server = EmbeddedServer(folder)
    (server_folder.parent / 'it\'s $HOME, "quoted"').mkdir(mode=0o711)
    try:
        info = server.start()

        assert len(str(info.socket_dir)) < 80
        assert info.socket_dir.stat().st_mode & 0o077 == 0
        assert ask(info.dsn, "select 1") == 1
        assert ask(info.socket_dsn, "select 1") == 1
    finally:
        server.stop("immediate")
    info.socket_dir.rmdir()  # empty, or this fails


@pytest.mark.slow
def test_a_folder_of_another_version_is_refused_and_left_alone(server_folder: Path) -> None:
    EmbeddedServer(server_folder, 16).start()
    server = EmbeddedServer(server_folder, 18)

    with pytest.raises(EmbeddedServerError, match="PostgreSQL 16, not 18"):
        server.start()

    running = EmbeddedServer(server_folder).status()
    assert running is not None
    assert running.version == 16


def test_a_version_that_is_not_packaged_is_refused(server_folder: Path) -> None:
    with pytest.raises(EmbeddedServerError, match="no embedded PostgreSQL 9: the package brings 16 and 18"):
        EmbeddedServer(server_folder, 9).start()
    assert not server_folder.exists()


def test_without_the_extra_the_error_says_what_to_install(server_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "find_spec", lambda name: None)

    with pytest.raises(EmbeddedServerError, match=r"pip install '\.\[embedded\]' in a checkout"):
        EmbeddedServer(server_folder).start()
    assert not server_folder.exists()


def test_a_failed_start_shows_the_end_of_the_servers_log(made_folder: Path) -> None:
    server = EmbeddedServer(made_folder)
    info = server.start()
    server.stop()
    with (info.data / "postgresql.conf").open("a") as conf:
        conf.write("no_such_setting = 1\n")

    with pytest.raises(EmbeddedServerError, match="no_such_setting"):
        server.start()


def test_programs_are_found_by_name(server_folder: Path) -> None:
    server = EmbeddedServer(server_folder)

    assert server.bin("psql").is_file()
    with pytest.raises(EmbeddedServerError, match="no program 'oracle'"):
        server.bin("oracle")


@root_only
def test_as_root_the_server_runs_as_another_user(made_folder: Path) -> None:
    info = EmbeddedServer(made_folder).start()

    assert Path(f"/proc/{info.pid}").stat().st_uid == info.data.stat().st_uid != 0


@root_only
def test_as_root_a_folder_below_a_closed_one_is_refused(server_folder: Path) -> None:
    server_folder.parent.chmod(0o700)

    with pytest.raises(EmbeddedServerError, match="cannot enter"):
        EmbeddedServer(server_folder).start()


@pytest.mark.slow
@root_only
def test_as_root_programs_below_a_closed_folder_are_copied(
    server_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = server_folder.parent / "closed"
    closed.mkdir(mode=0o700)
    package = programs.package_folder()
    for part in (package, package.with_name(f"{package.name}.libs")):
        subprocess.run(["cp", "-r", str(part), str(closed)], check=True)
    monkeypatch.setattr(programs, "package_folder", lambda: closed / package.name)
    monkeypatch.setattr(programs, "COPIES", server_folder.parent / "copies")

    info = EmbeddedServer(server_folder).start()

    assert ask(info.dsn, "select 1") == 1
    assert closed.stat().st_mode & 0o777 == 0o700
    (copy,) = (server_folder.parent / "copies").iterdir()
    program = Path(f"/proc/{info.pid}/exe").resolve()
    assert program.is_relative_to(copy)


def test_the_default_dsn_is_the_environments_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOWDAH_DSN", "postgresql://elsewhere/db")

    assert default_dsn() == "postgresql://elsewhere/db"


@pytest.mark.slow
def test_without_one_it_is_the_embedded_server_of_the_default_folder_which_nobody_starts_by_asking(
    server_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOWDAH_DSN", raising=False)
    monkeypatch.setenv("HOWDAH_HOME", str(server_folder))

    assert default_folder() == server_folder
    with pytest.raises(CannotConnect, match=r"no server runs in .* \(howdah server start starts it"):
        default_dsn()
    assert not server_folder.exists()

    assert EmbeddedServer(server_folder).start().dsn == default_dsn()


def test_a_lock_held_too_long_is_an_error(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    with (
        layout.locked(),
        pytest.raises(EmbeddedServerError, match="another process"),
        layout.locked(seconds=0.1),
    ):
        pass


def test_a_socket_folder_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    link = tmp_path / "link"
    link.symlink_to(tmp_path)

    for path in (open_to_all, link):
        assert not own_folder(path, os.geteuid(), os.getegid())
