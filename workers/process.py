"""One worker process: its sessions, heartbeat, maintenance and signals. The supervisor starts it, as a module.

The exit code says how it ended:

- 0: an orderly stop.
- 143: a second SIGTERM rolled back what was in hand.
- 2: it could not start.
- 124: a handler went on after its time limit.
- 1: a session ended by itself.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from uuid import UUID

from ..engine.database.waking import Waking
from ..text.dsn import shown
from . import events
from .app import App, AppError, load
from .deaths import EXIT_NOT_STARTED, EXIT_ROLLED_BACK, EXIT_TIME_LIMIT
from .endpoint import endpoints_of
from .figures import Figures
from .home import Home
from .in_hand import Hands
from .links import Links
from .log import writer
from .loop import SessionLoop
from .maintenance import Maintenance
from .registration import Registration
from .scheduler import Scheduler
from .selection import select
from .subscriptions import subscribers_of
from .time_limits import GRACE_SECONDS, Limits

TICK_SECONDS = 0.5
TICK_SECONDS_STOPPING = 0.02


class WorkerProcess:
    """The sessions of one process, from its registration to its end."""

    def __init__(
        self,
        app: App,
        dsn: str,
        *,
        sessions: int,
        hands: Hands,
        parent: int,
        maintain: bool = True,
        time_limit: float | None = None,
        grace: float = GRACE_SECONDS,
        commit_by_reliability: bool = False,
        home: Home | None = None,
    ) -> None:
        self.name = f"{socket.gethostname()}:{app.name}:{os.getpid()}"
        self._queues = list(app.bindings)
        self._hands = hands
        self._parent = parent
        self._stopping = threading.Event()
        self._signals = 0
        self._database = shown(dsn)
        self._grace = grace
        self._ends_at: float | None = None
        self._waking = Waking.of(dsn)
        self._limits = Limits(self.name, self._stuck, default=time_limit, grace=grace)
        endpoints = endpoints_of(app, self.name)
        subscribers = subscribers_of(app)
        self._loops = [
            SessionLoop(
                app,
                dsn,
                worker=self.name,
                hands=hands,
                slot=slot,
                stopping=self._stopping,
                waking=self._waking,
                endpoints=endpoints,
                subscribers=subscribers,
                limits=self._limits,
                commit_by_reliability=commit_by_reliability,
                home=home,
            )
            for slot in range(sessions)
        ]
        self._maintenance = Maintenance(dsn, self.name) if maintain else None
        self._scheduler = Scheduler(dsn, self.name, app.schedules)
        self._links = Links(dsn, self.name) if maintain else None
        figures = Figures([tally for loop in self._loops for tally in loop.tallies])
        self._pid = os.getpid()
        self._registration = Registration(dsn, self.name, sessions, self._queues, hands, app.fleeting, figures, home)

    def run(self) -> int:
        """Work until stopped. Returns the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        self._hands.start(self._queues)
        for loop in self._loops:
            loop.start()
        if self._maintenance is not None:
            self._maintenance.start()
        self._scheduler.start()
        if self._links is not None:
            self._links.start()
        events.worker_started(self.name, len(self._loops), self._queues, self._database)
        code = self._watch()
        if self._links is not None:
            self._links.stop()
        self._scheduler.stop()
        if self._maintenance is not None:
            self._maintenance.stop()
        self._waking.release()
        self._registration.end()
        events.worker_stopped(self.name, sum(x.handled for x in self._loops), sum(x.failed for x in self._loops))
        return code

    def _watch(self) -> int:
        """Wait until all sessions have ended. Heartbeats go on while they finish what is in hand."""
        code = 0
        while any(loop.is_alive() for loop in self._loops):
            if not self._stopping.is_set():
                if not all(loop.is_alive() for loop in self._loops):
                    code = 1
                    self._stop("a session ended by itself")
                elif os.getppid() != self._parent:
                    self._stop("supervisor gone")
            self._end_if_stuck()
            self._registration.beat()
            if self._maintenance is not None:
                self._maintenance.heed_clock()
            if self._stopping.is_set():
                for loop in self._loops:
                    loop.wake()
                    loop.join(TICK_SECONDS_STOPPING)
            else:
                self._stopping.wait(TICK_SECONDS)
        return code

    def _stuck(self, slot: int) -> None:
        """Let the others finish what they have in hand, if a handler never ends. Runs in the time limits' thread."""
        if self._ends_at is None:
            self._ends_at = time.monotonic() + self._grace
            self._stop("a handler goes on after its time limit")

    def _end_if_stuck(self) -> None:
        """End the process once only endless handlers are left, or after the grace. The supervisor records those."""
        if self._ends_at is None:
            return
        stuck = self._limits.stuck()
        alive = [slot for slot, loop in enumerate(self._loops) if loop.is_alive()]
        if stuck and (set(alive) <= set(stuck) or time.monotonic() > self._ends_at):
            self._hands.accuse(stuck)
            os._exit(EXIT_TIME_LIMIT)

    def _stop(self, reason: str) -> None:
        events.worker_stopping(self.name, reason)
        self._stopping.set()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        """Finish what is in hand, then end. At the second signal, roll back and end at once."""
        if os.getpid() != self._pid:  # in a process that a handler has forked
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        self._signals += 1
        if self._signals > 1:
            self._hands.abandon()
            os._exit(EXIT_ROLLED_BACK)
        self._stop(signal.Signals(number).name)


def main() -> int:
    """Entry of ``python -m howdah.workers.process``; the DSN comes by HOWDAH_DSN, never on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("app")
    parser.add_argument("--sessions", type=int, required=True)
    parser.add_argument("--hands", type=Path, required=True)
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--log-level")
    parser.add_argument("--log-json", action="store_true")
    parser.add_argument("--log-config", type=Path)
    parser.add_argument("--log-set", action="append", default=[])
    parser.add_argument("--time-limit", type=float)
    parser.add_argument("--time-limit-grace", type=float, default=GRACE_SECONDS)
    parser.add_argument("--commit-by-reliability", action="store_true")
    parser.add_argument("--queue", action="append", default=[])
    parser.add_argument("--instance", nargs=2, metavar=("NAME", "ID"))
    parser.add_argument("--epoch", type=int)
    options = parser.parse_args()
    settings = dict(setting.split("=", 1) for setting in options.log_set)
    writer.configure(as_json=options.log_json, level=options.log_level, config=options.log_config, settings=settings)
    try:
        app = select(load(options.app), options.queue)
    except AppError as error:
        events.not_started(options.app, error)
        return EXIT_NOT_STARTED
    writer.enable()
    hands = Hands(options.hands, options.sessions)
    return WorkerProcess(
        app,
        os.environ["HOWDAH_DSN"],
        sessions=options.sessions,
        hands=hands,
        parent=options.parent,
        time_limit=options.time_limit,
        grace=options.time_limit_grace,
        commit_by_reliability=options.commit_by_reliability,
        home=Home(options.instance[0], UUID(options.instance[1]), options.epoch) if options.instance else None,
    ).run()


if __name__ == "__main__":
    sys.exit(main())
