"""What lies where in an embedded server's folder, and what its files say.

- data/: PostgreSQL's own; mode 0700, the server's user
- log/: a file for each day of the week, and startup.log
- run/: the UNIX socket, unless its path would be too long
- lock: held by whoever starts or stops the server (never by the server)
- password: of the superuser; mode 0600
- port: the TCP port of the last start
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import secrets
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import HowdahError

# sockaddr_un holds 108 bytes, the closing zero among them.
SOCKET_PATH_LIMIT = 107
# Below the range from which systems take ports for outgoing connections, so that
# a remembered port is seldom found taken by chance.
PORTS = range(20000, 32000)
# One above the largest pid of Linux: no process ever has it.
NO_SUCH_PID = 4194305


class EmbeddedServerError(HowdahError):
    """The embedded server cannot be started, stopped or found; the text says what to do."""


def default_folder() -> Path:
    """HOWDAH_HOME, else the user's data folder; root's is one that the server's user can enter."""
    if home := os.environ.get("HOWDAH_HOME"):
        return Path(home)
    if os.geteuid() == 0:
        return Path("/var/lib/howdah")
    if data_home := os.environ.get("XDG_DATA_HOME"):
        return Path(data_home) / "howdah"
    return Path.home() / ".local" / "share" / "howdah"


@dataclass(frozen=True)
class Postmaster:
    """What data/postmaster.pid says, of a process that lives."""

    pid: int
    port: int
    socket_dir: Path
    ready: bool


@dataclass(frozen=True)
class Layout:
    """The files of one folder."""

    folder: Path

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @contextmanager
    def locked(self, seconds: float = 360) -> Iterator[None]:
        """Keep other starts and stops of this folder waiting; the lock dies with its holder."""
        handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            deadline = time.monotonic() + seconds
            while True:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise EmbeddedServerError(
                            f"another process has been starting or stopping the server "
                            f"in {self.folder} for {seconds:.0f} seconds"
                        ) from None
                    time.sleep(0.05)
            yield
        finally:
            os.close(handle)

    def data_version(self) -> int | None:
        """The major version that made data/, or None where there is none yet."""
        try:
            return int((self.data / "PG_VERSION").read_text())
        except FileNotFoundError:
            return None

    def password(self, *, create: bool = False) -> str:
        """The superuser's password; safe in a URL as it stands."""
        path = self.folder / "password"
        if create and not path.exists():
            # It gets its name when it is whole, so a crash leaves no half password.
            draft = path.with_name(f"password.{os.getpid()}")
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as f:
                f.write(secrets.token_urlsafe(24))
            draft.rename(path)
        try:
            return path.read_text().strip()
        except FileNotFoundError:
            raise EmbeddedServerError(f"{path} is missing: the server's password was in it") from None

    def remembered_port(self) -> int | None:
        try:
            return int((self.folder / "port").read_text())
        except (FileNotFoundError, ValueError):
            return None

    def remember_port(self, port: int) -> None:
        draft = self.folder / f"port.{os.getpid()}"
        draft.write_text(f"{port}\n")
        draft.rename(self.folder / "port")

    def log_sizes(self) -> dict[Path, int]:
        return {path: path.stat().st_size for path in self.log.glob("*.log")}

    def log_since(self, sizes: dict[Path, int]) -> str:
        """What the log files have gained since `sizes` was taken."""
        gained = []
        for path, size in self.log_sizes().items():
            start = sizes.get(path, 0)
            # A day's file begins anew a week later, and is shorter then.
            gained.append(path.read_bytes()[start if start <= size else 0 :])
        return b"\n".join(gained).decode(errors="replace")

    def socket_dir(self, uid: int, gid: int) -> Path:
        """A folder for the UNIX socket, made for `uid` alone, whose path fits into a socket address.

        The server's option is a list with commas that a shell sees: other characters than
        the plainest send us to the temporary folder too.
        """
        name = f"howdah-{uid}-{hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:12]}"
        for path in (
            self.folder / "run",
            Path(tempfile.gettempdir()) / name,
            Path("/tmp") / name,
            Path("/tmp") / f"{name}-{secrets.token_hex(4)}",
        ):
            longest = f"{path}/.s.PGSQL.65535"
            if len(longest) > SOCKET_PATH_LIMIT or not re.fullmatch(r"[A-Za-z0-9_./-]+", longest):
                continue
            if own_folder(path, uid, gid):
                return path
        raise EmbeddedServerError(f"no folder with a short name for the socket of {self.folder}")

    def postmaster(self) -> Postmaster | None:
        """The server that runs on data/, or None; a stale postmaster.pid is none."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return None
        if not lines or not is_postmaster(pid := int(lines[0]), self.data):
            return None
        # Lines after the first appear one by one while the server starts.
        lines += [""] * 8
        return Postmaster(
            pid=pid,
            port=int(lines[3] or 0),
            socket_dir=Path(lines[4]),
            ready=lines[7].strip() == "ready",
        )

    def disown_stale_pid(self, socket_dir: Path) -> None:
        """Let PostgreSQL start where a dead server's pid is, or seems to be, in use.

        It would take the process that has the pid now for a server, and refuse. To it, even a dead process is alive
        until its parent has waited for it. The file postmaster.pid stays, with a pid that nobody has. It names the
        shared memory by which PostgreSQL finds surviving backends. The socket's lock protects only the socket, in a
        folder that no other server uses.
        """
        if self.postmaster() is not None:
            return
        path = self.data / "postmaster.pid"
        with suppress(FileNotFoundError):
            if lines := path.read_text().splitlines():
                path.write_text("\n".join([str(NO_SUCH_PID), *lines[1:]]) + "\n")
        for lock in socket_dir.glob(".s.PGSQL.*.lock"):
            lock.unlink()


def own_folder(path: Path, uid: int, gid: int) -> bool:
    """Make `path` a 0700 folder of `uid`; False if somebody else has put something there."""
    try:
        path.mkdir(mode=0o700)
        os.chown(path, uid, gid)
    except FileExistsError:
        pass
    except OSError:
        return False
    found = path.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == uid and not found.st_mode & 0o077


def is_postmaster(pid: int, data: Path) -> bool:
    """True if `pid` lives and, as far as the system lets us see, works in `data`."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    with suppress(OSError):
        # A dead process that nobody has waited for still has a pid (containers without an init).
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
            return False
    with suppress(OSError):
        return os.path.samefile(f"/proc/{pid}/cwd", data)
    return True


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the server does: a port that only lingers in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def free_port() -> int:
    """A TCP port that nobody listens on at this moment; another may take it in the next."""
    for _ in range(100):
        if is_free(port := secrets.choice(PORTS)):
            return port
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
