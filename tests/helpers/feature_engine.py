"""Connections that remember which verbs features called, and the features by the modules that they are in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from support import Connect, Db

VERB = re.compile(r"\bhowdah\.([a-z]\w*)\(")

FEATURES: dict[str, list[Callable[[Engine], None]]] = {}
"""Those of each module, by its name, in their order."""


class Engine:
    """Connections that remember which verbs they called."""

    def __init__(self, db: Db, connect: Connect) -> None:
        self.db = db
        self.connect = connect
        self.called: set[str] = set()

    def rows(self, query: str, *params: Any, db: Db | None = None) -> list[tuple[Any, ...]]:
        """Run one statement, on the first connection or another."""
        self.called |= set(VERB.findall(query))
        cursor = (db or self.db).execute(query.encode(), params or None)
        return cursor.fetchall() if cursor.description else []

    def one(self, query: str, *params: Any, db: Db | None = None) -> Any:
        """The first value of the first row."""
        return self.rows(query, *params, db=db)[0][0]

    def queue(self, name: str, **options: Any) -> str:
        """Make a queue."""
        self.rows("select howdah.create_queue(%s, %s)", name, json.dumps(options))
        return name

    def send(self, queue: str, count: int = 1) -> list[int]:
        """Send so many messages, one by one."""
        return [self.one("select howdah.send(%s, %s::text)", queue, f"body {number}") for number in range(count)]

    def receive(self, queue: str, count: int = 1) -> list[tuple[Any, ...]]:
        """Consume up to so many: number, priority and position of each."""
        return self.rows("select message_id, priority, position from howdah.receive(%s, %s)", queue, count)

    def fail(self, queue: str, message: int, times: int = 1) -> str:
        """Record failures of a message; the last outcome."""
        for _ in range(times):
            outcome: str = self.one("select outcome from howdah.record_failure(%s, %s, 'no')", queue, message)
        return outcome


def feature(function: Callable[[Engine], None]) -> Callable[[Engine], None]:
    """One of FEATURES."""
    FEATURES.setdefault(function.__module__, []).append(function)
    return function
