"""What tests of poison procedures share: shop.poison, poison messages, and what became of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.types.json import Jsonb
from support import SYSTEM, Db, column, fail, identifier, one, receive

OPTIONS = {"max_failed_deliveries": 2, "poison_procedure": "shop.poison"}

GOOD = """
    insert into shop.poisoned (message_id, body, incidents, done_as) values
        (($1).message_id, ($1).body, $2, current_user);
    select ($1).body = 'mine'
"""


@contextmanager
def shop_of(db: Db) -> Iterator[str]:
    """A role of its own, which owns the schema shop and the functions in it."""
    role = f"shop_{db.info.dbname[-12:]}"
    db.execute(psycopg.sql.SQL("create role {0}; create schema shop authorization {0}").format(identifier(role)))
    db.execute(
        psycopg.sql.SQL(
            "grant usage on schema howdah to {0}; grant usage on schema shop to public; set role {0};"
            " create table shop.poisoned (n bigserial, message_id bigint, body text, incidents jsonb, done_as text);"
            " reset role"
        ).format(identifier(role))
    )
    yield role
    db.execute("reset role")
    db.execute(psycopg.sql.SQL("drop owned by {0} cascade; drop role {0}").format(identifier(role)))


def send(db: Db, **more: Any) -> int:
    """Send to q."""
    named = "".join(f', "{name}" => %s' for name in more if name != "body")
    values = [value for name, value in more.items() if name != "body"]
    return int(one(db, f"select howdah.send('q', %s{named})", (more.get("body", "x"), *values)))


def make(db: Db, owner: str, body: str = GOOD, rights: str = "security definer", language: str = "sql") -> None:
    """Replace shop.poison."""
    db.execute(psycopg.sql.SQL("set role {}").format(identifier(owner)))
    db.execute(
        f"create or replace function shop.poison(howdah.message, jsonb) returns boolean language {language}"
        f" volatile {rights} set search_path = pg_catalog, pg_temp as $body${body}$body$".encode()
    )
    db.execute("reset role")


def queue_of(db: Db, owner: str) -> str:
    """The queue q, whose poison procedure is shop.poison."""
    make(db, owner)
    one(db, "select howdah.create_queue('q', %s)", (Jsonb(OPTIONS),))
    return "q"


def raising(what: str) -> str:
    return f"begin insert into shop.poisoned (body) values ('undone'); {what}; return true; end"


def poison(db: Db, body: str = "x", failures: int = 2, **more: Any) -> int:
    """A message at its limit, still in its queue."""
    sent: int = send(db, body=body, **more)
    for _ in range(failures):
        fail(db, sent, error_text=f"broken {body}")
    return sent


def dead(db: Db) -> list[tuple[int, str]]:
    return db.execute("select message_id, dead_reason from howdah.browse(%s, 100)", (SYSTEM,)).fetchall()


def went_the_usual_way(db: Db, message: int, why: str) -> None:
    """What a receive does with a message whose procedure cannot be called."""
    assert receive(db) == []
    ((found, reason),) = dead(db)
    assert found == message
    assert "poison procedure shop.poison failed" in reason
    assert why in reason
    assert column(db, "select body from shop.poisoned") == []
