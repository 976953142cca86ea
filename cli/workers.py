"""howdah workers: who is at work."""

from __future__ import annotations

from . import output
from .common import Dsn, Json, Role, connected

COLUMNS = {
    "name": "worker",
    "host": "host",
    "pid": "pid",
    "sessions": "sessions",
    "queues": "queues",
    "in_hand": "in hand",
    "started_at": "started",
    "silent_for": "last seen",
}


def workers(dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Show the registered worker processes and what they have in hand."""
    with connected(dsn, role) as connection:
        rows = connection.admin.list_workers()
    output.table(rows, COLUMNS, as_json=as_json, empty="no workers")
