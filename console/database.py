"""Work in the database as the person who looks: one session and one transaction a request, with a timeout."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import PGconn, Ping

from ..engine import Admin
from ..engine.calls import Call, Rows, scalar, table
from ..engine.database.runner import run
from ..engine.database.waking import KEEPALIVES
from ..engine.errors import HowdahError, NotAllowed
from .people import Person, RefusedError
from .sessions import Sessions

T = TypeVar("T")

CONNECT_SECONDS = 5
#: A request gives up a server that the network lost, on Linux: five seconds after what the server did not receive, and
#: 40 seconds after what it did. TCP itself would take a quarter of an hour, or forever.
NETWORK = {"tcp_user_timeout": CONNECT_SECONDS * 1000, **KEEPALIVES}
#: How many requests of a process are in the database at once, while others wait for their turn. Also how many sessions
#: wait for a request.
MOST_CONNECTIONS = 16

#: The most bytes of a role's name.
LONGEST_ROLE = 63

INHERITS = (
    "select r.rolsuper or exists (select from pg_roles o where o.oid <> r.oid and pg_has_role(r.oid, o.oid, 'usage'))"
    " from pg_roles r where r.rolname = session_user"
)

CALLABLE = (
    "select proname from pg_proc where proname = any(%s::name[]) and pronamespace = 'howdah'::regnamespace"
    " and has_function_privilege(oid, 'execute')"
)


class Work:
    """One transaction of one person: calls of Howdah's functions."""

    def __init__(self, connection: psycopg.Connection[Any], person: Person) -> None:
        self._connection = connection
        self.person = person
        self.admin = Admin(self.run)

    def run(self, call: Call[T]) -> T:
        """Run a call. Raises HowdahError, or psycopg's error."""
        return run(self._connection, call)

    def table(self, function: str, columns: str, **arguments: tuple[str, Any]) -> Rows:
        """Rows of a function."""
        return self.run(table(function, columns, **arguments))

    def scalar(self, function: str, **arguments: tuple[str, Any]) -> Any:
        """The value of a function."""
        return self.run(scalar(function, **arguments))

    def part(self, read: Callable[[], list[T]]) -> list[T]:
        """Return a part of a page, or nothing if the person may not see it. The rest of the page still works."""
        try:
            with self._connection.transaction():
                return read()
        except HowdahError as error:
            if error.sqlstate != NotAllowed.sqlstate:
                raise
        except psycopg.errors.InsufficientPrivilege:
            pass
        return []

    def attempt(self, do: Callable[[], T]) -> T | HowdahError:
        """Do one thing of several. Returns its result, or its error: then it alone was undone."""
        try:
            with self._connection.transaction():
                return do()
        except HowdahError as error:
            return error

    def quickly(self, milliseconds: int, read: Callable[[], list[T]]) -> list[T] | None:
        """As ``part``, with a time limit for each statement. None: it took longer, and the page does without it."""
        setting = "select current_setting('statement_timeout'), set_config('statement_timeout', %s, true)"
        try:
            with self._connection.transaction():
                usual = self._connection.execute(setting, (f"{milliseconds}ms",)).fetchone()
                found = self.part(read)
                self._connection.execute(setting, (usual[0] if usual else "0",))
        except psycopg.errors.QueryCanceled:
            return None
        return found

    def callable_among(self, functions: list[str]) -> frozenset[str]:
        """Which of Howdah's functions with these names the person may call."""
        found = self._connection.execute(CALLABLE, (functions,)).fetchall()
        return frozenset(name for (name,) in found)

    def because(self, reason: str) -> None:
        """Let the changes of this transaction be recorded with a reason."""
        self._connection.execute("select set_config('howdah.reason', %s, true)", (self.reason(reason),))

    def reason(self, given: str) -> str:
        """The reason of an act, with the person where the database knows only a role."""
        role = self.person.role
        return given if role is None or role == self.person.name else f"{given} ({self.person.name})"


