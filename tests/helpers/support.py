"""What test files import: the types of the fixtures in conftest.py, and waiting for another session."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import psycopg
import pytest
from psycopg import sql

from howdah.engine.embedded import EmbeddedServer

Db = psycopg.Connection[tuple[Any, ...]]


@dataclass(frozen=True)
class Server:
    """A PostgreSQL to test on; `embedded` is None if it is not ours to stop and start."""

    dsn: str
    embedded: EmbeddedServer | None = None


class Connect(Protocol):
    """Opens one more autocommit connection to the test's database, closed at the test's end."""

    def __call__(self, role: str | None = None) -> Db:
        """`role` is one of Howdah's roles (SET ROLE); None is the installing role."""


@dataclass(frozen=True)
class Clock:
    """howdah.now() of one database, standing still until it is moved; every session sees it at once."""

    db: Db

    def install(self) -> None:
        """Put a sequence, which no transaction hides, in place of the real clock."""
        self.db.execute(
            "create schema howdah_test; grant usage on schema howdah_test to public;"
            " create sequence howdah_test.clock minvalue -9000000000000000000;"
            " grant select on sequence howdah_test.clock to public"
        )
        self.start()
        self.db.execute(
            "create or replace function howdah.now() returns timestamptz language sql volatile parallel safe as"
            " $$ select timestamptz 'epoch' + last_value * interval '1 microsecond' from howdah_test.clock $$"
        )

    def start(self) -> None:
        """Stand where the real clock is."""
        self.set(datetime.now(UTC).replace(microsecond=0))

    @property
    def now(self) -> datetime:
        """What howdah.now() says."""
        moment: datetime = one(self.db, "select howdah.now()")
        return moment

    def set(self, moment: datetime) -> None:
        """Go to a moment, forward or back."""
        micros = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        self.db.execute("select setval('howdah_test.clock', %s)", (micros,))

    def advance(self, seconds: float) -> None:
        """Go forward."""
        self.db.execute(
            "select setval('howdah_test.clock', last_value + %s) from howdah_test.clock", (round(seconds * 1_000_000),)
        )


def one(db: Db, query: str, params: Any = None) -> Any:
    """The one value of a query that gives one row."""
    rows = db.execute(query.encode(), params).fetchall()
    assert len(rows) == 1, rows
    return rows[0][0]


def column(db: Db, query: str, params: Any = None) -> list[Any]:
    """The first column of a query."""
    return [row[0] for row in db.execute(query.encode(), params).fetchall()]


@contextmanager
def counting(db: Db) -> Iterator[None]:
    """A transaction whose counts are its own.

    A session hands them over once a second, so those before it may be there yet.
    """
    one(db, "select pg_stat_force_next_flush()")
    with db.transaction():
        yield


def rows_read(db: Db) -> dict[str, int]:
    """Rows of messages and failures that the open transaction has read, by table."""
    return dict(
        db.execute(
            "select relname::text, (seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint from pg_stat_xact_user_tables"
            " where schemaname = 'howdah'"
            " and relname in ('msgs', 'msgs_nonpersistent', 'parked', 'leased', 'poison_details')"
        ).fetchall()
    )


def measured(db: Db, query: str, params: Any = None) -> dict[str, Any]:
    """Counts of `explain analyze` for a statement that is run, of this session alone.

    Buffers, and `WAL Bytes` written.
    """
    report = one(db, f"explain (analyze, buffers, wal, timing off, format json) {query}", params)
    plan: dict[str, Any] = report[0]["Plan"]
    return plan | {"Buffers": plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]}


def wait_until(condition: Callable[[], object], timeout: float = 60) -> None:
    """Return as soon as the condition holds; fail if it does not in time."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(0.005)


async def until(condition: Callable[[], object], timeout: float = 60) -> None:
    """As wait_until, without stopping the event loop."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        await asyncio.sleep(0.005)


