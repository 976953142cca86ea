"""Passes of the import from ActiveMQ, and what they brought over."""

from __future__ import annotations

from typing import Any

import psycopg
from command import Result, howdah
from support import Db, column

KINDS = 12
"""Messages that Store.java's kinds leaves: one more has expired."""

LIVING = "(expiration = 0 or expiration > extract(epoch from now()) * 1000)"


def change(store: str, statement: str, *arguments: object) -> None:
    """Change the store as a broker would, or as an accident."""
    with psycopg.connect(store) as db:
        db.execute(statement.encode(), arguments)


def run(dsn: str, store: str, *words: object, code: int = 0) -> dict[str, Any]:
    """Make a pass; the lines of its table by what they are in ActiveMQ."""
    said = howdah(dsn, "import", "activemq", "--from", store, "--json", *words)
    assert said.code == code, said
    return {row["there"]: row for row in said.json}


def refused(dsn: str, store: str, *words: object) -> Result:
    """A pass that must not do anything."""
    said = howdah(dsn, "import", "activemq", "--from", store, *words)
    assert said.code == 1, said
    return said


def browsed(db: Db, queue: str) -> list[dict[str, Any]]:
    """The messages of a queue in their order, those of the highest priority first."""
    rows = db.execute(
        "select priority, content_type, body, bytes, headers, correlation_id, reply_to, message_type from"
        " howdah.browse(%s, 100) order by priority desc, message_id",
        (queue,),
    )
    names = [column.name for column in rows.description or ()]
    return [dict(zip(names, row, strict=True)) for row in rows]


def received(db: Db, queue: str) -> list[str]:
    """The bodies that a consumer gets, in its order."""
    return column(db, "select body from howdah.receive(%s, 100)", (queue,))
