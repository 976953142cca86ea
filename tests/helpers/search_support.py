"""Searches for messages of the queue q."""

import json
from typing import Any

from support import Db, one

FIND = "select * from howdah.find_messages('q', %s, %s, %s)"


def send(db: Db, body: Any = "x", **options: Any) -> int:
    """A message in q; a body that is no text is sent as JSON."""
    kind = "text" if isinstance(body, str) else "jsonb"
    named = "".join(f", {name} => %({name})s" for name in options)
    options = {name: json.dumps(value) if isinstance(value, dict) else value for name, value in options.items()}
    value = body if kind == "text" else json.dumps(body)
    sent: int = one(db, f"select howdah.send('q', %(sent)s::{kind}{named})", {"sent": value, **options})
    return sent


def pages(db: Db, filter: dict[str, Any], rows: int = 1000) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """All messages that match, and the last row of each page."""
    found: list[tuple[Any, ...]] = []
    ends: list[tuple[Any, ...]] = []
    after = None
    while not ends or not ends[-1][11]:
        *page, end = db.execute(FIND, (json.dumps(filter), json.dumps(after) if after else None, rows)).fetchall()
        assert end[0] is None
        assert len(page) <= rows
        found += page
        ends.append(end)
        after = end[9]
    return found, ends


def ids(db: Db, **filter: Any) -> set[int]:
    """The messages that match."""
    found = [row[0] for row in pages(db, filter)[0]]
    assert len(found) == len(set(found))
    return set(found)
