"""The loop of one session: deliver, pause when idle, reconnect when the database is lost, stop when asked."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

import psycopg
from psycopg.pq import TransactionStatus

from ..engine import HowdahError, is_innocent
from ..engine.database.waiting import Idle
from ..engine.database.waking import Waking
from ..engine.errors import ConnectionLost, EngineHalted
from ..engine.handling.failure import text_of
from . import events
from .app import App
from .asynchronous import close_loop
from .backoff import Backoff
from .deliveries import deliveries_of
from .delivery import Delivery
from .endpoint import Endpoint, endpoints_of
from .figures import Tally
from .guard import HandlerConnection
from .home import Home
from .in_hand import Hands
from .recorder import RETRY_SECONDS_MAX, RETRY_SECONDS_MIN, Recorder
from .subscriptions import Subscriber, subscribers_of
from .time_limits import Limits

REFUSED_SECONDS = 0.5
"""Seconds that a paused, missing or forbidden queue is left alone, and every queue of a paused engine."""


def _backoff() -> Backoff:
    return Backoff(RETRY_SECONDS_MIN, RETRY_SECONDS_MAX)


@dataclass
class _Turn:
    """One queue of the session, which waits only after its own errors."""

    queue: str
    delivery: Delivery
    retry: Backoff = field(default_factory=_backoff)
    not_before: float = 0.0
    refused: str = ""


class SessionLoop(threading.Thread):
    """One session of a worker process: a thread with a connection to receive on and another to record failures on."""

    def __init__(
        self,
        app: App,
        dsn: str,
        *,
        worker: str,
        hands: Hands,
        slot: int,
        stopping: threading.Event,
        waking: Waking | None = None,
        endpoints: dict[str, Endpoint] | None = None,
        subscribers: dict[str, Subscriber] | None = None,
        limits: Limits | None = None,
        commit_by_reliability: bool = False,
        home: Home | None = None,
    ) -> None:
        """endpoints, subscribers: by queue. The sessions of a process share them, and the watch over time limits."""
        super().__init__(name=f"session-{slot}", daemon=True)
        self.handled = 0
        self.failed = 0
        self._dsn = dsn
        self._worker = f"{worker}/{slot}"
        self._stopping = stopping
        self._connection: HandlerConnection | None = None
        self._commit_by_reliability = commit_by_reliability
        self._home = home
        self._recorder = Recorder(dsn, self._worker, stopping, app.listeners, home)
        self._woken = threading.Event()
        self._idle = Idle(waking, self.wake)
        endpoints = endpoints_of(app, worker) if endpoints is None else endpoints
        subscribers = subscribers_of(app) if subscribers is None else subscribers
        deliveries = deliveries_of(
            app,
            endpoints,
            subscribers,
            worker=self._worker,
            hands=hands,
            slot=slot,
            record=self._recorder.record,
            stopping=stopping.is_set,
            idle=self._idle,
            limits=limits,
            home=home,
        )
        self._turns = [_Turn(delivery.queue, delivery) for delivery in deliveries]

    @property
    def tallies(self) -> list[Tally]:
        """The session's counts, one for each queue."""
        return [turn.delivery.tally for turn in self._turns]

    def wake(self) -> None:
        """End the pause of an idle session."""
        self._woken.set()

    def run(self) -> None:
        """Until ``stopping`` is set, pass over the queues, and pause if they had nothing."""
        retry = _backoff()
        while not self._stopping.is_set():
            try:
                busy = self._pass(self._connect())
            except (HowdahError, psycopg.Error) as error:
                pause = retry.pause()
                events.connection_lost(self._worker, error, pause)
                self._stopping.wait(pause)
                continue
            retry.reset()
            if not busy and self._woken.wait(self._idle.pause()):
                self._woken.clear()
        self._idle.reset()
        if self._connection is not None:
            with suppress(HowdahError, psycopg.Error):
                for turn in self._turns:
                    turn.delivery.leave(self._connection)
            self._connection.close()
        self._recorder.close()
        close_loop()

    def _connect(self) -> HandlerConnection:
        connection = self._connection
        if connection is not None and connection.info.transaction_status is TransactionStatus.IDLE:
            return connection
        if connection is not None:
            connection.close()
        self._connection = None  # so that a failed attempt leaves none
        self._connection = HandlerConnection.open(
            self._dsn, self._worker, commit_by_reliability=self._commit_by_reliability, home=self._home
        )
        return self._connection

    def _pass(self, connection: HandlerConnection) -> bool:
        """Deliver a burst of batches of each queue. Returns whether there was any. Raises only on a lost connection."""
        busy = False
        for turn in self._turns:
            if self._stopping.is_set() or connection.closed:
                break
            if time.monotonic() < turn.not_before:
                continue
            try:
                done = turn.delivery.run_once(connection)
            except Exception as error:
                if connection.closed and is_innocent(error):
                    # A framework may wrap the error in a class that would end this thread.
                    raise ConnectionLost(text_of(error)) from error
                self._put_off(turn, error)
                continue
            finally:
                if connection.info.transaction_status is not TransactionStatus.IDLE:
                    connection.close()  # what is left open must not become part of the next queue's transaction
            self.handled += done.handled
            self.failed += done.failed
            turn.delivery.tally.handled += done.handled
            turn.delivery.tally.failed += done.failed
            turn.refused = ""
            busy = busy or done.handled + done.failed > 0
            if done.again is not None and not done.handled:
                self._put_off(turn, done.again)
            elif done.handled:
                turn.retry.reset()
        return busy

    def _put_off(self, turn: _Turn, error: BaseException) -> None:
        """Leave a queue alone for a while after an error that blames none of its messages."""
        refused = isinstance(error, HowdahError) and (isinstance(error, EngineHalted) or not is_innocent(error))
        if not refused:
            events.retried(self._worker, turn.queue, error)
            turn.not_before = time.monotonic() + turn.retry.pause()
            return
        if turn.refused != str(error):
            turn.refused = str(error)
            events.receive_refused(self._worker, turn.queue, error)
        turn.not_before = time.monotonic() + REFUSED_SECONDS
