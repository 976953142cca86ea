"""Databases that one test has after another, each time as new.

A new database costs the server 24 ms to make and drop. Its first session costs 30 ms more until it has planned what
tests call. So what a test leaves is taken away, and the next test gets database and sessions again:

- of each table that was written, all rows are deleted, and those of a fresh installation come back;
- sequences stand where they stood;
- sessions lose their settings, roles, locks, listeners and prepared statements; they keep their plans;
- what the test made is dropped: schemas, tables, views, functions;
- then the catalog must be that of a new database. If a function, grant or statistic is another one, the database is
  dropped. So is one whose test failed or left a session.

A table of over ten pages is truncated, which makes it as new: PostgreSQL plans a table that was never vacuumed as one
of ten pages.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import databases
import psycopg
from psycopg import pq
from psycopg.conninfo import make_conninfo

Db = psycopg.Connection[tuple[Any, ...]]


@dataclass(frozen=True)
class New:
    """What a new database holds."""

    fill: dict[str, list[bytes]]
    """What gives each table its rows."""
    setval: bytes
    tables: list[int]
    last: int
    catalogs: dict[str, int]
    contents: dict[str, str]


SINCE = 15
"""The first version of PostgreSQL whose counts are those of this moment."""

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

# All but two, of which every row is looked at.
_CATALOGS = """select oid, relname::text from pg_class
where relnamespace = 'pg_catalog'::regnamespace and relkind = 'r' and not relisshared
    and relname not in ('pg_class', 'pg_sequence') order by oid"""

# Queues make and drop sequences, which leaves other rows of these catalogs as they are.
_SEQUENCES_WRITE = ("pg_attribute", "pg_depend", "pg_init_privs")

# How many rows were written of each catalog, rolled back or not.
_WRITTEN = f"""select array_agg(pg_stat_get_tuples_updated(o) + case when o::regclass::text in {_SEQUENCES_WRITE} then 0
    else pg_stat_get_tuples_inserted(o) + pg_stat_get_tuples_deleted(o) end order by o) from unnest(%s::oid[]) o"""

# Tables that rows were written of, by how many: a partition's rows are its table's. One that was truncated has another
# row in pg_class.
_TABLES_WRITTEN = """select coalesce(pg_partition_root(o), o)::regclass::text,
    sum(pg_stat_get_tuples_inserted(o) + pg_stat_get_tuples_updated(o) + pg_stat_get_tuples_deleted(o))::bigint
from unnest(%s::oid[]) o group by 1"""

# pg_class tells of vacuum, too.
_LOOKS = """select
    (select (count(*), sum(hashtextextended(concat(xmin, ctid, relpages, reltuples, relallvisible), oid::bigint)))::text
        from pg_class),
    (select array_agg(xmin order by seqrelid) from pg_sequence)::text,
    (select xmin::text from pg_database where datname = current_database()),
    (select count(*) from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
        where d.datname = current_database()),
    (select count(*) from pg_prepared_xacts where database = current_database()),
    (select count(*) from pg_replication_slots where database = current_database())"""

# What is made later has a higher number.
_LAST = (
    "select greatest((select max(oid) from pg_class), (select max(oid) from pg_proc), (select max(oid) from pg_type))"
)

_NEW_SEQUENCES = f"{_SEQUENCES} and oid > %s"

_NEW = """select 'schema ' || quote_ident(nspname) from pg_namespace where oid > %(last)s and nspname !~ '^pg_'
union all select case relkind when 'v' then 'view ' when 'm' then 'materialized view ' when 'S' then 'sequence '
    when 'f' then 'foreign table ' else 'table ' end || oid::regclass
