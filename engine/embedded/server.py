"""The embedded PostgreSQL: a real server, without an administrator, in a folder of one's choice.

It outlives whoever started it and is shared by all who name the same folder. It is as durable and as closed as any
other server. fsync is on, and it listens on 127.0.0.1 alone. Every connection needs the password kept in the folder.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from ..errors import CannotConnect
from .data import DATABASE, EMBEDDED, SUPERUSER, give_space_back, make_data
from .layout import EmbeddedServerError, Layout, Postmaster, default_folder, free_port, is_free, is_postmaster
from .programs import Account, packaged_bin, server_bin

__all__ = [
    "EmbeddedServer",
    "EmbeddedServerError",
    "ServerInfo",
    "StopMode",
    "default_dsn",
    "default_folder",
    "running",
]

DEFAULT_VERSION = 18
HOST = "127.0.0.1"
# Seconds. Recovery after a crash may take minutes, and so may a stop's last checkpoint.
START_LIMIT = 300
STOP_LIMIT = 120
# How long the backends of a killed server may take to notice that it is dead.
ORPHANS_LIMIT = 30

StopMode = Literal["smart", "fast", "immediate"]
STOP_SIGNALS = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}


@dataclass(frozen=True)
class ServerInfo:
    """A running server. Both DSNs hold the superuser's password: treat them as secrets."""

    dsn: str = field(repr=False)
    socket_dsn: str = field(repr=False)
    host: str
    port: int
    socket_dir: Path
    pid: int
    version: int
    data: Path


