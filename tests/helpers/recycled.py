"""Databases that one test has after another, each time as new.

A new database costs 40 ms to make and drop, and its first session costs another 40 ms until it has planned what
tests call. So what a test leaves is taken away, and the next test gets database and sessions again:

- all rows are deleted, those of a fresh installation come back, and sequences stand where they stood;
- sessions lose their settings, roles, locks, listeners and prepared statements; they keep their plans;
- then the catalog must not have changed since the database was new: another table, function or grant, a
  statistic, another size, and the database is dropped. So is one whose test failed or left a session.

A database with a table of over ten pages is dropped too: PostgreSQL plans a new table as one of ten pages.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import databases
import psycopg
from psycopg import pq, sql
from psycopg.conninfo import make_conninfo

Db = psycopg.Connection[tuple[Any, ...]]

SESSIONS = 3
"""How many sessions of a database are kept."""

USES = 100
"""How many tests have one database: each leaves dead rows in the catalog."""

PAGES = 10
"""What PostgreSQL expects of a table that was never vacuumed."""

# Discard all, without the plans. A session that has listened is not kept: it may prepare no transaction from then on.
_LEAVE = """close all; set session authorization default; reset role; reset all; deallocate all;
select pg_advisory_unlock_all(); discard sequences; discard temp; select pg_stat_force_next_flush();
select count(*) from pg_listening_channels()"""

_TABLES = """select oid::regclass::text from pg_class
where relnamespace = 'howdah'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1"""

_SEQUENCES = "select oid::regclass::text from pg_class where relkind = 'S' and relnamespace = 'howdah'::regnamespace"

# Creating and dropping a sequence, as queues do, leaves other rows of these catalogs as they are.
_SEQUENCES_WRITE = ("pg_class", "pg_attribute", "pg_depend", "pg_sequence", "pg_init_privs")

_CATALOGS = f"""select array_agg(oid order by oid) from pg_class
where relnamespace = 'pg_catalog'::regnamespace and relkind = 'r' and not relisshared
    and relname not in {_SEQUENCES_WRITE}"""

# All that a test may change besides rows of Howdah's tables. pg_class tells of vacuum, too.
_LOOKS = """select
    (select array_agg((pg_stat_get_tuples_inserted(o), pg_stat_get_tuples_updated(o), pg_stat_get_tuples_deleted(o))::text
                order by o) from unnest(%(catalogs)s::oid[]) o)::text,
    pg_stat_get_tuples_updated('pg_attribute'::regclass),
    (select array_agg(xmin order by seqrelid) from pg_sequence)::text,
    (select (count(*), sum(hashtextextended(concat(xmin, ctid, relpages, reltuples, relallvisible), oid::bigint)))::text
        from pg_class),
    (select xmin::text from pg_database where datname = current_database()),
    (select count(*) from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
        where d.datname = current_database()),
    (select count(*) from pg_prepared_xacts where database = current_database()),
    (select count(*) from pg_replication_slots where database = current_database())"""

_PAGES = """select max(pg_relation_size(oid)) / current_setting('block_size')::integer from pg_class
where relnamespace = 'howdah'::regnamespace and relkind in ('r', 'i') and oid = any(%s)"""

_OTHERS = """select pid from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and pid <> all(%s::integer[])
    and backend_type <> 'autovacuum worker'"""


class Changed(Exception):
    """The database is not as new; why."""


class Recycled:
    """A database and the sessions that are kept of it."""

    def __init__(self, admin: Db, server: str, template: str) -> None:
        self._admin = admin
        self._name = databases.new_name()
        databases.create(admin, self._name, template)
        self.dsn = make_conninfo(server, dbname=self._name)
        self._idle: list[pq.abc.PGconn] = []
        self._used = 0
        # Its statements are few, and each is run for every test.
        self._keeper: Db = psycopg.connect(self.dsn, autocommit=True, prepare_threshold=0)
        self._learn()

    def connect(self) -> Db:
        """A session, a kept one if there is any."""
        if self._idle:
            session: Db = psycopg.Connection(self._idle.pop(0))
            session.autocommit = True
            return session
        return psycopg.connect(self.dsn, autocommit=True)

    def leave(self, session: Db) -> None:
        """Keep a session for the next test, or close it. To who still has it, it is closed."""
        pgconn = session.pgconn
        if (
            session.closed
            or len(self._idle) == SESSIONS
            or pgconn.transaction_status != pq.TransactionStatus.IDLE
            or pgconn.pipeline_status != pq.PipelineStatus.OFF
        ):
            session.close()
            return
        session.pgconn = _closed(self.dsn)
        result = pgconn.exec_(_LEAVE.encode())
        if result.status != pq.ExecStatus.TUPLES_OK or result.get_value(0, 0) != b"0":
            pgconn.finish()
            return
        self._idle.append(pgconn)

    def renew(self) -> None:
        """Make it as new. Raises Changed if it cannot be."""
        self._used += 1
        if self._used == USES:
            raise Changed("used often")
        self._wait_for_others()
        with self._keeper.transaction():
            self._keeper.execute("set local session_replication_role = replica")
            self._keeper.execute(self._delete)
            self._keeper.execute(self._insert)
            self._keeper.execute(self._setval)
        new = [name for (name,) in self._keeper.execute(f"{_SEQUENCES} and oid <> all(%s)", (self._sequences,))]
        if new:
            self._keeper.execute(f"drop sequence {', '.join(new)}".encode(), prepare=False)
        looks = self._look()
        if looks != self._looks:
            raise Changed(", ".join(str(n) for n, (a, b) in enumerate(zip(looks, self._looks)) if a != b))
        (pages,) = self._keeper.execute(_PAGES, (self._relations,)).fetchone() or (0,)
        if pages > PAGES:
            raise Changed("grown")

    def drop(self) -> None:
        """Drop it, whoever is still in it."""
        for pgconn in self._idle:
            pgconn.finish()
        self._keeper.close()
        databases.drop(self._admin, self._name)

    def _learn(self) -> None:
        """Note what a new database holds."""
        db = self._keeper
        tables = [name for (name,) in db.execute(_TABLES)]
        self._delete = _together([f"delete from {table}" for table in tables])
        inserts = []
        for table in tables:
            ((rows,),) = db.execute(f"select array_agg(t)::text from {table} t".encode(), prepare=False).fetchall()
            if rows is not None:
                inserts.append(
                    f"insert into {table} overriding system value select * from unnest({_literal(rows)}::{table}[])"
                )
        self._insert = _together(inserts)
        values = []
        for (name,) in db.execute(_SEQUENCES).fetchall():
            ((value, called),) = db.execute(f"select last_value, is_called from {name}".encode(), prepare=False)
            values.append(f"('{name}', {value}, {called})")
        self._setval = f"select count(setval(s::regclass, v, c)) from (values {', '.join(values)}) x (s, v, c)".encode()
        ((self._sequences,),) = db.execute(f"select array_agg(oid) from ({_SEQUENCES.replace('::regclass::text', '')})")
        ((self._catalogs,),) = db.execute(_CATALOGS)
        ((self._relations,),) = db.execute(
            "select array_agg(oid) from pg_class where relnamespace = 'howdah'::regnamespace and relkind in ('r', 'i')"
        )
        self._looks = self._look()

    def _look(self) -> tuple[Any, ...]:
        (looks,) = self._keeper.execute(_LOOKS, {"catalogs": self._catalogs}).fetchall()
        return looks

    def _wait_for_others(self) -> None:
        """Wait for the end of sessions that were closed a moment ago. What is left was not closed."""
        kept = [pgconn.backend_pid for pgconn in self._idle]
        deadline = time.monotonic() + 1
        while self._keeper.execute(_OTHERS, (kept,)).fetchall():
            if time.monotonic() > deadline:
                raise Changed("a session is left")
            time.sleep(0.002)


def _together(statements: list[str]) -> bytes:
    """One statement that does all: planned once, sent once."""
    parts = ", ".join(f"s{number} as ({statement})" for number, statement in enumerate(statements))
    return f"with {parts} select".encode()


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_finished: list[pq.abc.PGconn] = []


def _closed(dsn: str) -> pq.abc.PGconn:
    """A connection that is closed, in the place of one that goes on without the test."""
    if not _finished:
        connection = psycopg.connect(dsn)
        connection.close()
        _finished.append(connection.pgconn)
    return _finished[0]
