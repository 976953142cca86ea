"""An embedded server that is killed with SIGKILL, all of it at one moment, as by a power cut that keeps the disk."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from support import wait_until

from howdah.engine.embedded import EmbeddedServer


def kill(server: EmbeddedServer) -> None:
    """Kill the server's processes. The first one is halted before, so that it can tell the others nothing."""
    status = server.status()
    assert status is not None
    os.kill(status.pid, signal.SIGSTOP)
    children = Path(f"/proc/{status.pid}/task/{status.pid}/children").read_text().split()
    for pid in [int(child) for child in children] + [status.pid]:
        with suppress(ProcessLookupError):  # one that has ended since
            os.kill(pid, signal.SIGKILL)
    for pid in [status.pid, *map(int, children)]:
        wait_until(lambda pid=pid: _is_gone(pid))  # type: ignore[misc]


def _is_gone(pid: int) -> bool:
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    return True
