"""Servers of peers that do not use the measured one. They start when needed and are gone at the end of the run."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Self

from .peers.catalogue import Entry
from .peers.environment import PeerFailed
from .place import Place, url

#: The append-only file is written at once and synced every second: Redis's own advice. PostgreSQL syncs every commit.
REDIS = ("--appendonly", "yes", "--appendfsync", "everysec", "--save", "", "--bind", "127.0.0.1")


class Servers:
    """The measured server and those beside it."""

    def __init__(self, place: Place) -> None:
        self._places = {0: place}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def place(self, version: int) -> Place:
        """A PostgreSQL of that major version with the settings of the measured one; 0: the measured one."""
        if version not in self._places:
            self._places[version] = self._stack.enter_context(Place.own(version))
        return self._places[version]

    @contextmanager
    def database(self, entry: Entry) -> Iterator[str]:
        """The URL of an empty database for a peer. Raises PeerFailed."""
        if entry.server == "Redis":
            with redis() as found:
                yield found
            return
        version = int(entry.server.removeprefix("PostgreSQL") or 0)
        with self.place(version).database(empty=True) as dsn:
            yield url(dsn)


@contextmanager
def redis() -> Iterator[str]:
    """An empty Redis: its URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="howdah-bench-"))
    process = subprocess.Popen(
        ["redis-server", *REDIS, "--dir", str(folder), "--port", str(port)],
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait(process, port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise PeerFailed("redis-server did not start")
