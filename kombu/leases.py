"""What a worker has in hand: renewed while it lives, acknowledged together, given back at its end."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby

from ..engine.calls import Call, scalar
from ..engine.calls.call import interval, invoke
from ..engine.errors import LeaseLost, NoSuchQueue, NotAllowed
from .server import Server

log = logging.getLogger("howdah.kombu")

FLUSH: Call[object] = Call("select pg_logical_emit_message(true, 'howdah', '')", (), lambda rows: None)
"""The commit of this statement waits until all earlier commits are on disk. No function of Howdah writes so little."""
FOR_GOOD = (LeaseLost, NoSuchQueue, NotAllowed)
"""Errors that a second try does not cure: others have the message by now, its queue is gone, or it is forbidden."""
LOOK_EVERY = 0.5
"""Seconds until an acknowledgement is made that the event loop did not come to, as while a worker stops."""


@dataclass(frozen=True, slots=True, order=True)
class Held:
    """One message under a lease."""

    queue: str
    lease: int
    message_id: int


class Leases:
    """All leases of one connection of kombu. Acknowledgements come from any thread."""

    def __init__(self, server: Server, duration: float, *, at_once: Callable[[], bool]) -> None:
        """duration: seconds of a lease. at_once: whether nobody will call ``flush`` soon."""
        self._server = server
        self._duration = duration
        self._at_once = at_once
        self._held: dict[tuple[str, int], set[int]] = {}
        self._acked: list[Held] = []
        self._rejected: list[tuple[Held, bool]] = []
        self._volatile = False
        self._since = 0.0
        self._lost: set[tuple[str, int]] = set()
        self._lock = threading.RLock()
        self._flushing = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._then: Callable[[], None] | None = None

    def add(self, queue: str, lease: int, message_ids: Iterable[int], *, volatile: bool = False) -> None:
        """Renew a lease from now on. volatile: its commit was not waited for, which the next ``flush`` makes up for."""
        with self._lock:
            self._held[queue, lease] = set(message_ids)
            if volatile and not self.pending:
                self._since = time.monotonic()
            self._volatile = self._volatile or volatile
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._keep, name="howdah-kombu-leases", daemon=True)
                self._thread.start()

    def ack(self, held: Held) -> None:
        """Acknowledge a message with the others of this moment."""
        with self._lock:
            if (held.queue, held.lease) in self._lost:
                _too_late(held, "its lease has run out")
                self._forget([held])
                return
            if not self.pending:
                self._since = time.monotonic()
            self._acked.append(held)
        if self._at_once():
            self.flush()

    @property
    def pending(self) -> bool:
        """Whether acknowledgements, rejections or leases wait for ``flush``."""
        return bool(self._acked or self._rejected) or self._volatile

    def flush(self) -> int:
        """Make the acknowledgements that have come together. Returns how many there were. Leases are on disk then, too.

        The next call repeats what the server could not be told.
        """
        with self._flushing:
            with self._lock:
                acked, self._acked = self._acked, []
                volatile, self._volatile = self._volatile, False
            count = len(acked)
            try:
                if acked:
                    try:
                        self._acknowledge(acked)
                    except FOR_GOOD:
                        self._one_by_one(acked)
                elif volatile:
                    self._server.run(FLUSH)
            except Exception:
                with self._lock:
                    self._acked[:0] = acked
                    self._volatile = self._volatile or volatile
                raise
            self._forget(acked)
            self._reject()
        return count

    def reject(self, held: Held, *, requeue: bool) -> None:
        """Give a message back as failed: the queue's policy says when it comes again. Without requeue it is dead."""
        with self._lock:
            if not self.pending:
                self._since = time.monotonic()
            self._rejected.append((held, requeue))
        # An acknowledgement of the same lease comes first: the lease may end with this call.
        self.flush()

    def _reject(self) -> None:
        while self._rejected:
            held, requeue = self._rejected[0]
            call = _of(
                held.queue, held.lease, [held.message_id], "nack",
                error_text=("text", "the worker rejected it"), error_class=("text", "Rejected"),
                reject=("boolean", not requeue),
            )  # fmt: skip
            try:
                self._server.run(call)
            except FOR_GOOD as error:
                log.warning("message %s of %s cannot be rejected: %s", held.message_id, held.queue, error)
            self._forget([held])
            with self._lock:
                del self._rejected[0]

    def release(self, held: Sequence[Held]) -> None:
        """Give messages back that nobody has handled, and blame nobody.

        If that fails, they come back when their leases end: nobody renews those any more.
        """
        try:
            self.flush()
            for (queue, lease), some in groupby(sorted(held), lambda one: (one.queue, one.lease)):
                with suppress(*FOR_GOOD):
                    self._server.run(_of(queue, lease, [one.message_id for one in some], "release"))
        finally:
            self._forget(held)

    def close(self, then: Callable[[], None]) -> None:
        """Go on only until what still runs is acknowledged, and call ``then``: the connection is closed."""
        with self._lock:
            self._at_once = lambda: True
            self._then = then
            left = not self._done and self._thread is not None and self._thread.is_alive()
        if not left:
            self._stopped.set()
            then()

    @property
    def _done(self) -> bool:
        """Whether nothing is in hand, except what others may have by now, and nothing is left to say."""
        return not (self._acked or self._rejected) and self._held.keys() <= self._lost

    def _acknowledge(self, acked: list[Held]) -> None:
        (queue, lease), rest = (acked[0].queue, acked[0].lease), acked[1:]
        if all((one.queue, one.lease) == (queue, lease) for one in rest):
            # Never the whole lease: a crash of the server may undo a volatile one and give its number to another.
            self._server.run(_of(queue, lease, sorted({one.message_id for one in acked}), "ack"))
            return
        self._server.run(
            scalar(
                "ack_many",
                queues=("text[]", [one.queue for one in acked]),
                leases=("bigint[]", [one.lease for one in acked]),
                message_ids=("bigint[]", [one.message_id for one in acked]),
            )
        )

    def _one_by_one(self, acked: list[Held]) -> None:
        """Acknowledge them, each alone, and take from the list what is dealt with: the rest is for another try."""
        while acked:
            one = acked[0]
            try:
                self._server.run(_of(one.queue, one.lease, [one.message_id], "ack"))
            except FOR_GOOD as error:
                _too_late(one, error)
            self._forget([one])
            del acked[0]

    def _forget(self, held: Iterable[Held]) -> None:
        with self._lock:
            for one in held:
                left = self._held.get((one.queue, one.lease))
                if left is not None:
                    left.discard(one.message_id)
                    if not left:
                        del self._held[one.queue, one.lease]
                        self._lost.discard((one.queue, one.lease))

    def _keep(self) -> None:
        """Renew three times as often as leases run out. A server that cannot be reached is tried again."""
        every, last = self._duration / 3, time.monotonic()
        while not self._stopped.wait(min(LOOK_EVERY, every)):
            now = time.monotonic()
            with self._lock:
                late = self.pending and now - self._since > LOOK_EVERY
            try:
                if late:
                    self.flush()
                if now - last >= every:
                    self._renew()
                    last = now  # else it is tried again at the next look
            except Exception as error:  # noqa: BLE001 - without this thread other workers get what runs here
                log.warning("leases could not be renewed: %s", error)
            with self._lock:
                ended = self._then is not None and self._done
            if ended and self._then is not None:
                self._stopped.set()
                self._then()

    def _renew(self) -> None:
        with self._lock:
            leases = [lease for lease in self._held if lease not in self._lost]
        if not leases:
            return
        there = self._server.run(self._renewal(leases))
        with self._lock:
            waiting = {(one.queue, one.lease) for one in self._acked}
            gone = [each for each in leases if each[1] not in there and each in self._held and each not in waiting]
            self._lost.update(gone)
        for queue, lease in gone:
            log.warning("lease %s of %s has run out: its messages may run a second time", lease, queue)

    def _renewal(self, leases: list[tuple[str, int]]) -> Call[set[int]]:
        invocation, arguments = invoke(
            "renew_leases",
            {
                "queues": ("text[]", [queue for queue, _ in leases]),
                "leases": ("bigint[]", [lease for _, lease in leases]),
                "duration": ("interval", interval("duration", self._duration)),
            },
            {},
        )
        return Call(f"select * from {invocation}", arguments, lambda rows: {row[0] for row in rows})


def _too_late(held: Held, why: object) -> None:
    log.warning("message %s of %s was acknowledged too late, and may run again: %s", held.message_id, held.queue, why)


def _of(queue: str, lease: int, ids: list[int] | None, function: str, **more: tuple[str, object]) -> Call[object]:
    invocation, arguments = invoke(
        function,
        {"queue": ("text", queue), "lease": ("bigint", lease)},
        {"message_ids": ("bigint[]", ids), **more},
    )
    return Call(f"select * from {invocation}", arguments, lambda rows: None)
