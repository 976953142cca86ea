"""Folders of servers: where they are made, copied for those who ask, and removed."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from howdah.engine.embedded import EmbeddedServer

# The embedded server's major version; HOWDAH_TEST_DSN names another server altogether.
PG_VERSION = int(os.environ.get("HOWDAH_TEST_PG", "18"))

# What the servers of a run may need at most, in bytes: most of it WAL of hundreds of databases.
ROOM = 4 << 30


def place() -> str | None:
    """Where servers' folders are made: in memory, else where the system has its temporary files.

    A test's database is 10 MB, written twice (files and WAL), and on a disk all tests wait for it together. The server
    is as durable as ever, fsync and all: tests crash servers, never the machine, whose memory outlives them.
    """
    memory = Path("/dev/shm")
    with suppress(OSError):
        found = os.statvfs(memory)
        if found.f_bavail * found.f_frsize >= ROOM and not found.f_flag & os.ST_NOEXEC and os.access(memory, os.W_OK):
            return str(memory)
    return None


def new_folder() -> Path:
    # Not pytest's tmp_path: root's lies below a closed folder, and its paths are long.
    folder = Path(tempfile.mkdtemp(prefix="howdah-test-", dir=place())) / "server"
    folder.parent.chmod(0o711)
    return folder


@contextmanager
def stopped_at_the_end(embedded: EmbeddedServer) -> Iterator[EmbeddedServer]:
    try:
        yield embedded
    finally:
        embedded.stop("immediate")
        shutil.rmtree(embedded.folder.parent)


def copy_server(made: EmbeddedServer, folder: Path) -> None:
    """Copy a stopped server; the copy takes a port of its own."""
    # Not shutil.copytree: it leaves the files to root, and the server's user could not read them.
    subprocess.run(["cp", "-a", str(made.folder), str(folder)], check=True)
    (folder / "port").unlink()


def copy_of(made: EmbeddedServer) -> EmbeddedServer:
    folder = new_folder()
    copy_server(made, folder)
    return EmbeddedServer(folder, PG_VERSION)


@contextmanager
def prepared(folder: Path, name: str) -> Iterator[tuple[EmbeddedServer, bool]]:
    """A stopped server that all processes of the run copy, and whether this one has to make it first.

    Others wait for it.
    """
    made = folder / f"{name}-is-made"
    with (folder / f"{name}-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield EmbeddedServer(folder / name, PG_VERSION), not made.exists()
        made.touch()
