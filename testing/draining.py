"""Handle all of an app's queues in this thread until they are empty: one message a transaction, in a fixed order."""

from __future__ import annotations

import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Literal, Self

import psycopg

from ..engine import Admin, HowdahError, Incident
from ..engine.admin.schedules import Schedules
from ..engine.database.runner import run
from ..engine.errors import NoSuchMessage
from ..workers import App
from ..workers.asynchronous import close_loop
from ..workers.deliveries import deliveries_of, is_empty
from ..workers.delivery import Delivery
from ..workers.endpoint import endpoints_of
from ..workers.guard import HandlerConnection
from ..workers.in_hand import Hands
from ..workers.recorder import Failures, Recorder
from ..workers.subscriptions import subscribers_of
from .handling import NAME, testing_limits

LOOK_SECONDS = 0.005
DELAYED_MAX = 10_000

Delays = Literal["skip", "wait", "leave"]


@dataclass(frozen=True)
class Failure:
    """A recorded failed delivery."""

    queue: str
    message_id: int
    error_class: str
    error_text: str
    traceback: str
    #: Which failed delivery of the message it was, from 1.
    attempt: int
    #: What became of the message: returned, delayed, moved, blocked, …
    outcome: str


@dataclass
class Drained:
    """The result of draining."""

    handled: int = 0
    failures: list[Failure] = field(default_factory=list)
    #: Messages that are left, by queue: they wait for a time, are blocked, or their listener is stopped.
    left: dict[str, int] = field(default_factory=dict)


class DrainError(HowdahError):
    """Deliveries failed, or the queues do not become empty. ``drained``: the result so far."""

    def __init__(self, message: str, hint: str | None, drained: Drained) -> None:
        super().__init__(message, hint)
        self.drained = drained


def drain(
    app: App, dsn: str, *, delays: Delays = "skip", check: bool = True, limit: int = 10_000, timeout: float = 60
) -> Drained:
    """Handle the app's queues, and what their handlers send to them, until nothing is left to receive.

    Each queue in turn, in the order of registration, one message a transaction. Failures are recorded and the queues'
    policies applied as by a worker. Schedules do not fire.

    ``delays`` says when to receive messages that wait for a redelivery or were sent with a delay:

    - skip: at once, the first due first. This needs an administrator's rights.
    - wait: when they are due.
    - leave: not at all.

    Raises DrainError if a delivery failed, unless ``check`` is False; after ``limit`` deliveries; or after ``timeout``
    seconds. Also raises errors that a worker would retry.
    """
    one_by_one = App(app.name)
    one_by_one.bindings = {queue: replace(binding, batch=1) for queue, binding in app.bindings.items()}
    with _Drain(one_by_one, dsn, limit, timeout) as draining:
        draining.run(delays)
    drained = draining.drained
    if check and drained.failures:
        told = "\n".join(f"queue {one.queue}, message {one.message_id}:\n{one.traceback}" for one in drained.failures)
        raise DrainError(
            f"{len(drained.failures)} failed deliveries\n{told}", "If they are meant: check=False.", drained
        )
    return drained


