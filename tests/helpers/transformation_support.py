"""What tests of transformations import: a function's body, the function, its owner, and a topic that it changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from support import Db, identifier, one

MADE = """
    m.body := upper(m.body);
    m.headers := m.headers - 'card' || '{"made": true}';
    if m.body = 'BAD' then raise exception 'no such milk'; end if;
    return m;
"""


def put(db: Db, role: str, body: str, name: str = "made", attributes: str = "security definer") -> None:
    """Create or replace a function of the role."""
    db.execute(
        psycopg.sql.SQL(
            "create or replace function shop.{0} (m howdah.message) returns howdah.message language plpgsql {1}"
            " set search_path = shop, pg_temp as {2}; alter function shop.{0} owner to {3}"
        ).format(
            identifier(name),
            psycopg.sql.SQL(attributes),
            psycopg.sql.Literal(f"begin {body} end"),
            identifier(role),
        )
    )


@contextmanager
def shop_of(db: Db) -> Iterator[str]:
    """A role that owns a schema with the function shop.made, which is registered as "made"."""
    role = f"hdt_shop_{one(db, 'select pg_backend_pid()')}"
    db.execute(psycopg.sql.SQL("create role {0}; create schema shop authorization {0}").format(identifier(role)))
    db.execute("grant usage on schema shop to howdah_nobody")
    put(db, role, MADE)
    one(db, "select howdah.register_transformation('made', 'shop.made')")
    yield role
    db.execute("reset role")
    db.execute(psycopg.sql.SQL("drop schema shop cascade; drop role {0}").format(identifier(role)))


def topic(db: Db, **options: str) -> None:
    """A topic "t", subscription "t::s" with a transformation."""
    one(db, "select howdah.create_topic('t'), howdah.create_queue('dead')")
    shared = options.pop("shared", "false")
    one(
        db,
        f"select howdah.subscribe('t', 's', shared => {shared}, options => %s)",
        ('{"max_failed_deliveries": 2, "exception_queue": "dead"}',),
    )
    one(db, "select howdah.transform_subscription('t::s', 'made')")
