"""What tests of poison policies import: calls in short, and queues that the system names."""

from __future__ import annotations

from typing import Any, Protocol
from uuid import UUID

from psycopg.types.json import Jsonb
from support import Db, deliver_and_fail, one, receive

DEAD_LETTER = "SYSTEM.DEAD.LETTER.QUEUE"
ADVISORY = "_SYSTEM.Advisory"
CONVERSATION = UUID(int=7)


class Create(Protocol):
    """Creates a queue, q unless told otherwise."""

    def __call__(self, name: str = "q", **options: Any) -> None: ...


def alter(db: Db, **options: Any) -> None:
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb(options),))


def send(db: Db, queue: str = "q", body: str = "x", **options: Any) -> int:
    names = "".join(f", {name} => %s" for name in options)
    number: int = one(db, f"select howdah.send(%s, %s{names})", (queue, body, *options.values()))
    return number


def backout_queue(db: Db, name: str = "BACKOUT") -> None:
    """A queue that this connection's role may back messages out to, as WebSphere MQ checks it."""
    one(db, "select howdah.create_queue(%s)", (name,))
    for verb in ("send", "receive", "browse", "pass_all", "set_all"):
        one(db, "select howdah.grant_queue(%s, %s, %s)", (name, verb, db.info.user))


def ids(db: Db, queue: str, verb: str = "browse") -> list[int]:
    return [message.message_id for message in receive(db, queue, 100, verb)]


def outcomes(db: Db, times: int, queue: str = "q") -> list[str]:
    return [deliver_and_fail(db, queue)[1] for _ in range(times)]


def begin(db: Db, number: int = 1) -> list[tuple[UUID, int]]:
    return [
        tuple(row) for row in db.execute("select attempt, message_id from howdah.begin_attempts('q', %s)", (number,))
    ]


def receive_attempt(db: Db, attempt: UUID) -> int:
    return len(db.execute("select from howdah.receive_attempt('q', %s)", (attempt,)).fetchall())