class _Drain:
    """The session that drains, with one connection to receive and one to record failures."""

    def __init__(self, app: App, dsn: str, limit: int, timeout: float) -> None:
        self.drained = Drained()
        self._app = app
        self._limit = limit
        self._ends = time.monotonic() + timeout
        self._timeout = timeout
        self._recorder = Recorder(dsn, NAME, threading.Event(), app.listeners)
        self._dsn = dsn
        self._connection = HandlerConnection.open(dsn, NAME)
        self._folder = tempfile.TemporaryDirectory(prefix="howdah-testing-")
        self._hands = Hands.create(Path(self._folder.name) / "hands", 1)
        self._limits = testing_limits()
        self._deliveries = deliveries_of(
            app,
            endpoints_of(app, NAME),
            subscribers_of(app),
            worker=NAME,
            hands=self._hands,
            slot=0,
            record=self._record,
            limits=self._limits,
        )
        #: Failed deliveries whose messages wait: they are not listed as delayed.
        self._redelivered: dict[int, str] = {}
        self._admin = Admin(lambda call: run(self._connection, call))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(HowdahError, psycopg.Error):
            for delivery in self._deliveries:
                delivery.leave(self._connection)
        self._connection.close()
        self._recorder.close()
        self._limits.close()
        close_loop()
        self._hands.close()
        self._folder.cleanup()

    def run(self, delays: Delays) -> None:
        """Drain until nothing is left."""
        self._all()
        while delays != "leave" and (waiting := self._waiting()):
            _, queue, message_id = waiting[0]
            if delays == "skip":
                with suppress(NoSuchMessage), self._connection.transaction():  # it has become due by itself
                    self._admin.retry(queue, [message_id], "drained")
            else:
                self._sleep(queue)
            self._all()
        with self._connection.transaction():
            for delivery in self._deliveries:
                (stats,) = self._admin.queue_stats(delivery.queue)
                if left := stats["live"] + stats["parked"]:
                    self.drained.left[delivery.queue] = left

    def _all(self) -> None:
        """Make rounds over the queues until one finds nothing."""
        while sum(self._empty(delivery) for delivery in self._deliveries):  # all of them, each time
            self._look_at_the_clock("")

    def _empty(self, delivery: Delivery) -> bool:
        """Handle a queue's messages until it is empty. Returns whether there were any."""
        busy = False
        while True:
            done = delivery.run_once(self._connection)
            if self._connection.closed:  # because of what a handler did, and a worker's session goes on
                self._connection = HandlerConnection.open(self._dsn, NAME)
            self.drained.handled += done.handled
            if done.again is not None:
                raise done.again
            if done.handled or done.failed:
                busy = True
                if self.drained.handled + len(self.drained.failures) >= self._limit:
                    raise DrainError(
                        f"queue {delivery.queue}: not empty after {self._limit} deliveries",
                        "Do handlers send to their own queues, or has the queue no limit of failed deliveries?",
                        self.drained,
                    )
            elif self._is_stopped(delivery.queue) or is_empty(self._connection, delivery.queue):
                return busy
            else:  # it lies behind the position of the look, or is in other hands
                self._sleep(delivery.queue)

    def _is_stopped(self, queue: str) -> bool:
        listener = self._app.listeners.get(queue)
        if listener is None:
            return False
        with self._connection.transaction():
            return [row["status"] for row in self._admin.list_listeners(listener)] == ["stopped"]

    def _waiting(self) -> list[tuple[datetime, str, int]]:
        """Return what waits for a time, the first due first."""
        found = []
        with self._connection.transaction():
            for queue in (delivery.queue for delivery in self._deliveries):
                delayed = Schedules(lambda call: run(self._connection, call)).delayed(queue, DELAYED_MAX)
                found += [
                    (row["due_at"], queue, row["message_id"])
                    for row in delayed
                    if row["reason"] in ("delay", "redelivery")  # a blocked message, say, fails again each time
                ]
            for message_id, queue in self._redelivered.items():
                parked = self._admin.poison_message(message_id, queue)
                if parked is not None and parked.due_at is not None and parked.parked_reason == "redelivery":
                    found.append((parked.due_at, queue, message_id))
        return sorted(set(found))

    def _sleep(self, queue: str) -> None:
        self._look_at_the_clock(f"; queue {queue} has messages that cannot be received now")
        time.sleep(LOOK_SECONDS)

    def _look_at_the_clock(self, why: str) -> None:
        if time.monotonic() > self._ends:
            raise DrainError(f"not empty after {self._timeout} seconds{why}", None, self.drained)

    def _record(self, queue: str, failures: Failures, in_hand: bool) -> list[Incident]:
        incidents = self._recorder.record(queue, failures, in_hand)
        recorded = {failure["message_id"]: failure for failure in failures}
        for incident in incidents:
            failure = recorded[incident.message_id]
            if incident.outcome in ("delayed", "held"):
                self._redelivered[incident.message_id] = queue
            self.drained.failures.append(
                Failure(
                    queue,
                    incident.message_id,
                    failure["error_class"],
                    failure["error_text"],
                    failure["traceback"],
                    incident.attempt,
                    incident.outcome,
                )
            )
        return incidents
