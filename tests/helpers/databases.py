"""Databases of tests: copies of a template.

Making one takes 30 ms and dropping one 10 ms of the server's time (PostgreSQL 18, two cores). Both happen between
tests, never beside one: a transaction of any database of the server holds back what a topic's subscribers may read.
"""

from __future__ import annotations

import itertools
import os

import psycopg
from psycopg import sql

_numbers = itertools.count(1)


def new_name() -> str:
    """A name that no other test's database has, on this server or another."""
    return f"howdah_test_{os.getpid()}_{next(_numbers)}"


def create(admin: psycopg.Connection, name: str, template: str) -> None:
    """Make a database. Copying its files costs a third of writing them to the WAL page by page.

    Before 15 there is no other way.
    """
    strategy = sql.SQL(" strategy file_copy") if admin.info.server_version >= 150000 else sql.SQL("")
    statement = sql.SQL("create database {} template {}").format(sql.Identifier(name), sql.Identifier(template))
    admin.execute(statement + strategy)


def drop(admin: psycopg.Connection, name: str) -> None:
    """Drop a database, whoever is still in it."""
    admin.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


def shrink(db: psycopg.Connection) -> None:
    """Rewrite the catalog of a template: an installation leaves it half dead, and every copy would take that along.

    The catalog alone: an empty table that was vacuumed is planned otherwise than one that never was.
    """
    for (name,) in db.execute(
        "select c.relname from pg_class c where c.relnamespace = 'pg_catalog'::regnamespace and c.relkind = 'r'"
        " and not c.relisshared and c.relname <> 'pg_largeobject' and pg_relation_size(c.oid) > 65536 order by 1"
    ).fetchall():
        db.execute(sql.SQL("vacuum full pg_catalog.{}").format(sql.Identifier(name)))
