"""Test databases: a server for the run, a migrated template on it, and a copy of that for each test."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

from ..engine.embedded import EmbeddedServer
from ..migrations import migrate

_numbers = itertools.count(1)


@contextmanager
def server(dsn: str | None = None, version: int | None = None) -> Iterator[str]:
    """Yield the DSN of a PostgreSQL to test on: the argument, HOWDAH_TEST_DSN, or an embedded server for the block.

    The embedded one needs the extra ``embedded``, lies in a temporary folder, and is nobody else's.
    """
    if (found := dsn or os.environ.get("HOWDAH_TEST_DSN")) is not None:
        yield found
        return
    # Not pytest's tmp_path: root's lies below a closed folder, which PostgreSQL's account cannot enter.
    folder = Path(tempfile.mkdtemp(prefix="howdah-testing-"))
    folder.chmod(0o711)
    embedded = EmbeddedServer(folder / "server", version)
    try:
        yield embedded.start().dsn
    finally:
        embedded.stop("immediate")
        shutil.rmtree(folder)


class Databases:
    """Makes databases on a server, as copies of one that is migrated once. Its role must be allowed to create them."""

    def __init__(self, dsn: str, prepare: Callable[[str], object] | None = None) -> None:
        """dsn: of any database of the server.

        prepare: called once with the template's DSN, to make the application's own tables and queues.
        """
        self._dsn = dsn
        self._prepare = prepare
        self._template: str | None = None

    @contextmanager
    def new(self) -> Iterator[str]:
        """Yield the DSN of a new database. The end drops it, even if somebody is still connected."""
        if self._template is None:
            self._template = self._make_template()
        name = self._create(self._template)
        try:
            yield make_conninfo(self._dsn, dbname=name)
        finally:
            self._drop(name)

    def close(self) -> None:
        """Drop the template."""
        if self._template is not None:
            self._drop(self._template)
            self._template = None

    def _make_template(self) -> str:
        name = self._create("template1")
        try:
            dsn = make_conninfo(self._dsn, dbname=name)
            migrate(dsn)
            if self._prepare is not None:
                self._prepare(dsn)
        except BaseException:
            self._drop(name)
            raise
        return name

    def _create(self, template: str) -> str:
        name = f"howdah_testing_{os.getpid()}_{next(_numbers)}"
        self._run(SQL("create database {} template {}").format(Identifier(name), Identifier(template)))
        return name

    def _drop(self, name: str) -> None:
        self._run(SQL("drop database if exists {} with (force)").format(Identifier(name)))

    def _run(self, statement: psycopg.sql.Composed) -> None:
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            connection.execute(statement)
