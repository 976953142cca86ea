"""The promises of the embedded server, each on a server of its own."""

import socket
from pathlib import Path

import psycopg
import pytest
from embedded_support import ask, starter

from howdah.engine.embedded import (
    EmbeddedServer,
    EmbeddedServerError,
    default_dsn,
    default_folder,
    programs,
)
from howdah.engine.embedded.layout import Layout
from howdah.engine.errors import CannotConnect


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


@pytest.mark.slow
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
