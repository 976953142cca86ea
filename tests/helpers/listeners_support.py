"""What tests of listeners share: the listener l of q, its state, and deliveries that fail or are handled."""

from typing import Any

import pytest
from psycopg.types.json import Jsonb
from support import Db, one, receive

KINDS = pytest.mark.parametrize("kind", ["activation_specification", "listener_port"])
"""Two names of the same thing."""


def create(db: Db, name: str = "l", **options: Any) -> str | None:
    warning: str | None = one(db, "select howdah.create_listener(%s, 'q', %s)", (name, Jsonb(options)))
    return warning


def shown(db: Db, *columns: str, name: str = "l") -> tuple[Any, ...]:
    (row,) = db.execute(f"select {', '.join(columns)} from howdah.list_listeners(%s)".encode(), (name,)).fetchall()
    return row


def state(db: Db, name: str = "l") -> tuple[Any, ...]:
    return shown(db, "failures", "status", name=name)


def send(db: Db, *bodies: str) -> list[int]:
    ids: list[int] = one(db, "select howdah.send_batch('q', %s::text[])", (list(bodies),))
    return ids


def record(db: Db, *message_ids: int, name: str = "l", **more: Any) -> list[tuple[Any, ...]]:
    failures = [{"message_id": number, **more} for number in message_ids]
    return db.execute(
        "select message_id, attempt, outcome, listener_status from howdah.record_failures_as(%s, %s)",
        (name, Jsonb(failures)),
    ).fetchall()


def fail_next(db: Db, **more: Any) -> tuple[int, int] | None:
    """One failed delivery; the message and the delivery count seen, or None if the listener gave nothing."""
    with db.transaction(force_rollback=True):
        messages = receive(db, "l", verb="receive_as")
    if not messages:
        return None
    record(db, messages[0].message_id, **more)
    return messages[0].message_id, messages[0].delivery_count


def handle_next(db: Db) -> int | None:
    """One handled delivery."""
    with db.transaction():
        messages = receive(db, "l", verb="receive_as")
        if messages:
            db.execute("select howdah.handled_as('l')")
    return messages[0].message_id if messages else None
