"""The supervisor: starts worker processes, replaces those that die, and records what a killed one had in its handler."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import psycopg

from ..engine import HowdahError, calls
from ..engine.runner import run
from . import events
from .app import App, load
from .hands import Hand, Hands
from .loop import Backoff
from .process import EXIT_ROLLED_BACK

CHECK_SECONDS = 0.05
RECORD_ATTEMPTS = 60


@dataclass
class _Child:
    process: subprocess.Popen[bytes]
    hands: Hands
    path: Path
    started: float


class Supervisor:
    """M processes of N sessions each, kept alive until told to stop."""

    def __init__(
        self,
        target: str,
        dsn: str,
        *,
        processes: int = 1,
        sessions: int = 4,
        log_json: bool = False,
        log_level: str = "INFO",
        log_file: Path | None = None,
    ) -> None:
        """target: MODULE:APP; log_file: where the processes' log goes (None: standard error).

        Raises AppError at once if the target does not load.
        """
        self._app: App = load(target)
        self._target = target
        self._dsn = dsn
        self._processes = processes
        self._sessions = sessions
        self._options = ["--log-level", log_level, *(["--log-json"] if log_json else [])]
        self._log_file = log_file
        self._children: list[_Child] = []
        self._signals = 0
        self._folder = tempfile.TemporaryDirectory(prefix="howdah-worker-")
        self._made = 0
        self._restart = Backoff(0.05, 5.0)

    @property
    def pids(self) -> list[int]:
        """Process ids of the living worker processes."""
        return [child.process.pid for child in self._children if child.process.poll() is None]

    def start(self) -> None:
        """Start the processes."""
        self._children = [self._spawn() for _ in range(self._processes)]

    def check_once(self) -> bool:
        """Replace processes that have died and settle what they held; whether any process is left."""
        for child in list(self._children):
            code = child.process.poll()
            if code is None:
                if time.monotonic() - child.started > 10:
                    self._restart.reset()
                continue
            self._children.remove(child)
            if code not in (0, EXIT_ROLLED_BACK):
                events.worker_died(f"{self._app.name}:{child.process.pid}", child.process.pid, code)
                self._record(child, code)
            self._forget(child)
            if not self._signals and code != 2:
                if code != 0:
                    time.sleep(self._restart.pause())
                self._children.append(self._spawn())
        return bool(self._children)

    def stop(self) -> None:
        """Let every process finish what it has in hand; a second call makes them roll back at once."""
        self._signals += 1
        for child in self._children:
            if child.process.poll() is None:
                child.process.send_signal(signal.SIGTERM)

    def run(self) -> int:
        """Work until SIGTERM or SIGINT; returns the exit code: 0, or 1 if the processes could not run."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        self.start()
        while self.check_once():
            time.sleep(CHECK_SECONDS)
        self.close()
        return 0 if self._signals else 1

    def close(self) -> None:
        """Kill what is left and remove the shared memory."""
        for child in self._children:
            child.process.kill()
            child.process.wait()
            self._forget(child)
        self._children = []
        self._folder.cleanup()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.stop()

    def _spawn(self) -> _Child:
        self._made += 1
        path = Path(self._folder.name) / f"hands-{self._made}"
        hands = Hands.create(path, self._sessions)
        command = [sys.executable, "-m", "howdah.workers.process", self._target, "--sessions", str(self._sessions)]
        with contextlib.ExitStack() as opened:
            log = opened.enter_context(self._log_file.open("ab")) if self._log_file else None
            process = subprocess.Popen(
                [*command, "--hands", str(path), *self._options],
                env=os.environ | {"HOWDAH_DSN": self._dsn},
                start_new_session=True,
                stderr=log,
            )
        return _Child(process, hands, path, time.monotonic())

    def _forget(self, child: _Child) -> None:
        child.hands.close()
        child.path.unlink(missing_ok=True)

    def _record(self, child: _Child, code: int) -> None:
        """Record the messages that were inside handlers when the process died."""
        cause = f"killed by signal {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        queues = list(self._app.bindings)
        for hand in child.hands.read():
            self._record_one(queues[hand.queue_index], hand, child.process.pid, cause)

    def _record_one(self, queue: str, hand: Hand, pid: int, cause: str) -> None:
        worker = f"{self._app.name}:{pid}"
        failure = {
            "message_id": hand.message_id,
            "priority": hand.priority,
            "position": hand.position,
            "stage": hand.stage,
            "failure_key": str(hand.failure_key),
            "error_class": "WorkerDied",
            "error_text": f"the worker process was {cause}",
            "worker": worker,
            "duration_ms": max(0, round((time.time() - hand.started) * 1000)),
        }
        pauses = Backoff(0.05, 5.0)
        for _ in range(RECORD_ATTEMPTS):
            try:
                with psycopg.connect(self._dsn, autocommit=True) as connection:
                    (incident,) = run(connection, calls.record_failures(queue, [failure]))
            except (HowdahError, psycopg.Error) as error:
                pause = pauses.pause()
                events.connection_lost(worker, error, pause)
                time.sleep(pause)
                continue
            events.failure_recorded(worker, queue, hand.message_id, incident.attempt, incident.outcome, cause)
            return
