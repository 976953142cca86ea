"""Runs all links of an engine, or those named: a forwarder for each."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Sequence

import psycopg

from ...engine import HowdahError
from ...engine.calls import scalar
from ...engine.database.runner import run
from ...engine.database.waking import Waking
from .. import events
from ..backoff import Backoff
from .forwarder import Forwarder

LOOK_SECONDS = 5.0
"""How often it looks for links that are new."""
STOP_SECONDS = 5.0


class Links:
    """A thread that looks for links from time to time and starts a forwarder for each. It holds no connection."""

    def __init__(self, dsn: str, worker: str, only: Sequence[str] = ()) -> None:
        """only: names of links. Empty: all links that the log-in may run."""
        self._dsn = dsn
        self._worker = worker
        self._holder = f"{worker}:{uuid.uuid4().hex[:8]}"
        self._only = list(only)
        self._stopping = threading.Event()
        self._forwarders: dict[str, Forwarder] = {}
        self._waking: Waking | None = None
        self._thread = threading.Thread(target=self._run, name="howdah-links", daemon=True)

    @property
    def forwarded(self) -> int:
        """How many messages this process has forwarded."""
        return sum(forwarder.forwarded for forwarder in self._forwarders.values())

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the batches under way, and end."""
        self._stopping.set()
        for forwarder in list(self._forwarders.values()):
            forwarder.wake()
        self._thread.join(STOP_SECONDS)
        for forwarder in list(self._forwarders.values()):
            forwarder.join(STOP_SECONDS)
        if self._waking is not None:
            self._waking.release()

    def _run(self) -> None:
        retry = Backoff(0.1, 30.0)
        while not self._stopping.is_set():
            try:
                self._look()
                retry.reset()
                pause = LOOK_SECONDS
            except (HowdahError, psycopg.Error) as error:
                pause = retry.pause()
                events.links_unknown(self._worker, error, pause)
            self._stopping.wait(pause)

    def _look(self) -> None:
        """Start a forwarder for each link that has none."""
        names = self._only
        if not names:
            with psycopg.connect(self._dsn, autocommit=True, application_name="howdah links") as connection:
                names = run(connection, scalar("link_names"))
        for name in names:
            running = self._forwarders.get(name)
            if running is None or not running.is_alive():
                self._forwarders[name] = self._started(name)

    def _started(self, name: str) -> Forwarder:
        if self._waking is None:
            self._waking = Waking.of(self._dsn)
        forwarder = Forwarder(self._dsn, name, self._holder, self._stopping, self._waking)
        forwarder.start()
        return forwarder
