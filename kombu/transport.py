"""The transport: when a connection looks for messages, in an event loop or without one."""

from __future__ import annotations

import logging
import socket
import sys
import time
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from kombu.transport import virtual

from ..engine.database.waiting import Asks, Idle
from ..engine.database.waking import Waking
from ..engine.errors import CannotConnect, ConnectionLost, HowdahError, NoSuchQueue
from ..text.dsn import shown
from .catalogue import Catalogue
from .channel import Channel
from .exchanges import Replies
from .leases import Leases
from .receiving import MOST
from .server import Server

log = logging.getLogger("howdah.kombu")

LEASE_SECONDS = 60.0
"""How long after a worker's death its messages come back."""
SOON = 0.001
CALM = 0.005
"""Seconds until the next look after one that found all there was: the pool gets its tasks first."""
LATER = 1.0
"""Seconds until the next look after one that failed."""
TOGETHER = 0.004
"""Seconds for which acknowledgements in an event loop wait for others: each call costs a commit."""
PASSING_EVERY = 0.1

_replies: dict[str, Replies] = {}
"""The replies by database. The connections of a process share them: commands and answers go over different ones."""


class Transport(virtual.Transport):  # type: ignore[misc]
    """kombu's connection to a database with Howdah."""

    Channel = Channel
    can_parse_url = True
    default_port = 5432
    driver_type = "howdah"
    driver_name = "psycopg"
    connection_errors = (*virtual.Transport.connection_errors, ConnectionLost, CannotConnect)
    channel_errors = (*virtual.Transport.channel_errors, HowdahError)
    recoverable_connection_errors = connection_errors
    recoverable_channel_errors = ()
    implements = virtual.Transport.implements.extend(
        asynchronous=True, exchange_type=frozenset(["direct", "topic", "fanout"])
    )

    def __init__(self, client: Any, **options: Any) -> None:
        """client: kombu's Connection, with the URL and the options."""
        super().__init__(client, **options)
        given = client.transport_options
        self.lease_seconds = float(given.get("lease_seconds", LEASE_SECONDS))
        #: Whether a task may begin before its lease is on disk.
        self.early_start = bool(given.get("early_start", False))
        self.server = Server(_url(client), client.connect_timeout)
        self.replies = _replies.setdefault(self.server.dsn, Replies())
        self.places = Catalogue(self.server, self.replies, dict(given.get("queue_options") or {}))
        self.leases = Leases(self.server, self.lease_seconds, at_once=lambda: self._loop is None)
        self._loop: Any = None
        self._timer: Any = None
        self._flush_timer: Any = None
        self._bell: tuple[socket.socket, socket.socket] | None = None
        self._waking: Waking | None = None
        self._asks = Asks()
        self._full = False
        self._passing_at = 0.0
        self._passing_later = False
        self._idle: Idle | None = None

    # connections

    def establish_connection(self) -> Transport:
        """Connect. Raises CannotConnect."""
        self.server.connect()
        connection: Transport = super().establish_connection()
        return connection

    def close_connection(self, connection: Any) -> None:
        """Give back what is in hand, and end the session."""
        self.unregister_from_event_loop(connection, self._loop)
        super().close_connection(connection)
        self.places.close()
        if self._idle is not None:
            self._idle.reset()
            self._idle = None
        if self._waking is not None:
            self._waking.release()
            self._waking = None
        if self._bell is not None:
            for end in self._bell:
                end.close()
            self._bell = None
        self.leases.close(self.server.close)

    def as_uri(self, uri: str, include_password: bool = False, mask: str = "**") -> str:
        """Where it connects to, for logs."""
        return uri if include_password else f"howdah: {shown(self.server.dsn)}"

    # waiting without an event loop

    def drain_events(self, connection: Any, timeout: float | None = None, **options: Any) -> None:
        """Deliver one message. Raises TimeoutError, as sockets do."""
        self.leases.flush()
        late = False
        with self._idling(timeout) as idle:
            while not any(channel.deliver() for channel in list(self.channels)):
                if late:
                    raise TimeoutError("no message came")
                self._ask(idle)
                if self._fetch(1):
                    late = idle.is_over  # what was found may be dropped, again and again
                    idle.found()
                    continue
                pause = idle.pause()
                if pause is None:
                    raise TimeoutError("no message came")
                self._sleep(pause)

    def _sleep(self, seconds: float) -> None:
        bell, _ = self._ringing()
        bell.settimeout(max(seconds, SOON))
        with suppress(TimeoutError, BlockingIOError):
            bell.recv(4096)

    # waiting in the event loop of a worker

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        """Look for messages whenever there may be some, from now on."""
        self._loop = loop
        bell, _ = self._ringing()
        bell.setblocking(False)
        loop.add_reader(bell, self._rung)
        loop.on_tick.add(self._tick)
        self._idle = self._idling(None)
        self._look()

    def unregister_from_event_loop(self, connection: Any, loop: Any) -> None:
        """Stop looking for messages."""
        if self._loop is None:
            return
        self._loop.on_tick.discard(self._tick)
        if self._bell is not None:
            with suppress(Exception):  # a loop that was reset knows it no more
                self._loop.remove_reader(self._bell[0])
        for timer in (self._timer, self._flush_timer):
            if timer is not None:
                timer.cancel()
        self._loop = self._timer = self._flush_timer = None

    @property
    def flushes(self) -> bool:
        """Whether an event loop flushes leases soon after they were taken. A solo worker's runs the task first."""
        return self.early_start and self._loop is not None and "celery.concurrency.solo" not in sys.modules

    def hurry(self) -> None:
        """Look at once: there is a new consumer, or room for more."""
        if self._loop is not None:
            self._ring()

    def _tick(self) -> None:
        if self._loop is not None and self._flush_timer is None and self.leases.pending:
            self._flush_timer = self._loop.call_later(TOGETHER, self._flush)

    def _flush(self) -> None:
        self._flush_timer = None
        if self.leases.flush() and self._full and not any(channel.full for channel in self.channels):
            self._ring()

    def _rung(self) -> None:
        self._passing_at = 0.0
        if self._bell is not None:
            with suppress(BlockingIOError):
                self._bell[0].recv(4096)
        if self._timer is not None:
            self._timer.cancel()
        self._look_again(rung=True)

    def _look_again(self, *, rung: bool = False) -> None:
        """Look, and after an error that is none of the connection look again a little later."""
        try:
            self._look(rung=rung)
        except self.connection_errors:
            raise
        except Exception:
            log.exception("messages could not be looked for: trying again in %s seconds", LATER)
            if self._loop is not None:
                self._timer = self._loop.call_later(LATER, self._look_again)

    def _look(self, *, rung: bool = False) -> None:
        """rung: there is a message, and nobody needs to be asked for another wake-up first."""
        self._timer = None
        if self._loop is None or self._idle is None:
            return
        if not rung:
            self._ask(self._idle)
        found = self._receive()
        if found or self._passing_later:
            self._idle.found()
            pause: float | None = SOON if found >= MOST else CALM
        else:
            pause = self._idle.pause()
        if self._loop is not None:  # a message may have been the command to stop
            self._timer = self._loop.call_later(pause, self._look_again)

    def _receive(self) -> int:
        """Fetch and deliver. Commands and events are looked for less often than tasks, unless somebody rang.

        Where there are tasks, commands wait for the next look, so that the pool gets its tasks first.
        """
        count = self._fetch_and_deliver(passing=False)
        if time.monotonic() - self._passing_at >= PASSING_EVERY:
            self._passing_later = bool(count) and not self._passing_later
            if not self._passing_later:
                self._passing_at = time.monotonic()
                count += self._fetch_and_deliver(passing=True)
        self._full = any(channel.full for channel in self.channels)
        return count

    def _fetch_and_deliver(self, *, passing: bool) -> int:
        count = 0
        for channel in list(self.channels):
            count += channel.fetch(MOST, passing=passing)
            while channel.deliver_to_worker():
                pass
        return count

    # both

    def _fetch(self, most: int) -> int:
        count = 0
        for channel in list(self.channels):
            count += channel.fetch(most)
            if count and most == 1:
                break
        return count

    def _ask(self, idle: Idle) -> None:
        for channel in list(self.channels):
            for queue in channel.wanted:
                for source in self.places.sources(self.places.target(queue)):
                    call = idle.ask(source)
                    if call is not None:
                        with suppress(NoSuchQueue):
                            idle.asked(source, self.server.run(call))

    def _idling(self, timeout: float | None) -> Idle:
        if self._waking is None:
            self._waking = Waking.of(self.server.dsn)
        return Idle(self._waking, self._ring, timeout, self._asks)

    def _ringing(self) -> tuple[socket.socket, socket.socket]:
        if self._bell is None:
            self._bell = socket.socketpair()
            self._bell[1].setblocking(False)
        return self._bell

    def _ring(self) -> None:
        """End the sleep, from any thread."""
        bell = self._bell
        if bell is not None:
            with suppress(OSError):  # full: it rings already; or closed
                bell[1].send(b"!")


def _url(client: Any) -> str:
    """The URL of a connection. kombu has taken it apart where it switched between several."""
    given = client.hostname or ""
    if "://" in given:
        return str(given)
    user = quote(client.userid or "", safe="")
    secret = f":{quote(client.password, safe='')}" if client.password else ""
    port = f":{client.port}" if client.port else ""
    who = f"{user}{secret}@" if user else ""
    database = quote(client.virtual_host if client.virtual_host not in (None, "/") else "", safe="")
    return f"howdah://{who}{given}{port}/{database}"
