"""Messages of the queue tasks, sent and read by the facade of pgmq."""

from __future__ import annotations

from support import Db


def sent(db: Db, number: int = 1) -> list[int]:
    """Send messages, and return their numbers."""
    bodies = [f'{{"n": {n}}}' for n in range(1, number + 1)]
    return [row[0] for row in db.execute("select pgmq.send_batch('tasks', %s::jsonb[])", (bodies,))]


def read(db: Db, vt: int = 30, quantity: int = 10) -> list[int]:
    """Read messages, and return their numbers."""
    return [row[0] for row in db.execute("select msg_id from pgmq.read('tasks', %s, %s)", (vt, quantity))]
