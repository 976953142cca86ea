"""Read times as psycopg does, or as text if Python has no such time: one row must not hide the others of a list."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.types.datetime import TimestamptzLoader


class _Lenient(TimestamptzLoader):
    """Load times before the year 1 and after 9999 as text: PostgreSQL's times reach further than Python's."""

    def load(self, data: Any) -> Any:
        try:
            return super().load(data)
        except psycopg.DataError:
            return bytes(data).decode()


def lenient(cursor: psycopg.Cursor[Any] | psycopg.AsyncCursor[Any]) -> None:
    """Make a cursor fetch times as text that Python cannot represent."""
    cursor.adapters.register_loader("timestamptz", _Lenient)