class Database:
    """Opens work as a person."""

    def __init__(self, dsn: str, timeout: float = 5.0) -> None:
        """timeout: seconds that one statement may take."""
        self.dsn = dsn
        self._timeout = f"{min(max(1, round(timeout * 1000)), 2**31 - 1)}ms"
        self._turns = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._sessions = Sessions(MOST_CONNECTIONS)

    @contextmanager
    def work(self, person: Person, *, reading: bool = True) -> Iterator[Work]:
        """A transaction as that person; committed at the block's end. Raises RefusedError if the log-in fails."""
        with self._turns:
            connection = self._sessions.take(person) or self.connect(person)
            try:
                connection.read_only = reading
                with connection.transaction():
                    yield self.begun(connection, person)
            except BaseException:
                self._sessions.drop(connection)
                raise
            connection.read_only = None
            self._sessions.give(person, connection)

    def close(self) -> None:
        """Close the sessions that wait for a request."""
        self._sessions.close()

    def begun(self, connection: psycopg.Connection[Any], person: Person) -> Work:
        """A transaction of a connection that begins as that person."""
        connection.execute(
            "select set_config('statement_timeout', %s, true), set_config('lock_timeout', %s, true)",
            (self._timeout, self._timeout),
        )
        if person.role is not None:
            _assume(connection, person.role)
        return Work(connection, person)

    def connect(self, person: Person) -> psycopg.Connection[Any]:
        """A new connection as that person. Raises RefusedError if the log-in fails."""
        said = conninfo_to_dict(self.dsn)
        given: dict[str, Any] = {"connect_timeout": CONNECT_SECONDS, "application_name": "howdah console"}
        given |= {name: value for name, value in NETWORK.items() if name not in said}
        if person.user is not None:
            # A server that trusts everybody would take any password for any user.
            given |= {"user": person.user, "password": person.password, "require_auth": "!none"}
        conninfo = make_conninfo(self.dsn, **given)
        try:
            return psycopg.connect(conninfo, autocommit=True)
        except psycopg.OperationalError as error:
            if person.user is None or PGconn.ping(conninfo.encode()) != Ping.OK:
                raise RefusedError(503, "The database does not answer.") from error
            raise RefusedError(401, "The database refused this user or password.", challenge=True) from error


class Kept:
    """A connection of one person for many looks, each a transaction. One that fails is replaced at the next look."""

    def __init__(self, database: Database, person: Person) -> None:
        self._database = database
        self._person = person
        self._connection: psycopg.Connection[Any] | None = None
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def work(self) -> Iterator[Work]:
        """A transaction that only reads, as the person. Raises RefusedError if the log-in fails."""
        with self._lock:
            if self._connection is None:
                self._connection = self._database.connect(self._person)
                self._connection.read_only = True
            try:
                with self._connection.transaction():
                    yield self._database.begun(self._connection, self._person)
            except BaseException:
                self._drop()
                raise
        if self._closed:
            self.close()

    def close(self) -> None:
        """Close the connection now, or at the end of the look that is under way."""
        self._closed = True
        if self._lock.acquire(blocking=False):
            try:
                self._drop()
            finally:
                self._lock.release()

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _assume(connection: psycopg.Connection[Any], role: str) -> None:
    # SET ROLE "none" resets to the log-in, even quoted. PostgreSQL cuts a longer name to its first bytes.
    if role == "none" or len(role.encode()) > LONGEST_ROLE:
        raise RefusedError(403, "There is no such role here, or the console may not assume it.")
    # With rights of its own, the log-in could do more than the role, and RESET ROLE would give them back.
    row = connection.execute(INHERITS).fetchone()
    if row is None or row[0]:
        raise RefusedError(503, "The console's log-in is a superuser or inherits rights; it must do neither.")
    try:
        connection.execute(sql.SQL("set local role {}").format(sql.Identifier(role)))
    except psycopg.Error as error:
        raise RefusedError(403, "There is no such role here, or the console may not assume it.") from error
