"""Record the messages that a worker process had in its handlers when it died."""

from __future__ import annotations

import contextlib
import signal
import threading

import psycopg

from ..engine import HowdahError
from .app import App
from .in_hand import Hand, ms_since
from .recorder import Recorder

EXIT_NOT_STARTED = 2
EXIT_ROLLED_BACK = 143
"""Exit code of a process that rolled back after a second SIGTERM. Its messages are not to blame."""
EXIT_TIME_LIMIT = 124
"""Exit code of a process whose handler went on after its time limit. Its message counts as HandlerTimeout."""


def record_death(app: App, dsn: str, stopping: threading.Event, hands: list[Hand], pid: int, code: int) -> None:
    """Record a failure of each message in ``hands``. ``code``: the exit code, negative for a signal."""
    error_class, error_text = _cause(code)
    worker = f"{app.name}:{pid}"
    recorder = Recorder(dsn, worker, stopping, app.listeners)
    for hand in hands:
        failure = {
            "message_id": hand.message_id,
            "priority": hand.priority,
            "position": hand.position,
            "stage": hand.stage,
            "failure_key": str(hand.failure_key),
            "error_class": error_class,
            "error_text": error_text,
            "worker": worker,
            "duration_ms": ms_since(hand.started),
        }
        with contextlib.suppress(HowdahError, psycopg.Error):  # said by the recorder
            recorder.record(hand.queue, [failure])
    recorder.close()


def _cause(code: int) -> tuple[str, str]:
    """Error class and text."""
    if code == EXIT_TIME_LIMIT:
        return (
            "HandlerTimeout",
            "the handler went on after its time limit and could not be interrupted; its process was ended",
        )
    if code >= 0:
        return "WorkerDied", f"the worker process ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return "WorkerDied", f"the worker process was killed by {name}"
