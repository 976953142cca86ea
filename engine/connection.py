"""Connections to Howdah: a pool of database connections that sessions are made from."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, ClassVar, Protocol, Self, TypeVar, Unpack
from weakref import WeakSet

from psycopg_pool import ConnectionPool

from . import calls
from .admin import Admin
from .admin.access import Access
from .admin.archives import Archives
from .admin.audits import Audits
from .admin.changes import Changes
from .admin.imports import Imports
from .admin.instances import Instances
from .admin.links import Links
from .admin.logs import Logs
from .admin.objects import Objects
from .admin.schedules import Schedules
from .admin.services import Services
from .admin.transactions import Transactions
from .admin.users import Users
from .calls import Call, Incident
from .calls.bodies import Body
from .calls.levels import BY_SERVER, LevelMapping
from .calls.message import Message
from .calls.objects import FoundObject, overriding
from .calls.objects import lookup as look_up
from .calls.options import SendOptions
from .calls.results import Result
from .calls.services import Service
from .database.client_id import ClaimedClientId
from .database.loans import Loans, PgConnection
from .database.reconnection import Reconnection
from .database.runner import run
from .database.waking import Waking
from .errors import IllegalState
from .handling.failure import recording
from .handling.outcomes import Rule
from .jms.keeper import Keeper
from .jms.modes import AckMode, mode_of
from .jms.prefetch import Prefetch
from .jms.session import AckSession
from .sending.sender import Sender
from .sending.windowed import WINDOW_DEFAULT, OnComplete, WindowedProducer
from .sessions.leases import Leases
from .sessions.pairs import Pairs
from .sessions.session import Session
from .tracing.points import carrying, sending

T = TypeVar("T")
S = TypeVar("S", Session, AckSession)


class Naming(Protocol):
    """What makes a factory or a destination of an object that was found."""

    @staticmethod
    def administered(base: str, found: FoundObject) -> Any:
        """Make it. base: the DSN by which it was found."""


class Connection:
    """A connection that is started or stopped. Sessions receive only while it is started; closing it closes them."""

    #: Makes what ``lookup`` returns: ``engine.objects`` puts it here, which stands above.
    naming: ClassVar[Naming]

    def __init__(
        self,
        pool: ConnectionPool[PgConnection],
        *,
        owns_pool: bool,
        started: bool,
        max_redeliveries: int | None = None,
        prefetch: Prefetch | None = None,
        lease_duration: float = 60,
        client_id: ClaimedClientId | None = None,
        levels: LevelMapping = BY_SERVER,
        reconnection: Reconnection | None = None,
        service: Service | None = None,
    ) -> None:
        self._loans = Loans(pool, reconnection)
        #: The service that it has connected with; None: it named none.
        self.service = service
        self._pairs = Pairs(self._loans) if service is not None and service.dedicated else None
        #: Redeliveries at most of what its listeners get, beside the queue's own limit; None: the queue's alone.
        self.max_redeliveries = max_redeliveries
        #: The levels of reliability that delivery modes stand for.
        self.levels = levels
        #: How far consumers of sessions with an acknowledge mode receive ahead.
        self.prefetch = prefetch or Prefetch()
        #: Seconds after which what such a session holds comes back if its process dies.
        self.lease_duration = lease_duration
        #: Renews the leases of such sessions.
        self.keeper = Keeper(self)
        #: Shared with the process's other connections to the same database.
        self.waking = Waking.of_pool(pool)
        self._owns_pool = owns_pool
        self._claim = client_id
        self._running = threading.Event()
        self._closed = False
        self._sessions: set[Session | AckSession] = set()
        self._sender = Sender(self._loans)
        self._producers: WeakSet[WindowedProducer] = WeakSet()
        self._lock = threading.Lock()
        if started:
            self._running.set()

    @property
    def pool(self) -> ConnectionPool[PgConnection]:
        """The pool beneath, which the application may use too."""
        return self._loans.pool

    @property
    def client_id(self) -> str | None:
        """The claimed client id, under which the connection publishes and subscribes."""
        return None if self._claim is None else self._claim.name

    @property
    def started(self) -> bool:
        """Whether sessions may receive."""
        return self._running.is_set()

    def start(self) -> None:
        """Start delivery to the sessions."""
        self._running.set()

    def stop(self) -> None:
        """Stop delivery to the sessions. Sending goes on; timeouts of waiting receives keep running."""
        self._running.clear()

    def session(self, *, transacted: bool = True) -> Session:
        """Open a session on a pooled connection. Waits for a free one up to the pool's timeout.

        With a service of the dedicated model it takes two: one waits, one holds the transaction.

        Raises CannotConnect if none came free or the server does not answer.
        """
        self._check_open()
        if self._pairs is None:
            return self._opened(Session.owning(self, self._loans, transacted=transacted))
        return self._opened(self._pairs.open(lambda: Session.owning(self, self._loans, transacted=transacted)))

    def _opened(self, session: S) -> S:
        with self._lock:
            self._sessions.add(session)
            closed = self._closed
        if closed:  # by another thread, in between
            session.close()
            self._check_open()
        return session

    def forget(self, session: object) -> None:
        """Note that a session was closed."""
        if isinstance(session, AckSession):
            self.keeper.discard(session)
        if self._pairs is not None:
            self._pairs.leave(session)
        if isinstance(session, Session | AckSession):
            with self._lock:
                self._sessions.discard(session)

    def jms_session(self, *, transacted: bool = False, mode: int = AckMode.AUTO) -> AckSession:
        """Open a session with an acknowledge mode, whose consumers receive ahead. transacted: SESSION_TRANSACTED.

        Raises BadArgument for what is no mode, and for SESSION_TRANSACTED without a transaction.
        """
        self._check_open()
        chosen = mode_of(transacted, mode)
        transaction = self.session() if chosen is AckMode.SESSION_TRANSACTED else None
        return self._opened(
            AckSession(self, chosen, keeper=self.keeper, prefetch=self.prefetch, transaction=transaction)
        )

    @property
    def admin(self) -> Admin:
        """Administration, each call in its own transaction."""
        return Admin(self.call, client_id=self.client_id or "")

    @property
    def leases(self) -> Leases:
        """Receive without an open transaction: lease, ack, nack, release, extend."""
        return Leases(self.call, self.levels)

    @property
    def transactions(self) -> Transactions:
        """Prepared transactions: list, commit, rollback."""
        return Transactions(self.call)

    @property
    def access(self) -> Access:
        """Access rules and sets of them: who may do what, and why."""
        return Access(self.call)

    @property
    def users(self) -> Users:
        """Users and groups: roles of PostgreSQL. Each call is a transaction of its own."""
        return Users(self.call)

    @property
    def links(self) -> Links:
        """Links to other engines: create, alter, list, pause, resume, rebase, drop. Also links that lead here."""
        return Links(self.call)

    @property
    def imports(self) -> Imports:
        """Copies from stores of other systems: begin, messages, withdraw, read, finish, list, forget."""
        return Imports(self.call)

    @property
    def changes(self) -> Changes:
        """What administrators changed: list, show, read, undo, backup, restore."""
        return Changes(self.call)

    @property
    def instances(self) -> Instances:
        """Instances and their cluster: list, quiesce, resume, end, set_cluster, change_master."""
        return Instances(self.call)

    @property
    def objects(self) -> Objects:
        """Administered objects: create, alter, list, drop, and documents for a repository."""
        return Objects(self.call)

    @property
    def services(self) -> Services:
        """Services: list, alter."""
        return Services(self.call)

    @property
    def archives(self) -> Archives:
        """The archive: its finished runs, and messages restored from it."""
        return Archives(self.call)

    @property
    def schedules(self) -> Schedules:
        """Schedules: add, list, cancel, pause, resume. Also delayed messages."""
        return Schedules(self.call)

    @property
    def logs(self) -> Logs:
        """The log of the engine: write, list, since. Also the metrics."""
        return Logs(self.call)

    @property
    def audits(self) -> Audits:
        """Recorded audits: list, last, record. Also the right to audit."""
        return Audits(self.call)

    def lookup(self, name: str, overrides: Mapping[str, Any] | None = None) -> Any:
        """Find an administered object by its name: a factory or a destination, docs/objects.md.

        overrides: attributes for this client, over those of the environment. A read-only object ignores both.
        Raises NameNotFound, BadOption.
        """
        found = self.call(look_up(name))
        if wanted := overriding(found, overrides):
            found = self.call(look_up(name, wanted))
        return self.found(found)

    def found(self, found: FoundObject) -> Any:
        """Make a factory or a destination of an object that was found."""
        if not isinstance(self.pool.conninfo, str):
            raise IllegalState("this connection's pool does not say where it connects to", "Connect by DSN.")
        return self.naming.administered(self.pool.conninfo, found)

    def call(self, call: Call[T]) -> T:
        """Run one call in its own transaction."""
        self._check_open()
        return self.run(call)

    def run(self, call: Call[T]) -> T:
        """As ``call``, for a session's last calls while the connection closes."""
        connection = self._loans.borrow(autocommit=True)
        try:
            return run(connection, call)
        finally:
            self._loans.give_back(connection)

    def send(self, queue: str, body: Body, **options: Unpack[SendOptions]) -> int:
        """Send one message in its own transaction. When this returns, the message is stored durably."""
        with sending(queue, options) as carried:
            return self.call(calls.send(queue, body, **self.levels.stamped(queue, carried)))

    def result(self, queue: str, message_id: int, *, wait: float = 0) -> Result:
        """Tell what became of a message, as ``Session.result``. It has a connection of the pool while it waits."""
        with self.session() as session:
            return session.result(queue, message_id, wait=wait)

    def send_async(self, queue: str, body: Body, **options: Unpack[SendOptions]) -> Future[int]:
        """Send one message without waiting for the database. The future gets its number or the error.

        Messages go in the order of these calls, each in a transaction of its own. ``close`` sends what is left. If
        the process dies, what it has not sent is lost. So look at the future where a message must not be lost.
        """
        wanted = self.levels.applied(queue, carrying(options))
        return self._sender.submit(lambda: calls.send(queue, body, **wanted))

    def windowed_producer(
        self,
        queue: str | None = None,
        *,
        window_bytes: int | None = None,
        asynchronous: bool | None = None,
        on_complete: OnComplete | None = None,
    ) -> WindowedProducer:
        """Return a producer that sends each message on its own connection, without waiting where it may.

        - asynchronous: None waits for all but non-persistent messages, True for no message (useAsyncSend), False for
          every message.
        - window_bytes: so much may be unconfirmed, then a send waits (producerWindowSize). None: the factory's, else
          1 MiB.
        - on_complete: called with a message and its number or error, in order, on the producer's thread.

        Raises BadArgument.
        """
        self._check_open()
        window = self.levels.window_bytes if window_bytes is None else window_bytes
        producer = WindowedProducer(
            self._loans,
            queue,
            window_bytes=WINDOW_DEFAULT if window is None else window,
            asynchronous=self.levels.asynchronous if asynchronous is None else asynchronous,
            on_complete=on_complete,
            levels=self.levels,
        )
        self._producers.add(producer)
        return producer

    def record_failure(self, message: Message, error: BaseException, rules: Iterable[Rule] = ()) -> Incident | None:
        """Record that a message's delivery failed, in its own transaction. Call it after rolling back.

        A Reject or Retry, raised or by the rules, is obeyed. None if the error blames no message: nothing is recorded.
        """
        call = recording(message, error, rules, self.max_redeliveries)
        return None if call is None else self.call(call)

    def _check_open(self) -> None:
        if self._closed:
            raise IllegalState("the connection is closed")
        if self._claim is not None:
            self._claim.check()

    def close(self) -> None:
        """Send what is left, close every session and the connection's own pool. A second call does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            # Those with an acknowledge mode first: they have others beneath.
            sessions = sorted(self._sessions, key=lambda session: isinstance(session, Session))
        for session in sessions:
            session.close()
        self.keeper.stop()
        for producer in list(self._producers):
            with suppress(Exception):  # what failed stands in the futures
                producer.close()
        self._sender.close()
        if self.waking is not None:
            self.waking.release()
        if self._owns_pool:
            self.pool.close()
        if self._claim is not None:
            self._claim.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
