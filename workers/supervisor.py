"""The supervisor starts worker processes and replaces dead ones, and has their messages recorded."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from ..engine.database.waking import NETWORK
from ..text.passfile import accessible
from . import events
from .app import App, load
from .backoff import Backoff
from .deaths import EXIT_NOT_STARTED, EXIT_ROLLED_BACK, record_death
from .emptiness import Emptiness
from .home import Home
from .in_hand import Hands
from .instance import Instance
from .log.reader import LogReader
from .overdue import poll
from .selection import select
from .time_limits import GRACE_SECONDS

CHECK_SECONDS = 0.05
LOOK_SECONDS = 0.25
"""Seconds between looks whether the queues are empty, with --until-empty."""
STEADY_SECONDS = 10.0
"""A process that lived for so many seconds is replaced without delay when it dies."""
KILL_SECONDS = 2.0
"""Seconds after a second signal until a process is killed: its handler holds the interpreter."""
RECORD_SECONDS = 5.0
"""Seconds to wait for the record of a death when the supervisor itself ends."""


@dataclass
class _Child:
    process: subprocess.Popen[bytes]
    hands: Hands
    path: Path
    started: float
    signalled: int = 0
    home: Home | None = None


@dataclass
class _Place:
    """A place for a process: which one fills it, or when it will be filled (never: it could not start)."""

    child: _Child | None = None
    fill_at: float | None = 0.0
    restart: Backoff = field(default_factory=lambda: Backoff(0.05, 5.0))


class Supervisor:
    """M processes of N sessions each, kept alive until told to stop."""

    def __init__(
        self,
        target: str,
        dsn: str,
        *,
        processes: int = 1,
        sessions: int = 4,
        isolate: bool = False,
        log_json: bool = False,
        log_level: str | None = None,
        log_file: Path | None = None,
        log_config: Path | None = None,
        log_settings: Sequence[str] = (),
        metrics_seconds: float | None = None,
        queues: Sequence[str] = (),
        until_empty: bool = False,
        time_limit: float | None = None,
        time_limit_grace: float = GRACE_SECONDS,
        commit_by_reliability: bool = False,
        instance: Instance | None = None,
    ) -> None:
        """Load the application that ``target``, MODULE:APP, names.

        - log_file: where the processes' standard error goes. None: where this process's goes.
        - log_config: for logging.config.
        - log_settings: settings of the log in the processes, each as NAME=VALUE.
        - metrics_seconds: how often the figures of the queues are logged. None: never.
        - queues: serve only these queues.
        - until_empty: end once nothing is ready or in hand in any of them.
        - time_limit: seconds, for handlers without their own.
        - time_limit_grace: seconds that they may go on after it.
        - commit_by_reliability: handlers write only what may be lost with the messages that they receive and send.
        - isolate: one process for each session, so that a killed process blames only the message in its own hand.
        - instance: what the processes are; they receive while it runs. None: they belong to none.

        Raises AppError at once if the target does not load.
        """
        self._app: App = select(load(target), queues)
        self._target = target
        self._dsn = accessible(dsn, NETWORK)
        if isolate:
            processes, sessions = processes * sessions, 1
        self._places = [_Place() for _ in range(processes)]
        self._sessions = sessions
        self._grace = time_limit_grace
        self._options = ["--log-json"] if log_json else []
        if log_level is not None:
            self._options += ["--log-level", log_level]
        if log_config is not None:
            self._options += ["--log-config", str(log_config)]
        for setting in log_settings:
            self._options += ["--log-set", setting]
        self._reader = LogReader(self._dsn, self._app.name, metrics_seconds=metrics_seconds)
        for queue in queues:
            self._options += ["--queue", queue]
        self._options += ["--time-limit-grace", str(time_limit_grace)]
        if time_limit is not None:
            self._options += ["--time-limit", str(time_limit)]
        if commit_by_reliability:
            self._options += ["--commit-by-reliability"]
        self._instance = instance
        self._emptiness = Emptiness(self._app, self._dsn) if until_empty else None
        self._look_at = 0.0
        self._log_file = log_file
        self._folder = tempfile.TemporaryDirectory(prefix="howdah-worker-", ignore_cleanup_errors=True)
        self._made = 0
        self._recording: list[threading.Thread] = []
        self._signals = 0
        self._stopping = threading.Event()
        self._kill_at = 0.0

    @property
    def pids(self) -> list[int]:
        """Process ids of the living worker processes."""
        return [child.process.pid for child in self._children() if child.process.poll() is None]

    def start(self) -> None:
        """Start the processes; those of an instance as soon as it runs. Raises InstanceRefused.

        What happens in the engine is written to the log from now on.
        """
        if self._instance is not None:
            self._instance.start()
        self._reader.start()
        if self._may_work():
            for place in self._places:
                place.child = self._spawn()

    def check_once(self) -> bool:
        """Replace dead processes and settle what they held. Returns whether anything is left to wait for."""
        now = time.monotonic()
        self._heed_instance()
        for place in self._places:
            if (child := place.child) is not None:
                code = poll(child.process, child.hands, self._grace)
                if code is not None:
                    place.child, place.fill_at = None, self._ended(place, child, code)
                elif now - child.started > STEADY_SECONDS:
                    place.restart.reset()
            if place.child is None and place.fill_at is not None and now >= place.fill_at and self._may_work():
                try:
                    place.child = self._spawn()
                except OSError as error:  # no memory, no space: the other processes go on
                    place.fill_at = now + place.restart.pause()
                    events.worker_not_replaced(error, place.fill_at - now)
        if not self._signals:
            self._look_whether_empty(now)
        self._signal()
        self._recording = [thread for thread in self._recording if thread.is_alive()]
        if self._signals:
            return bool(self._children() or (self._recording and self._signals < 2))
        return any(place.child or place.fill_at is not None for place in self._places)

    def stop(self) -> None:
        """Let every process finish what it has in hand. A second call makes them roll back at once."""
        self._signals += 1
        self._stopping.set()
        self._kill_at = time.monotonic() + KILL_SECONDS
        self._signal()

    def run(self) -> int:
        """Work until SIGTERM or SIGINT. Returns the exit code: 0, or 1 if the processes could not run."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        try:
            self.start()
            while self.check_once():
                time.sleep(CHECK_SECONDS)
        finally:
            self.close()
        return 0 if self._signals else 1

    def close(self) -> None:
        """Kill what is left and remove the shared memory."""
        for place in self._places:
            if place.child is not None:
                place.child.process.kill()
                place.child.process.wait()
                self._forget(place.child)
            place.child = None
        for thread in self._recording if self._signals < 2 else ():
            thread.join(RECORD_SECONDS)
        if self._instance is not None:
            self._instance.stop()
        if self._emptiness is not None:
            self._emptiness.close()
        self._reader.stop()
        self._folder.cleanup()

    def _may_work(self) -> bool:
        """Whether processes may be started now."""
        return not self._signals and (self._instance is None or self._instance.home is not None)

    def _heed_instance(self) -> None:
        """Let processes of an earlier life of the instance finish. End if the instance must end."""
        if self._instance is None:
            return
        home = self._instance.home
        for child in self._children():
            if child.home != home and not child.signalled:
                child.signalled = 1
                child.process.send_signal(signal.SIGTERM)
        if self._instance.ended and not self._signals:
            self.stop()

    def _look_whether_empty(self, now: float) -> None:
        """Stop once all queues are empty, if asked to and if every process has begun."""
        ready = self._children() and all(child.hands.started for child in self._children()) and not self._recording
        if self._emptiness is None or not ready or now < self._look_at:
            return
        if self._emptiness.look():
            events.queues_empty(list(self._app.bindings))
            self.stop()
        self._look_at = time.monotonic() + LOOK_SECONDS

    def _children(self) -> list[_Child]:
        return [place.child for place in self._places if place.child is not None]

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.stop()

    def _signal(self) -> None:
        """Pass on the supervisor's signals, one a call: two at once would arrive as one."""
        for child in self._children():
            if child.signalled < min(self._signals, 2):
                child.signalled += 1
                child.process.send_signal(signal.SIGTERM)
            elif self._signals > 1 and time.monotonic() > self._kill_at:
                child.process.kill()

    def _spawn(self) -> _Child:
        self._made += 1
        if not os.path.isdir(self._folder.name):  # what tidies /tmp up may have removed it
            self._folder.cleanup()
            self._folder = tempfile.TemporaryDirectory(prefix="howdah-worker-", ignore_cleanup_errors=True)
        path = Path(self._folder.name) / f"hands-{self._made}"
        hands = Hands.create(path, self._sessions)
        command = [sys.executable, "-m", "howdah.workers.process", self._target, "--sessions", str(self._sessions)]
        home = None if self._instance is None else self._instance.home
        if home is not None:
            command += ["--instance", home.name, str(home.instance_id)]
            command += ["--epoch", str(home.epoch)] if home.epoch is not None else []
        with contextlib.ExitStack() as opened:
            log = opened.enter_context(self._log_file.open("ab")) if self._log_file else None
            process = subprocess.Popen(
                [*command, "--hands", str(path), "--parent", str(os.getpid()), *self._options],
                env=os.environ | {"HOWDAH_DSN": self._dsn},
                start_new_session=True,
                stderr=log,
            )
        return _Child(process, hands, path, time.monotonic(), home=home)

    def _ended(self, place: _Place, child: _Child, code: int) -> float | None:
        """Settle what a process left. Returns when to replace it."""
        started = child.hands.started
        # A second signal rolls back. A process killed for ignoring it leaves messages that are not to blame.
        hands = child.hands.read() if self._signals < 2 else []
        if hands or (code not in (0, EXIT_ROLLED_BACK) and not (self._signals and not started)):
            events.worker_died(f"{self._app.name}:{child.process.pid}", child.process.pid, code)
        if hands:
            thread = threading.Thread(
                target=record_death,
                args=(self._app, self._dsn, self._stopping, hands, child.process.pid, code),
                daemon=True,
            )
            thread.start()
            self._recording.append(thread)
        self._forget(child)
        never = code == EXIT_NOT_STARTED and not started
        return None if never else time.monotonic() + (place.restart.pause() if code else 0)

    def _forget(self, child: _Child) -> None:
        child.hands.close()
        child.path.unlink(missing_ok=True)
