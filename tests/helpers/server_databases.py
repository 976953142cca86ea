"""Databases of a run's servers: templates, those of one test's own, and those that tests have one after another."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import databases
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from recycled import Changed, Recycled
from support import Clock, Connect, Db, Server, column, identifier, one

TEMPLATE = "howdah_template"
"""The database, on those servers, that tests' databases are copied from."""

CLOCK_TEMPLATE = "howdah_clock_template"
"""The same with a clock that tests move."""

RECYCLED = pytest.StashKey[Recycled]()
"""A test's database, if other tests have it too."""

FAILED = pytest.StashKey[bool]()
"""Whether a test has failed so far."""

_admins: dict[str, Db] = {}
_recycled: dict[tuple[str, str], Recycled] = {}


@contextmanager
def administered(server: Server) -> Iterator[Server]:
    try:
        yield server
    finally:
        for key in [key for key in _recycled if key[0] == server.dsn]:
            _recycled.pop(key).drop()
        if (admin := _admins.pop(server.dsn, None)) is not None:
            admin.close()


def admin_of(server: Server) -> Db:
    """The connection that makes and drops databases, one for each server.

    To open one takes as long as to drop a database.
    """
    admin = _admins.get(server.dsn)
    if admin is None or admin.closed:
        admin = _admins[server.dsn] = psycopg.connect(server.dsn, autocommit=True)
    return admin


@contextmanager
def made_database(server: Server, template: str = "template1") -> Iterator[str]:
    """A database of its own: its DSN. Gone at the end, whoever is still in it."""
    name = databases.new_name()
    databases.create(admin_of(server), name, template)
    try:
        yield make_conninfo(server.dsn, dbname=name)
    finally:
        databases.drop(admin_of(server), name)


@contextmanager
def made_databases(server: Server) -> Iterator[Callable[[], str]]:
    """Makes databases without Howdah, as many as asked for; all are gone at the end."""
    made = []

    def make() -> str:
        manager = made_database(server)
        made.append(manager)
        return manager.__enter__()

    yield make
    for manager in made:
        manager.__exit__(None, None, None)


def make_template(dsn: str) -> None:
    """Make a migrated database one that is cheap to copy."""
    with psycopg.connect(dsn, autocommit=True) as db:
        superuser = one(db, "select rolsuper from pg_roles where rolname = current_user")
        for role in column(db, "select distinct role_name from howdah.destination_grants"):
            if role != db.info.user:
                db.execute(psycopg.sql.SQL("grant {} to current_user").format(identifier(role)))
        # As if the totals were kept long ago: kept just now, they would do for queue_stats as soon as the run has made
        # 20,000 transactions.
        db.execute("update howdah.engine set totals_at = totals_at - interval '1 day'")
        # A year of partitions is 200 files more to copy for every test; the default one takes their rows.
        for week in column(
            db,
            "select inhrelid::regclass::text from pg_inherits where inhparent = 'howdah.journal'::regclass"
            " and inhrelid <> 'howdah.journal_default'::regclass order by 1 offset 2",
        ):
            db.execute(psycopg.sql.SQL("drop table howdah.{}").format(identifier(week.removeprefix("howdah."))))
        if superuser:
            databases.shrink(db)


def install_templates(dsn: str) -> None:
    """Make the templates of a new server from its migrated database."""
    with psycopg.connect(make_conninfo(dsn, dbname="template1"), autocommit=True) as admin:
        databases.create(admin, TEMPLATE, str(conninfo_to_dict(dsn)["dbname"]))
        # A database that many tests have one after another would be analyzed while one of them runs.
        admin.execute("alter system set autovacuum_naptime = '1h'")
        make_template(make_conninfo(dsn, dbname=TEMPLATE))
        databases.create(admin, CLOCK_TEMPLATE, TEMPLATE)
    with psycopg.connect(make_conninfo(dsn, dbname=CLOCK_TEMPLATE), autocommit=True) as db:
        Clock(db).install()


@contextmanager
def recycled_database(item: pytest.Item, server: Server, template: str) -> Iterator[Recycled]:
    """One that the test before had, as new. The next one has it too, unless the test failed or changed its catalog."""
    key = server.dsn, template
    database = _recycled.pop(key, None) or Recycled(admin_of(server), server.dsn, template)
    item.stash[RECYCLED] = database
    yield database
    try:
        if FAILED in item.stash:
            raise Changed("the test failed")
        database.renew()
    except (Changed, psycopg.Error):
        database.drop()
    else:
        _recycled[key] = database


@contextmanager
def connections(dsn: str, database: Recycled | None) -> Iterator[Connect]:
    """Opens connections to a test's database, which a recycled one keeps for the next test."""
    opened: list[Db] = []

    def open_one(role: str | None = None) -> Db:
        connection: Db = database.connect() if database else psycopg.connect(dsn, autocommit=True)
        opened.append(connection)
        if role is not None:
            if one(connection, "select admin_role = producer_role from howdah.engine"):
                pytest.skip("installed in one-role mode: this server's role may not create roles")
            connection.execute(psycopg.sql.SQL("set role {}").format(identifier(role)))
        return connection

    yield open_one
    for connection in opened:
        if database:
            database.leave(connection)
        else:
            connection.close()