from pg_class where oid > %(last)s and relnamespace <= %(last)s and relkind in ('r', 'p', 'v', 'm', 'S', 'f')
union all select 'routine ' || oid::regprocedure from pg_proc where oid > %(last)s and pronamespace <= %(last)s"""

_GROWN = """select o::regclass::text from unnest(%s::oid[]) o
where pg_relation_size(o) > %s * current_setting('block_size')::integer"""

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
        # Its statements are few, and each is run for every test. It waits for nobody that was left behind.
        self._keeper: Db = psycopg.connect(
            self.dsn, autocommit=True, prepare_threshold=0, options="-c lock_timeout=10s"
        )
        self._keeper.prepared_max = 1000
        if template not in _known:
            _known[template] = _learn(self._keeper)
        self._new = _known[template]
        self._marks = self._written()
        self._rows = self._rows_written()
        self._looks = self._look()

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
        self._fill()
        if sequences := [name for (name,) in self._keeper.execute(_NEW_SEQUENCES, (self._new.last,))]:
            self._run(f"drop sequence {', '.join(sequences)}")
        self._see_catalog()
        if grown := [name for (name,) in self._keeper.execute(_GROWN, (self._new.tables, PAGES))]:
            self._run(f"truncate {', '.join(grown)} cascade")
            self._fill(all_tables=True)
            self._marks, self._looks = self._written(), self._look()

    def _fill(self, all_tables: bool = False) -> None:
        """Give tables the rows of a new database: those that were written, or all."""
        written = self._rows_written()
        if written.keys() != self._rows.keys():
            raise Changed("tables are gone")
        with self._keeper.transaction(), self._keeper.pipeline():
            self._keeper.execute("set local session_replication_role = replica")
            for table, statements in self._new.fill.items():
                if all_tables or written[table] != self._rows[table]:
                    for statement in statements:
                        self._keeper.execute(statement)
            self._keeper.execute(self._new.setval)
            self._keeper.execute("select pg_stat_force_next_flush()")
        self._rows = self._rows_written()

    def _see_catalog(self) -> None:
        """Have the catalog as new, without what the test made there."""
        written = self._written()
        if touched := [name for name, number in written.items() if number != self._marks[name]]:
            for (thing,) in self._keeper.execute(_NEW, {"last": self._new.last}).fetchall():
                self._run(f"drop {thing.replace(' ', ' if exists ', 1)} cascade")
            for name, content in _contents(self._keeper, touched).items():
                if content != self._new.contents[name]:
                    raise Changed(name)
            self._marks = self._written()
        if (looks := self._look()) != self._looks:
            raise Changed(", ".join(str(n) for n, now in enumerate(looks) if now != self._looks[n]))

    def drop(self) -> None:
        """Drop it, whoever is still in it."""
        for pgconn in self._idle:
            pgconn.finish()
        self._keeper.close()
        databases.drop(self._admin, self._name)

    def _run(self, statement: str) -> None:
        self._keeper.execute(statement.encode(), prepare=False)

    def _written(self) -> dict[str, int]:
        """How many rows were written of each catalog, by all who have left."""
        ((numbers,),) = self._keeper.execute(_WRITTEN, (list(self._new.catalogs.values()),)).fetchall()
        return dict(zip(self._new.catalogs, numbers, strict=True))

    def _rows_written(self) -> dict[str, int]:
        """How many rows were written of each table, by all who have left."""
        return dict(self._keeper.execute(_TABLES_WRITTEN, (self._new.tables,)).fetchall())

    def _look(self) -> tuple[Any, ...]:
        (looks,) = self._keeper.execute(_LOOKS).fetchall()
        return looks

    def _wait_for_others(self) -> None:
        """Wait for the end of sessions that were closed a moment ago. What is left was not closed."""
        kept = [pgconn.backend_pid for pgconn in self._idle]
        deadline = time.monotonic() + 1
        while self._keeper.execute(_OTHERS, (kept,)).fetchall():
            if time.monotonic() > deadline:
                raise Changed("a session is left")
            time.sleep(0.002)


_known: dict[str, New] = {}


def _learn(db: Db) -> New:
    """Note what a new database holds; all copies of a template hold the same."""
    fill = {table: [f"delete from {table}".encode()] for (table,) in db.execute(_TABLES).fetchall()}
    for table, statements in fill.items():
        ((rows,),) = db.execute(f"select array_agg(t)::text from {table} t".encode(), prepare=False).fetchall()
        if rows is not None:
            taken = f"select * from unnest({_literal(rows)}::{table}[])"
            statements.append(f"insert into {table} overriding system value {taken}".encode())
    values = []
    for (name,) in db.execute(_SEQUENCES).fetchall():
        ((value, called),) = db.execute(f"select last_value, is_called from {name}".encode(), prepare=False)
        values.append(f"('{name}', {value}, {called})")
    catalogs = {name: oid for oid, name in db.execute(_CATALOGS)}
    ((last,),) = db.execute(_LAST)
    ((oids,),) = db.execute(
        "select array_agg(oid) from pg_class where relnamespace = 'howdah'::regnamespace and relkind = 'r'"
    )
    return New(
        fill=fill,
        setval=f"select count(setval(s::regclass, v, c)) from (values {', '.join(values)}) x (s, v, c)".encode(),
        tables=oids,
        last=last,
        catalogs=catalogs,
        contents=_contents(db, list(catalogs)),
    )


def _contents(db: Db, catalogs: list[str]) -> dict[str, str]:
    """The rows of catalogs, each by the transaction that wrote it and by its place.

    But for the schema that a session's temporary tables were in: it stays, empty.
    """
    parts = [
        f"select '{name}', (count(*), sum(hashtextextended(concat(xmin, ctid), 0)))::text from {name}"
        + (r" where nspname !~ '^pg_(toast_)?temp_'" if name == "pg_namespace" else "")
        for name in catalogs
    ]
    return dict(db.execute(" union all ".join(parts).encode(), prepare=False).fetchall())


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
