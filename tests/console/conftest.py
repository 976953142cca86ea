"""The console on a real database, as four people: an operator, an auditor, a browser and somebody without rights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from console_browser import chromium
from console_forms import SECRET
from console_people import PASSWORD, ROLES, as_named
from psycopg import sql
from psycopg.conninfo import make_conninfo
from starlette.testclient import TestClient
from support import Db, Server, one

from howdah.console import Host, app
from howdah.console.database import Database


@pytest.fixture(scope="session")
def people(server: Server) -> Iterator[None]:
    """The log-in of the console, which inherits nothing, and the roles of four people."""
    names = [f"console_{name}" for name in ROLES]
    with psycopg.connect(server.dsn, autocommit=True) as db:
        db.execute(
            sql.SQL("create role console_login login noinherit nosuperuser password {}").format(sql.Literal(PASSWORD))
        )
        for name, role in ROLES.items():
            person = sql.Identifier(f"console_{name}")
            db.execute(sql.SQL("create role {} login password {}").format(person, sql.Literal(PASSWORD)))
            db.execute(sql.SQL("grant {} to console_login").format(person))
            if role is not None:
                db.execute(sql.SQL("grant {} to {}").format(sql.Identifier(role), person))
        yield
        for name in [*names, "console_login"]:
            db.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


@pytest.fixture
def login_dsn(dsn: str, people: None) -> str:
    """The DSN of the console's own log-in."""
    return make_conninfo(dsn, user="console_login", password=PASSWORD)


@pytest.fixture
def client(login_dsn: str) -> Iterator[TestClient]:
    """A browser at the console, as the operator unless a request says otherwise."""
    console = app(login_dsn, Host(as_named), live_role="console_browser", secret=SECRET, live_seconds=0.05)
    with TestClient(console, headers={"x-test-person": "operator"}, follow_redirects=False) as browser:
        yield browser


@pytest.fixture
def orders(db: Db) -> int:
    """The number of a message in the queue orders, which retries nothing."""
    one(db, "select howdah.create_queue('orders', '{\"max_failed_deliveries\": 1}')")
    number: int = one(db, "select howdah.send('orders', '{\"item\": 7}'::jsonb, headers => '{\"shop\": \"north\"}')")
    return number


@pytest.fixture
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    with chromium() as driver:
        yield driver


@pytest.fixture
def database(login_dsn: str) -> Iterator[Database]:
    """The console's database."""
    made = Database(login_dsn)
    yield made
    made.close()


@pytest.fixture
def counted(db: Db, orders: int) -> None:
    """A message that maintenance has counted."""
    one(db, "select howdah.maintain_backlog()")
