"""An embedded server keeps its folder to itself, wherever it lies, and runs as the folder's owner."""

import os
import subprocess
from pathlib import Path

import pytest
from embedded_support import ask

from howdah.engine.embedded import (
    EmbeddedServer,
    EmbeddedServerError,
    programs,
)
from howdah.engine.embedded.layout import own_folder

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.mark.slow
def test_nobody_else_can_read_what_lies_in_the_folder(server_folder: Path) -> None:
    info = EmbeddedServer(server_folder).start()

    for path in (info.data, server_folder / "log", info.socket_dir, server_folder / "password"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_stop_where_no_server_ever_was_makes_no_folder(server_folder: Path) -> None:
    server = EmbeddedServer(server_folder)

    assert server.stop() is False
    assert server.status() is None
    assert not server_folder.exists()


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


def test_a_socket_folder_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    link = tmp_path / "link"
    link.symlink_to(tmp_path)

    for path in (open_to_all, link):
        assert not own_folder(path, os.geteuid(), os.getegid())
