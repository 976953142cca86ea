"""What test files import: the types of the fixtures in conftest.py, and waiting for another session."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import psycopg
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
        self.set(datetime.now(UTC).replace(microsecond=0))
        self.db.execute(
            "create or replace function howdah.now() returns timestamptz language sql volatile parallel safe as"
            " $$ select timestamptz 'epoch' + last_value * interval '1 microsecond' from howdah_test.clock $$"
        )

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


def wait_until(condition: Callable[[], object], timeout: float = 20) -> None:
    """Return as soon as the condition holds; fail if it does not in time."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(0.005)


def wait_until_blocked(db: Db, waiting: Db) -> None:
    """Return once the other connection's statement waits for a lock."""
    pid = waiting.info.backend_pid
    wait_until(lambda: one(db, "select cardinality(pg_blocking_pids(%s)) > 0", (pid,)))


def identifier(name: str) -> sql.Identifier:
    """A name for psycopg's sql.SQL."""
    return sql.Identifier(name)
