"""Connections to Howdah: a pool of database connections that sessions are made from."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self, TypeVar, Unpack

from psycopg_pool import ConnectionPool

from . import calls
from .admin import Admin
from .admin.administration import Administration
from .admin.transactions import Transactions
from .admin.users import Users
from .calls import Call, Incident
from .calls.bodies import Body
from .calls.levels import BY_SERVER, LevelMapping
from .calls.message import Message
from .calls.objects import FoundObject, Naming, overriding
from .calls.objects import lookup as look_up
from .calls.options import SendOptions
from .calls.results import Result
from .calls.services import Service
from .database.client_id import ClaimedClientId, LentClientId
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
from .sending.ahead import SendsAhead
from .sessions.leases import Leases
from .sessions.pairs import Pairs
from .sessions.session import Session
from .tracing.points import sending

T = TypeVar("T")
S = TypeVar("S", Session, AckSession)


class Connection(SendsAhead, Administration):
    """A connection that is started or stopped. Sessions receive only while it is started; closing it closes them."""

    #: Makes what ``lookup`` returns. ``engine.objects``, which stands above, sets it.
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
        client_id: ClaimedClientId | LentClientId | None = None,
        levels: LevelMapping = BY_SERVER,
        reconnection: Reconnection | None = None,
        service: Service | None = None,
    ) -> None:
        super().__init__(Loans(pool, reconnection), levels)
        #: The service that it has connected with; None: it named none.
        self.service = service
        self._pairs = Pairs(self._loans) if service is not None and service.dedicated else None
        #: The most redeliveries of a message to its listeners, beside the queue's own limit. None: only the queue's
        #: limit.
        self.max_redeliveries = max_redeliveries
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
        """Stop delivery to the sessions. Sending goes on; timeouts of waiting receives keep running.

        A receive that is under way gives back what it finds, unless its transaction was open before.
        """
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

        Raises BadArgument for an unknown mode, and for SESSION_TRANSACTED without a transaction.
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
    def users(self) -> Users:
        """Users and groups: roles of PostgreSQL. Each call is a transaction of its own."""
        return Users(self.call)

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
        """Tell what became of a message, as ``Session.result``. It holds a connection of the pool while it waits."""
        with self.session() as session:
            return session.result(queue, message_id, wait=wait)

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
            # Close sessions with an acknowledge mode first: they have others beneath.
            sessions = sorted(self._sessions, key=lambda session: isinstance(session, Session))
        for session in sessions:
            session.close()
        self.keeper.stop()
        self._send_the_rest()
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
