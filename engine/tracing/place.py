"""Where a connection leads."""

from __future__ import annotations

import psycopg


def address_of(connection: object) -> str | None:
    """The host that a connection of psycopg's leads to, or the folder of its socket. None: it is another's, or lost."""
    if not isinstance(connection, psycopg.Connection | psycopg.AsyncConnection):
        return None
    try:
        return connection.info.host or None
    except psycopg.Error:
        return None
