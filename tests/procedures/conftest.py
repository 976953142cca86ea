"""What tests of procedures can ask for besides the database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest
from linked_pair import Pair
from links_support import Steps
from links_support import create as create_link
from policy_support import Create
from psycopg import sql
from psycopg.types.json import Jsonb
from support import Connect, Db, identifier, one

Ordinary = Callable[..., str]


@pytest.fixture
def create(db: Db) -> Create:
    """Create a queue, q unless told otherwise."""

    def make(name: str = "q", **options: Any) -> None:
        one(db, "select howdah.create_queue(%s, %s)", (name, Jsonb(options)))

    return make


@pytest.fixture
def ordinary(db: Db) -> Iterator[Ordinary]:
    """Make a login of this test's, a member of other roles."""
    made: list[str] = []

    def make(name: str, *of: str) -> str:
        role = f"{name}_{db.info.dbname[-12:]}"
        made.append(role)
        db.execute(sql.SQL("create role {}").format(identifier(role)))
        for other in of:
            db.execute(sql.SQL("grant {} to {}").format(identifier(other), identifier(role)))
        return role

    if not one(db, "select rolsuper from pg_roles where rolname = current_user"):
        pytest.skip("only a superuser becomes others")
    yield make
    for role in reversed(made):
        db.execute(sql.SQL("drop owned by {0} cascade; drop role {0}").format(identifier(role)))


@pytest.fixture
def become(connect: Connect) -> Callable[[str], Db]:
    """Open a session as somebody."""

    def open_one(role: str) -> Db:
        session = connect()
        session.execute(sql.SQL("set session authorization {}").format(identifier(role)))
        return session

    return open_one


@pytest.fixture
def attacker(ordinary: Ordinary, become: Callable[[str], Db], db: Db) -> Db:
    """One who may use Howdah but not the queue secret, which has a message."""
    role = ordinary("attacker", "howdah_consumer", "howdah_producer", "howdah_auditor")
    db.execute(
        sql.SQL("create schema lair authorization {0}; grant usage on schema lair to public").format(identifier(role))
    )
    one(db, "select howdah.create_queue('secret')")
    one(db, "select howdah.send('secret', 'hush')")
    for verb, holder in db.execute("select verb, role from howdah.list_grants('secret')").fetchall():
        one(db, "select howdah.revoke_queue('secret', %s, %s)", (verb, holder)) if holder != "howdah_admin" else None
    return become(role)


@pytest.fixture
def pair(dsn: str, connect: Connect, new_engine: Callable[[], str]) -> Iterator[Pair]:
    """Two engines with a link from the first to the second."""
    other = new_engine()
    a = connect()
    with psycopg.connect(other, autocommit=True) as b, ExitStack() as opened:

        def steps(name: str = "to_b", holder: str = "me") -> Steps:
            made = Steps(dsn, other, name, holder)
            opened.callback(made.close)
            return made

        a.execute("select howdah.create_queue('out')")
        b.execute("select howdah.create_queue('in')")
        create_link(a)
        yield Pair(a, b, steps)


@pytest.fixture
def team(db: Db) -> Iterator[dict[str, str]]:
    """Tom and ann are in the groups staff and visitors; all may call the functions of producers and consumers."""
    if not one(db, "select rolsuper from pg_roles where rolname = current_user"):
        pytest.skip("only a superuser makes roles and becomes others")
    names = {name: f"{name}_{db.info.dbname[-12:]}" for name in ("staff", "visitors", "tom", "ann")}
    for role in names.values():
        db.execute(sql.SQL("create role {}").format(identifier(role)))
    for member in ("tom", "ann"):
        for group in (names["staff"], names["visitors"], "howdah_producer", "howdah_consumer", "howdah_browser"):
            db.execute(sql.SQL("grant {} to {}").format(identifier(group), identifier(names[member])))
    yield names
    for role in reversed(names.values()):
        db.execute(sql.SQL("drop owned by {0} cascade; drop role {0}").format(identifier(role)))
