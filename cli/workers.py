"""howdah workers: list the worker processes."""

from __future__ import annotations

from . import tables
from .common import Dsn, Json, Role, Wide, connected

COLUMNS = tables.Columns(
    {"name": "worker", "messages": "in hand", "silent_for": "last seen", "queues": "queues"},
    {"sessions": "sessions", "host": "host", "pid": "pid", "in_hand": "in hand, by queue", "started_at": "started"},
    fold=frozenset({"queues"}),
)


def workers(wide: Wide = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """List the registered worker processes and the messages that they have in hand."""
    with connected(dsn, role) as connection:
        rows = connection.admin.list_workers()
    if not as_json:
        rows = [{**row, "messages": sum(row["in_hand"].values())} for row in rows]
    tables.show(rows, COLUMNS, as_json=as_json, empty="no workers", wide=wide)
