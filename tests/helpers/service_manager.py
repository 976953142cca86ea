"""A systemd of its own, in namespaces of its own: it sees the units that it is given, and none of the machine's."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support import wait_until

SYSTEMD = Path("/lib/systemd/systemd")
HIERARCHY = Path("/sys/fs/cgroup/systemd")
TARGETS = ("sysinit", "basic", "shutdown", "network-online", "multi-user", "boot")
"""Empty ones, in place of the machine's, which would start its services once more."""

# What is mounted here is mounted nowhere else. What is written to /etc and /opt is gone with it. In a container,
# systemd leaves the machine's settings alone.
START = """
set -e
mount --make-rprivate /
for hidden in /lib/systemd/system /lib/systemd/system-generators /opt /run /sys/fs/cgroup; do
    mount -t tmpfs tmpfs "$hidden"
done
mkdir /run/etc /run/work
mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/etc,workdir=/run/work /etc
rm -rf /etc/systemd
mkdir -p /etc/systemd/system /sys/fs/cgroup/systemd
mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd
cp "$UNITS"/* /etc/systemd/system/
exec env container=tests "$SYSTEMD" --system --unit=boot.target --log-target=console --show-status=no
"""


def lacking() -> str | None:
    """Why none can be started here; None if one can."""
    if os.geteuid() != 0 or not SYSTEMD.exists():
        return "needs root, and systemd"
    if not HIERARCHY.is_dir():
        return "needs the control groups of systemd in version 1"
    tried = subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], check=False, capture_output=True)
    return "needs the right to make namespaces" if tried.returncode else None


class ServiceManager:
    """Runs commands beside it, as root on its machine."""

    def __init__(self, process: int) -> None:
        self._process = process

    def run(self, command: str) -> str:
        """What the command prints. Raises AssertionError if it fails."""
        done = subprocess.run(
            ["nsenter", "--target", str(self._process), "--all", "bash", "-ec", command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=180,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout.strip()


@contextmanager
def service_manager(folder: Path) -> Iterator[ServiceManager]:
    """One that has booted. The folder is for its files."""
    units, log = folder / "units", folder / "systemd.log"
    units.mkdir()
    for target in TARGETS:
        (units / f"{target}.target").write_text(f"[Unit]\nDescription={target}\nDefaultDependencies=no\n")
    group = HIERARCHY / f"howdah-test-{os.getpid()}"
    group.mkdir()
    with log.open("w") as said:
        # In a control group of its own before the namespace, whose root that group then is.
        enter = f'echo $$ >{group}/cgroup.procs; exec "$@"'
        namespaces = ["unshare", "--fork", "--kill-child", "--pid", "--mount", "--mount-proc", "--ipc", "--uts"]
        outer = subprocess.Popen(
            ["bash", "-c", enter, "bash", *namespaces, "--cgroup", "bash", "-c", START],
            env=os.environ | {"UNITS": str(units), "SYSTEMD": str(SYSTEMD)},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
    children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
    try:
        wait_until(lambda: outer.poll() is not None or _booted(children), 60)
        assert outer.poll() is None, log.read_text()
        yield ServiceManager(int(children.read_text()))
    finally:
        outer.kill()
        outer.wait()
        wait_until(lambda: not _processes(group), 30)
        for path in sorted((path for path in group.rglob("*") if path.is_dir()), reverse=True):
            path.rmdir()
        group.rmdir()


def _booted(children: Path) -> bool:
    """Whether systemd, the child of unshare, answers."""
    if not (process := children.read_text().strip()):
        return False
    said = subprocess.run(
        ["nsenter", "--target", process, "--all", "systemctl", "is-system-running"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return said.stdout.strip() in ("running", "degraded")


def _processes(group: Path) -> list[str]:
    return [line for file in group.rglob("cgroup.procs") for line in file.read_text().split()]
