"""One worker process: its sessions, heartbeat, maintenance and signals. Started by the supervisor, as a module.

Exit code 0 after an orderly stop, 143 after a second SIGTERM rolled back what was in hand, 2 if it could not start.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from types import FrameType

import psycopg

from ..engine import Admin, HowdahError
from ..engine.errors import UnknownWorker
from ..engine.runner import run
from . import events
from .app import App, AppError, load
from .hands import Hands
from .loop import SessionLoop
from .maintenance import Maintenance

HEARTBEAT_SECONDS = 2.0
EXIT_ROLLED_BACK = 143


class WorkerProcess:
    """The sessions of one process, from its registration to its end."""

    def __init__(self, app: App, dsn: str, *, sessions: int, hands: Hands, maintain: bool = True) -> None:
        self.name = f"{socket.gethostname()}:{app.name}:{os.getpid()}"
        self._app = app
        self._dsn = dsn
        self._hands = hands
        self._sessions = sessions
        self._stopping = threading.Event()
        self._signals = 0
        self._loops = [
            SessionLoop(app, dsn, worker=self.name, hands=hands, slot=slot, stopping=self._stopping)
            for slot in range(sessions)
        ]
        self._maintenance = Maintenance(dsn, self.name) if maintain else None
        self._worker_id: str | None = None
        self._parent = os.getppid()

    def stop(self, reason: str) -> None:
        """Finish what is in hand, then end; a second call rolls back and ends at once."""
        self._signals += 1
        if self._signals == 1:
            events.worker_stopping(self.name, reason)
            self._stopping.set()
            return
        for slot in range(self._sessions):
            self._hands.leave(slot)
        os._exit(EXIT_ROLLED_BACK)

    def run(self) -> int:
        """Work until stopped; returns the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        for loop in self._loops:
            loop.start()
        if self._maintenance is not None:
            self._maintenance.start()
        events.worker_started(self.name, self._sessions, list(self._app.bindings))
        connection: psycopg.Connection[tuple[object, ...]] | None = None
        while not self._stopping.wait(HEARTBEAT_SECONDS if self._worker_id else 0.05):
            connection = self._beat(connection)
            if os.getppid() != self._parent:
                self.stop("supervisor gone")
        while any(loop.is_alive() for loop in self._loops):
            for loop in self._loops:
                loop.join(timeout=0.05)
        if self._maintenance is not None:
            self._maintenance.stop()
        self._unregister(connection)
        events.worker_stopped(self.name, sum(x.handled for x in self._loops), sum(x.failed for x in self._loops))
        return 0

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.stop(signal.Signals(number).name)

    def _beat(
        self, connection: psycopg.Connection[tuple[object, ...]] | None
    ) -> psycopg.Connection[tuple[object, ...]] | None:
        """Register, or say that the process lives and what it has in hand; a failure waits for the next beat."""
        try:
            if connection is None or connection.closed or connection.broken:
                connection = psycopg.connect(self._dsn, autocommit=True, application_name="howdah heartbeat")
            live = connection
            admin = Admin(lambda call: run(live, call))
            queues = list(self._app.bindings)
            if self._worker_id is None:
                self._worker_id = admin.register_worker(
                    self.name, socket.gethostname(), os.getpid(), self._sessions, queues
                )
            in_hand = sum(self._hands.count(slot) for slot in range(self._sessions))
            admin.heartbeat(self._worker_id, {queues[0]: in_hand} if len(queues) == 1 else self._by_queue(queues))
        except UnknownWorker:
            self._worker_id = None
        except (HowdahError, psycopg.Error) as error:
            events.connection_lost(self.name, error, HEARTBEAT_SECONDS)
            time.sleep(0.2)
        return connection

    def _by_queue(self, queues: list[str]) -> dict[str, int]:
        counts = dict.fromkeys(queues, 0)
        for slot in range(self._sessions):
            counts[queues[self._hands.queue_of(slot)]] += self._hands.count(slot)
        return counts

    def _unregister(self, connection: psycopg.Connection[tuple[object, ...]] | None) -> None:
        if connection is None:
            return
        with contextlib.suppress(HowdahError, psycopg.Error):
            if self._worker_id is not None:
                Admin(lambda call: run(connection, call)).unregister_worker(self._worker_id)
        connection.close()


def main() -> int:
    """Entry of ``python -m howdah.workers.process``; the DSN comes by HOWDAH_DSN, never on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("app")
    parser.add_argument("--sessions", type=int, required=True)
    parser.add_argument("--hands", type=Path, required=True)
    parser.add_argument("--log-level", default="INFO")
    parser.add_argument("--log-json", action="store_true")
    options = parser.parse_args()
    events.configure(as_json=options.log_json, level=options.log_level)
    try:
        app = load(options.app)
    except AppError as error:
        print(error, file=sys.stderr)
        return 2
    return WorkerProcess(
        app, os.environ["HOWDAH_DSN"], sessions=options.sessions, hands=Hands(options.hands, options.sessions)
    ).run()


if __name__ == "__main__":
    sys.exit(main())
