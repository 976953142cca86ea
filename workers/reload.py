"""Workers for development, restarted whenever a file of the application changes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from ..engine import HowdahError
from ..text.extras import how_to_install
from . import events

PATIENCE_SECONDS = 5.0
"""Seconds that a worker has to finish what it has in hand before it rolls back."""


def run(words: Sequence[str], dsn: str, folder: Path) -> int:
    """Run ``howdah worker`` with these arguments until SIGTERM or SIGINT, and again after Python files have changed.

    A worker that ends by itself, because the application does not load, starts again after the next change. Returns the
    exit code.
    """
    try:
        from watchfiles import PythonFilter, watch
    except ModuleNotFoundError as error:
        raise HowdahError("--reload needs watchfiles, which is not installed", how_to_install("reload")) from error
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    command = [sys.executable, "-m", "howdah.cli.main", "worker", *words]

    def start() -> subprocess.Popen[bytes]:
        # A session of its own: Ctrl-C at the terminal is ours to pass on.
        return subprocess.Popen(command, env=os.environ | {"HOWDAH_DSN": dsn}, start_new_session=True)

    worker = start()
    try:
        for changes in watch(folder, watch_filter=PythonFilter(), stop_event=stopping, debounce=200, step=50):
            events.reloading(sorted({os.path.relpath(path, folder) for _, path in changes}))
            _end(worker)
            worker = start()
    finally:
        _end(worker)
    return 0


def _end(worker: subprocess.Popen[bytes]) -> None:
    for end in (worker.terminate, worker.terminate, worker.kill):
        if worker.poll() is None:
            end()
        try:
            worker.wait(PATIENCE_SECONDS)
            return
        except subprocess.TimeoutExpired:
            continue
    worker.wait()
