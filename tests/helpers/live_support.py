"""Viewers of live figures, and the events that they get."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from support import Db, one

from howdah.console.database import Database
from howdah.console.live import Poller, Stream, Views
from howdah.console.people import Person

VIEWER = Person("viewer", role="console_browser")

POLLER = Person("poller", role="console_browser")


def figures(event: str) -> dict[str, Any]:
    """The data of an event."""
    kind, _, data = event.partition("\ndata: ")
    assert kind == "event: figures"
    found: dict[str, Any] = json.loads(data)
    return found


def names(event: str) -> list[str]:
    """The queues that an event tells of."""
    return [row["queue_name"] for row in figures(event)["queues"]]


async def never_gone() -> bool:
    """A viewer who stays."""
    return False


def rule(db: Db, queue: str, operation: str, *, allow: bool) -> None:
    """What the viewer may do at a queue."""
    one(
        db,
        "select howdah.set_rule('default', 'queue', %s, %s, %s, 'user', '{console_browser}')",
        (queue, operation, allow),
    )


def stream_of(database: Database, poller: Poller, *queues: str, person: Callable[[], Person] = lambda: VIEWER) -> Any:
    """The events of a viewer."""
    return Stream(poller, Views(database, 0.01), person, tuple(queues)).events(never_gone)
