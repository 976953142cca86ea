"""The instance that a supervisor's processes are: its heartbeat, its state, and what it reads of the record of changes.

Messages need no instance: plain SQL receives in any case. An instance says who serves the database, and can be
quiesced. It waits for the master of changes. Where the engine is exclusive, it takes turns with others.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import psycopg

from ..engine import HowdahError
from ..engine.admin.instances import Instances
from ..engine.database.waking import NETWORK
from ..engine.errors import InstanceRefused, UnknownWorker
from ..text.passfile import accessible
from . import events
from .backoff import Backoff
from .home import Home
from .own_connection import OwnConnection

POLL_SECONDS = 0.25
"""Seconds between looks at the record of changes, and between heartbeats of an instance that is not running yet."""
HEARTBEAT_SECONDS = 1.0
PATIENCE_SECONDS = 12.0
"""Seconds to wait at the start for a name that a killed instance had."""


class Instance:
    """Registers one instance, and keeps it alive in a thread of its own."""

    def __init__(
        self,
        dsn: str,
        name: str | None = None,
        settings: Mapping[str, Any] | None = None,
        on_change: Callable[[dict[str, Any]], object] | None = None,
    ) -> None:
        """name: None is one for this life alone. settings: what it was told of the cluster; another is refused."""
        host = re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname())
        self.name = name or f"{host}:{os.getpid()}"
        #: Whether an administrator or its settings want it to end.
        self.ended = False
        self._settings = dict(settings or {})
        self._on_change = on_change
        self._own = OwnConnection(accessible(dsn, NETWORK, connect_timeout=5), "howdah instance")
        self._instances = Instances(self._own.run)
        self._id: UUID | None = None
        self._home: Home | None = None
        self._state = ""
        self._timeout = 10.0
        self._heard = 0.0
        self._next_beat = 0.0
        self._retry = Backoff(0.1, 2.0)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="instance", daemon=True)

    @property
    def home(self) -> Home | None:
        """What the processes belong to while the instance runs. None: they must receive nothing."""
        home = self._home
        if home is not None and home.epoch is not None and time.monotonic() - self._heard > self._timeout:
            return None  # its lease is over, and nobody told it
        return home

    @property
    def state(self) -> str:
        """The last state that it was told."""
        return self._state

    def start(self) -> None:
        """Register and begin to live. Waits for the name if an instance that had it was killed just now.

        Raises InstanceRefused if another one has the name, or if the settings contradict those of the cluster.
        """
        try:
            self._register_in_time()
        except BaseException:
            self.stop()
            raise
        for _ in range(2):  # through RECOVERING to RUNNING, if it need not wait
            self._next_beat = 0.0
            self.step()
        self._thread.start()

    def stop(self) -> None:
        """End it, with all that it registered."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(10)
        self._home = None
        if self._id is not None:
            with contextlib.suppress(HowdahError, psycopg.Error):
                self._instances.unregister(self._id)
            self._id = None
        self._own.close()

    def step(self) -> None:
        """One pass: report that it lives if that is due, and read what was changed."""
        if self._id is None:
            self._id = self._register()
        now = time.monotonic()
        if now >= self._next_beat:
            self._heed(self._instances.heartbeat(self._id))
            self._heard = now
            waiting = self._state not in ("RUNNING", "QUIESCED")
            self._next_beat = now + (POLL_SECONDS if waiting else min(HEARTBEAT_SECONDS, self._timeout / 4))
        if self._state in ("RUNNING", "QUIESCED"):
            for change in self._instances.read_changes(self._id):
                events.configuration_changed(self.name, change)
                if self._on_change is not None:
                    self._on_change(change)

    def _run(self) -> None:
        while not self._stopping.is_set():
            pause = POLL_SECONDS
            try:
                self.step()
                self._retry.reset()
            except UnknownWorker:  # silent for so long that it was taken for dead
                self._id, self._home, self._next_beat = None, None, 0.0
            except InstanceRefused as error:
                events.instance_refused(self.name, error)
                self.ended, self._home = True, None
            except (HowdahError, psycopg.Error) as error:
                pause = self._retry.pause()
                events.connection_lost(self.name, error, pause)
            self._stopping.wait(pause)

    def _heed(self, told: dict[str, Any]) -> None:
        """Take the state that the heartbeat says."""
        assert self._id is not None
        self._timeout = float(told["timeout"])
        state = told["state"]
        if told["reset"] or (told["missed"] and not self._state):
            events.changes_missed(self.name, told["missed"], reset=told["reset"])
        if told["ending"]:
            self.ended = True
        if state != self._state:
            events.instance_state(self.name, state, told["waits_for"])
            self._state = state
        home = Home(self.name, self._id, told["epoch"]) if state == "RUNNING" else None
        if home != self._home:
            self._home = home

    def _register_in_time(self) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                self._id = self._register()
                return
            except InstanceRefused:
                if not self._is_taken() or time.monotonic() > until:
                    raise
            time.sleep(POLL_SECONDS)

    def _is_taken(self) -> bool:
        """Whether another instance has the name. A process of this host that is gone loses it at once."""
        for row in self._instances.list():
            if row["name"] == self.name:
                if row["host"] == socket.gethostname() and not _lives(row["pid"]):
                    with contextlib.suppress(HowdahError):
                        self._instances.unregister(row["instance_id"])
                return True
        return False

    def _register(self) -> UUID:
        from importlib.metadata import version

        return self._instances.register(
            self.name, socket.gethostname(), os.getpid(), version=version("howdah"), settings=self._settings
        )


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
