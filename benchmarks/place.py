"""The measured server: our own for the run, or the user's, where we create and remove only what is ours."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ..engine import HowdahError
from ..engine.embedded import EmbeddedServer
from ..engine.embedded.programs import packaged_bin
from ..migrations import migrate
from ..text.dsn import canonical

SCHEMA = "howdah_bench"
MARK = "Made and removed by howdah bench."
DURABLE = ("fsync", "synchronous_commit", "full_page_writes", "wal_level", "data_checksums")
SHOWN = (*DURABLE, "shared_buffers", "max_wal_size", "checkpoint_timeout", "autovacuum", "max_connections")


APPLICATIONS_ROLE = "howdah_bench_application"
APPLICATION = f"""
do $$begin
    if to_regrole('{APPLICATIONS_ROLE}') is null then
        create role {APPLICATIONS_ROLE} in role howdah_admin, howdah_auditor, howdah_producer, howdah_consumer;
    end if;
end$$;
grant all on schema howdah, {SCHEMA} to {APPLICATIONS_ROLE};
grant all on all tables in schema howdah to {APPLICATIONS_ROLE};
grant all on all sequences in schema howdah to {APPLICATIONS_ROLE};
grant all on all functions in schema howdah to {APPLICATIONS_ROLE}"""
"""The measured role, an application's: a superuser's rights take longer to find. It may read our tables too."""


class Place:
    """A server, and databases on it for one row at a time."""

    def __init__(self, dsn: str, embedded: EmbeddedServer | None = None) -> None:
        self.dsn = canonical(dsn)
        self.embedded = embedded
        self._numbers = itertools.count(1)

    @classmethod
    @contextmanager
    def own(cls, version: int | None = None) -> Iterator[Place]:
        """A durable server in a folder of its own, gone at the end."""
        folder = Path(tempfile.mkdtemp(prefix="howdah-bench-"))
        folder.chmod(0o711)
        server = EmbeddedServer(folder / "server", version)
        try:
            place = cls(server.start().dsn, server)
            place._make("howdah_bench_template")
            migrate(make_conninfo(place.dsn, dbname="howdah_bench_template"))
            yield place
        finally:
            server.stop("immediate")
            shutil.rmtree(folder, ignore_errors=True)

    def program(self, name: str) -> Path:
        """A program of PostgreSQL: the server's own, the embedded package's, or what PATH has."""
        found = shutil.which(name)
        if self.embedded is not None:
            return self.embedded.bin(name)
        packaged = packaged_bin(18) / name if found is None else Path(found)
        if not packaged.is_file():
            raise HowdahError(f"no program {name!r} here", "Install PostgreSQL's client programs.")
        return packaged

    def settings(self) -> dict[str, str]:
        """What the server is set to. Raises HowdahError if it is not durable, for then speed means nothing."""
        with psycopg.connect(self.dsn) as connection:
            shown = {name: _value(connection, f"show {name}") for name in SHOWN}
            shown["server_version"] = _value(connection, "show server_version")
        if off := [name for name in ("fsync", "synchronous_commit", "full_page_writes") if shown[name] == "off"]:
            raise HowdahError(f"the server is not durable: {', '.join(off)} is off", "Measure with what you run with.")
        return shown

    @contextmanager
    def database(self, *, empty: bool = False) -> Iterator[str]:
        """Yield the DSN of a migrated database with an empty schema howdah_bench: a new one or the user's.

        ``empty``: without Howdah, for a peer; on our own server only.
        """
        if self.embedded is None:
            with tidied(self.dsn):
                yield self.dsn
            return
        name = f"howdah_bench_{next(self._numbers)}"
        self._make(name, None if empty else "howdah_bench_template")
        try:
            dsn = make_conninfo(self.dsn, dbname=name)
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute(f"create schema {SCHEMA}".encode())
                if not empty:
                    connection.execute(APPLICATION.encode())
            yield dsn if empty else make_conninfo(dsn, options=f"-c role={APPLICATIONS_ROLE}")
        finally:
            self._run(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))

    def _make(self, name: str, template: str | None = None) -> None:
        source = sql.Identifier(template or "template1")
        self._run(sql.SQL("create database {} template {}").format(sql.Identifier(name), source))

    def _run(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(statement)


@contextmanager
def tidied(dsn: str) -> Iterator[None]:
    """A user's database with our schema in it; at the end neither it nor any queue bench_… is left.

    Raises HowdahError if there is one already that is not ours.
    """
    with psycopg.connect(dsn, autocommit=True) as connection:
        owned = connection.execute(
            "select obj_description(oid, 'pg_namespace') = %s from pg_namespace where nspname = %s", (MARK, SCHEMA)
        ).fetchone()
        if owned == (True,):
            _remove(connection)  # what an interrupted run left
        elif owned is not None or _queues(connection):
            raise HowdahError(f"schema {SCHEMA} or queues bench_… exist, and not by us", "Rename or drop them first.")
        connection.execute(f"create schema {SCHEMA}".encode())
        connection.execute(f"comment on schema {SCHEMA} is '{MARK}'".encode())
        try:
            yield
        finally:
            _remove(connection)


def url(dsn: str) -> str:
    """The DSN in the form that drivers other than libpq take."""
    given = {name: quote(str(value), safe="") for name, value in conninfo_to_dict(dsn).items()}
    return f"postgresql://{given['user']}:{given['password']}@{given['host']}:{given['port']}/{given['dbname']}"


def _queues(connection: psycopg.Connection[Any]) -> list[str]:
    query = "select queue from howdah.list_queues() where queue like 'bench\\_%'"
    return [row[0] for row in connection.execute(query).fetchall()]


def _remove(connection: psycopg.Connection[Any]) -> None:
    for queue in _queues(connection):
        connection.execute("select howdah.drop_queue(%s, force => true)", (queue,))
    connection.execute(f"drop schema if exists {SCHEMA} cascade".encode())


def _value(connection: psycopg.Connection[Any], query: str) -> str:
    row = connection.execute(query.encode()).fetchone()
    return "" if row is None else str(row[0])
