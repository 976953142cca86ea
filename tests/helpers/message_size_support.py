"""The largest message: set, and held to by queues and topics."""

from __future__ import annotations

import json
from typing import Any

from support import Db, one, refused

SEND = "select howdah.send(%s, %s)"


def limit(db: Db, size: Any) -> None:
    one(db, "select howdah.alter_engine(%s::jsonb)", (json.dumps({"max_message_bytes": size}),))


def topic(db: Db, name: str = "t", **options: Any) -> None:
    one(db, "select howdah.create_topic(%s, %s::jsonb)", (name, json.dumps(options)))


def temporary(db: Db) -> str:
    name: str = one(db, "select howdah.create_temporary_queue()")
    return name


def takes(db: Db, size: int, to: str = "q") -> None:
    """A queue or topic takes a body of so many bytes, and none of one more."""
    one(db, SEND, (to, "x" * size))
    refused(db, "HD007", SEND, (to, "x" * (size + 1)))


def holds(db: Db, queue: str = "q") -> tuple[int, int]:
    """What holds for a queue, and what its own option says."""
    (row,) = db.execute(
        "select max_message_bytes, howdah.queue_options(queue) -> 'max_message_bytes'"
        " from howdah.list_queues(true) where queue = %s",
        (queue,),
    ).fetchall()
    return (row[0], row[1])