class EmbeddedServer:
    """The server of one folder, default_folder() if none is given.

    `version` is the major version: 16, 18, or one that Debian has installed; None is the one the
    folder was made with, or 18.
    Making this object touches nothing. Every method raises EmbeddedServerError.
    """

    def __init__(self, folder: Path | str | None = None, version: int | None = None) -> None:
        chosen = Path(folder) if folder is not None else default_folder()
        self.folder = chosen.expanduser().resolve()
        self._layout = Layout(self.folder)
        self._version = version

    @property
    def version(self) -> int:
        """The major version; an error if the folder holds another than the one asked for."""
        with self._explained():
            held = self._layout.data_version()
        if held and self._version and held != self._version:
            raise EmbeddedServerError(
                f"{self.folder} holds the data of PostgreSQL {held}, not {self._version}: "
                f"ask for version {held}, or choose another folder"
            )
        return held or self._version or DEFAULT_VERSION

    def bin(self, name: str) -> Path:
        """The program `name` (psql, pg_dump…) of the server's version."""
        program = packaged_bin(self.version) / name
        if not program.is_file():
            raise EmbeddedServerError(f"PostgreSQL {self.version} brings no program {name!r}")
        return program

    def status(self) -> ServerInfo | None:
        """The server if it takes connections now, else None."""
        with self._explained():
            found = self._layout.postmaster()
            return self._info(found) if found and found.ready else None

    def start(self) -> ServerInfo:
        """Start the server, making its folder the first time; a running one is simply returned.

        Waits for another process that is starting or stopping it, and for recovery after a crash.
        """
        version = self.version
        if running := self.status():
            return running
        packaged_bin(version)  # where it is missing, no folder is made
        with self._explained():
            account = Account.choose(self._layout.data)
            self._open_folder(account)
            with self._layout.locked():
                if found := self._settled():
                    return self._info(found)
                programs = server_bin(version, account)
                if not self._layout.data.exists():
                    make_data(self._layout, programs, version, account)
                return self._info(self._launch(programs, account))

    def stop(self, mode: StopMode = "fast", *, vacuum: bool = False) -> bool:
        """Stop the server and wait for its end; False if it did not run.

        mode: "smart" waits for clients to leave, and "fast" sends them away. "immediate" is a crash, from which the
        next start recovers.
        vacuum: give the space of consumed messages back first, for a smaller disk and a slower stop. Tables that
        somebody uses are left as they are.
        """
        if not self._layout.data.exists():
            return False
        if vacuum and (info := self.status()):
            give_space_back(info.dsn)
        with self._explained(), self._layout.locked():
            found = self._layout.postmaster()
            if found is None:
                return False
            os.kill(found.pid, STOP_SIGNALS[mode])
            deadline = time.monotonic() + STOP_LIMIT
            while is_postmaster(found.pid, self._layout.data):
                if time.monotonic() > deadline:
                    raise EmbeddedServerError(
                        f"the server in {self.folder} (pid {found.pid}) has been stopping for "
                        f"{STOP_LIMIT} seconds; mode 'immediate' does not wait for clients"
                    )
                time.sleep(0.02)
            return True

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn the system's refusals (another user's folder, a full disk) into our error."""
        try:
            yield
        except OSError as error:
            raise EmbeddedServerError(f"the server in {self.folder}: {error}") from error

    def _info(self, found: Postmaster) -> ServerInfo:
        access = f"postgresql://{SUPERUSER}:{self._layout.password()}@"
        socket = f"host={quote(str(found.socket_dir), safe='')}&port={found.port}"
        return ServerInfo(
            dsn=f"{access}{HOST}:{found.port}/{DATABASE}",
            socket_dsn=f"{access}/{DATABASE}?{socket}",
            host=HOST,
            port=found.port,
            socket_dir=found.socket_dir,
            pid=found.pid,
            version=self.version,
            data=self._layout.data,
        )

    def _open_folder(self, account: Account) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if account.uid != os.geteuid():
            # The server's user must pass through to data/. What lies here is closed in itself.
            self.folder.chmod(self.folder.stat().st_mode | 0o111)
        if not account.can_enter(self.folder):
            raise EmbeddedServerError(
                f"PostgreSQL does not run as root, and the user it runs as (uid {account.uid}) "
                f"cannot enter {self.folder}: choose a folder that is not below a closed one"
            )
        self._layout.log.mkdir(mode=0o700, exist_ok=True)
        os.chown(self._layout.log, account.uid, account.gid)

    def _settled(self) -> Postmaster | None:
        """A server that runs already, once it is ready; None if there is none, or it ends."""
        deadline = time.monotonic() + START_LIMIT
        while (found := self._layout.postmaster()) and not found.ready:
            if time.monotonic() > deadline:
                raise EmbeddedServerError(f"the server in {self.folder} does not become ready")
            time.sleep(0.05)
        return found

    def _launch(self, programs: Path, account: Account) -> Postmaster:
        port = self._layout.remembered_port()
        socket_dir = self._layout.socket_dir(account.uid, account.gid)
        deadline = time.monotonic() + ORPHANS_LIMIT
        while True:
            if port is None or not is_free(port):
                port = free_port()
            self._layout.disown_stale_pid(socket_dir)
            read_from = self._layout.log_sizes()
            # Names are relative to the folder: pg_ctl hands them to a shell, quoted badly.
            # It also detaches the server from our terminal and from our death.
            start = account.run(
                *(programs / "pg_ctl", "start", "--wait", f"--timeout={START_LIMIT}"),
                *("--pgdata=data", "--log=log/startup.log"),
                f"--options=-p {port} -k {socket_dir} -c {EMBEDDED}=on",
                cwd=self.folder,
            )
            found = self._layout.postmaster()
            if start.returncode == 0 and found and found.ready:
                self._layout.remember_port(found.port)
                return found
            said = self._layout.log_since(read_from)
            in_time = time.monotonic() < deadline
            if in_time and "Address already in use" in said:
                port = None  # somebody took it between our look and the server's
            elif in_time and "pre-existing shared memory block" in said:
                time.sleep(0.2)  # backends of a killed server are still on their way out
            elif in_time and "could not create file" in said and "File exists" in said:
                # An UNLOGGED relation made or truncated by a transaction that was rolled back just
                # before a crash: the recovery that fails writes what the next one needs.
                continue
            else:
                raise EmbeddedServerError(
                    f"PostgreSQL did not start in {self.folder}; the end of its log:\n"
                    + "\n".join((start.stdout + said).strip().splitlines()[-20:])
                )


def running(server: EmbeddedServer) -> ServerInfo:
    """The server, if somebody started it on purpose. Raises CannotConnect if it does not run."""
    info = server.status()
    if info is None:
        raise CannotConnect(
            f"no server runs in {server.folder}",
            "howdah server start starts it. A server in another folder is named with HOWDAH_HOME,"
            " any other database with --dsn or HOWDAH_DSN.",
        )
    return info


def default_dsn() -> str:
    """Return HOWDAH_DSN, or the DSN of the default embedded server. Raises CannotConnect if that does not run."""
    return os.environ.get("HOWDAH_DSN") or running(EmbeddedServer()).dsn
