"""The thread that keeps a connection's sessions in possession of what they hold, and acknowledges in time."""

from __future__ import annotations

import logging
import threading
import time
from typing import Protocol

import psycopg

from ..calls import consumers
from ..database.threads import Background
from ..errors import HowdahError
from ..sessions.owner import Owner
from ..sessions.seat import Seat
from . import lease_calls

log = logging.getLogger("howdah.keeper")

BEATS = 3
"""How many times a lease is renewed before it would run out."""
RETRY = 1.0
PAUSE_MIN = 0.01


class Kept(Protocol):
    """A session, as the keeper knows it. The keeper waits for none of its locks."""

    @property
    def leases(self) -> list[tuple[str, int]]:
        """What it holds: (queue, lease)."""

    @property
    def seats(self) -> list[Seat]:
        """The open consumers that it has of queues that tell them apart."""

    def renewed(self, lost: set[int], until: float) -> None:
        """Note until when its leases last, by the monotonic clock, except the lost ones."""

    def flush_due(self) -> float:
        """Acknowledge what has waited long enough. Returns when to look again, by the monotonic clock."""


class Keeper:
    """Renews the leases of all sessions of a connection in one statement, three times as often as they run out."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._sessions: set[Kept] = set()
        self._background = Background("howdah-keeper", self._run)
        self._stopped = False
        self._nudged = threading.Event()
        self._lock = threading.Lock()

    def add(self, session: Kept) -> None:
        """Look after a session, from its first message on."""
        with self._lock:
            self._sessions.add(session)
            if not self._stopped:
                self._background.start()

    def discard(self, session: Kept) -> None:
        """Stop looking after a session."""
        with self._lock:
            self._sessions.discard(session)

    def nudge(self) -> None:
        """Note that a session has something to acknowledge in time."""
        self._nudged.set()

    def stop(self) -> None:
        """End the thread."""
        with self._lock:
            self._stopped = True
        self._nudged.set()
        self._background.join()

    def beat(self) -> None:
        """Renew all leases once, and let sessions drop what they have lost."""
        with self._lock:
            sessions = list(self._sessions)
        self._keep_seats([seat for session in sessions for seat in session.seats])
        held = sorted({pair for session in sessions for pair in session.leases})
        if not held:
            return
        until = time.monotonic() + self._owner.lease_duration
        kept = self._owner.run(lease_calls.renew(held, self._owner.lease_duration))
        lost = {number for _, number in held} - kept
        for session in sessions:
            session.renewed(lost, until)

    def _keep_seats(self, seats: list[Seat]) -> None:
        """Keep open consumers alive: they may ask for nothing for long while they work off what they hold."""
        numbers = {seat.number: seat for seat in seats if seat.number is not None}
        if numbers:
            kept = self._owner.run(consumers.renew_consumers(sorted(numbers)))
            for number in numbers.keys() - kept:
                numbers[number].lost()

    def _run(self) -> None:
        every = self._owner.lease_duration / BEATS
        next_beat = time.monotonic() + every
        while not self._stopped:
            with self._lock:
                sessions = list(self._sessions)
            due = min([next_beat, *(session.flush_due() for session in sessions)])
            self._nudged.wait(max(PAUSE_MIN, due - time.monotonic()))
            self._nudged.clear()
            if self._stopped or time.monotonic() < next_beat:
                continue
            try:
                self.beat()
                next_beat = time.monotonic() + every
            except (HowdahError, psycopg.Error) as error:
                # The leases last for two beats more; until then the server may be back.
                log.warning("leases were not renewed: %s", error)
                next_beat = time.monotonic() + min(RETRY, every)