def stays(condition: Callable[[], object], seconds: float) -> None:
    """Fail if the condition does not hold all that time: that nothing happens cannot be waited for."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert condition(), "what should not happen did"
        time.sleep(0.01)
    assert condition(), "what should not happen did"


CHECKPOINTER = "select backend_start from pg_stat_activity where backend_type = 'checkpointer'"
"""When a server began, the last time."""


def kill_backend(server: EmbeddedServer, killed: Db, running: str = "", after: float = 0) -> None:
    """SIGKILL to a session's process: the server ends all others and begins anew, and its first process lives on.

    With a statement in `running` the session is killed so many seconds after it was sent off.
    """
    before = one(killed, CHECKPOINTER)
    if running:
        killed.pgconn.send_query(running.encode())
        time.sleep(after)
    os.kill(killed.info.backend_pid, signal.SIGKILL)

    def broken() -> bool:
        try:
            killed.execute("select 1")
        except psycopg.Error:
            return True
        return False

    def answers() -> bool:
        # It may still answer somebody before it notices that one of its processes was killed.
        try:
            with psycopg.connect(server.start().dsn) as fresh:
                return column(fresh, CHECKPOINTER) > [before]
        except psycopg.OperationalError:
            return False

    wait_until(broken)
    killed.close()
    wait_until(answers, 60)


def wait_until_blocked(db: Db, waiting: Db) -> None:
    """Return once the other connection's statement waits for a lock."""
    pid = waiting.info.backend_pid
    wait_until(lambda: one(db, "select cardinality(pg_blocking_pids(%s)) > 0", (pid,)))


def identifier(name: str) -> sql.Identifier:
    """A name for psycopg's sql.SQL."""
    return sql.Identifier(name)


TABLES = [
    "destinations",
    "destination_grants",
    "listeners",
    "listener_marks",
    "msgs",
    "msgs_nonpersistent",
    "parked",
    "ahead_leases",
    "poison_details",
    "operator_acts",
    "journal",
    "journal_totals",
    "backlog_counts",
    "backlog_figures",
    "dead_figures",
    "lock",
    "lock_epochs",
    "workers",
    "acks",
    "engine",
]


def contents(db: Db) -> dict[str, Any]:
    """What every table of Howdah holds, to see that a refused call changed nothing."""
    return {table: one(db, f"select array_agg(t::text order by t::text) from howdah.{table} t") for table in TABLES}


def refused(db: Db, sqlstate: str, query: str, params: Any = None) -> psycopg.errors.Diagnostic:
    """Assert that a call raises this SQLSTATE; a savepoint around it keeps an open transaction usable."""
    with pytest.raises(psycopg.Error) as raised, db.transaction():
        db.execute(query.encode(), params)
    assert raised.value.sqlstate == sqlstate, f"{query} {params}: {raised.value.sqlstate} {raised.value}"
    return raised.value.diag


def all_refused(db: Db, cases: list[tuple[str, str]]) -> None:
    """Assert that each call (SQLSTATE, query) is refused in one transaction, which stays usable and changes nothing."""
    before = contents(db)
    with db.transaction():
        for sqlstate, query in cases:
            said = refused(db, sqlstate, query)
            assert said.message_primary
        assert one(db, "select 1") == 1
        assert contents(db) == before
    assert contents(db) == before


@dataclass(frozen=True)
class Message:
    """The columns of howdah.message that tests look at."""

    message_id: int
    body: str | None
    bytes: bytes | None
    priority: int
    delivery_count: int
    redelivered: bool
    position: int
    stage: int
    origin_queue: str | None
    dead_reason: str | None
    content_type: str
    headers: Any
    correlation_id: str | None
    reply_to: str | None
    message_type: str | None
    delivery_mode: str
    sent_at: datetime
    expires_at: datetime | None
    dead_at: datetime | None
    reliability: str


def receive(db: Db, queue: str = "q", n: int = 1, verb: str = "receive") -> list[Message]:
    """The messages a call of receive, receive_locked or browse gives."""
    columns = ", ".join(f'm."{name}"' for name in Message.__dataclass_fields__)
    rows = db.execute(f"select {columns} from howdah.{verb}(%s, %s) m".encode(), (queue, n)).fetchall()
    return [Message(*row) for row in rows]


def fail(db: Db, message_id: int, queue: str = "q", **more: Any) -> tuple[int, int, str]:
    """Record a failure; return incident, attempt and outcome."""
    extra = "".join(f', "{name}" => %s' for name in more)
    rows = db.execute(
        f"select incident_id, attempt, outcome from howdah.record_failure(%s, %s{extra})".encode(),
        (queue, message_id, *more.values()),
    ).fetchall()
    assert len(rows) == 1
    incident, attempt, outcome = rows[0]
    return incident, attempt, outcome


SYSTEM = "_SYSTEM.Exception.Destination.howdah"
"""The exception destination of the engine that tests install."""


def deliver_and_fail(db: Db, queue: str = "q", **more: Any) -> tuple[int, str]:
    """One failed delivery: receive, roll back, record. Returns the delivery count seen and the outcome."""
    with db.transaction(force_rollback=True):
        (message,) = receive(db, queue)
    _, _, outcome = fail(db, message.message_id, queue, priority=message.priority, position=message.position, **more)
    return message.delivery_count, outcome
